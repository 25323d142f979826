// It writes one partial too many, past the end.
//
// kernelsweep:
//   unroll: [1]

#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void writes_past_end(const Element *data, Element *partials, size_t array_size)
{
    if (threadIdx.x != 0)
        return;
    const size_t first = size_t(blockIdx.x) * blockDim.x;
    Element result = data[first];
    for (size_t i = first + 1; i < first + blockDim.x && i < array_size; ++i)
        result = Operation::combine(result, data[i]);
    partials[blockIdx.x] = result;
    if (blockIdx.x == gridDim.x - 1)
        partials[gridDim.x] = result;
}
