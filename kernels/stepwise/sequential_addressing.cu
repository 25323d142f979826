// Step 3, sequential addressing: unlike in `strided_index`, the strides fall from B/2 to 1, and the threads below the
// stride add the element at that distance.
//
// The active threads are still the first ones, and now neighbours access neighbouring elements: no bank conflicts.

#include "loads.cuh"
#include "operations.cuh"
#include "shared_array.cuh"

template <typename Element, typename Operation>
__global__ void sequential_addressing(const Element *data, Element *partials, size_t count)
{
    Element *shared = dynamic_shared<Element>();
    const unsigned thread = threadIdx.x;
    const size_t element = size_t(blockIdx.x) * blockDim.x + thread;

    shared[thread] = element_or_identity<Operation>(data, element, count);
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (thread < stride)
            shared[thread] = Operation::combine(shared[thread], shared[thread + stride]);
        __syncthreads();
    }

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
