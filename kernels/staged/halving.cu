// Halving, step 1 of the staged sum: thread t adds element t + half to element t, in place, and each halving of the array
// is a launch of its own.
//
// The end of a launch is the only barrier between steps, and every step goes through global memory. An odd count's
// middle element has no partner and stays where it is.

#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void halving(Element *data, size_t count, size_t half)
{
    const size_t element = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (element < count - half)
        data[element] = Operation::combine(data[element], data[element + half]);
}
