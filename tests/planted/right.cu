// It is right: what all others here are but for one mistake.

#include "block_result.cuh"
#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void right(const Element *data, Element *partials, size_t array_size)
{
    if (threadIdx.x != 0)
        return;
    partials[blockIdx.x] = block_result<Element, Operation>(data, array_size);
}
