// Read only: the first launch of `loads_in_flight` alone, with no more blocks than have work. The host combines the
// partials, untimed: what is timed is reading the array and nothing after it, the most that a reduction can reach.

#include "block.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    read_only(const Element *data, Element *partials, size_t array_size)
{
    Element value = combine_vectors<unroll, Operation>(data, array_size);
    value = reduce_block<Operation, block_size>(value);
    if (threadIdx.x == 0)
        partials[blockIdx.x] = value;
}
