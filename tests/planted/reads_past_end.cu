// Its last block combines one element too many, past the input's end.

#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void reads_past_end(const Element *data, Element *partials, size_t array_size)
{
    if (threadIdx.x != 0)
        return;
    const size_t first = size_t(blockIdx.x) * blockDim.x;
    Element result = data[first];
    for (size_t i = first + 1; i < first + blockDim.x && i <= array_size; ++i)
        result = Operation::combine(result, data[i]);
    partials[blockIdx.x] = result;
}
