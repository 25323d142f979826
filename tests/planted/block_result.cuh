// A block's elements, combined by one thread.
#pragma once

template <typename Element, typename Operation>
__device__ Element block_result(const Element *data, size_t array_size)
{
    const size_t first = size_t(blockIdx.x) * blockDim.x;
    Element result = data[first];
    for (size_t i = first + 1; i < first + blockDim.x && i < array_size; ++i)
        result = Operation::combine(result, data[i]);
    return result;
}
