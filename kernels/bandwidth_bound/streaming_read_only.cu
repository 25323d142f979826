// Streaming read only: as `read_only`, by the loads of `streaming_loads`.
//
// kernelsweep:
//   plan: grid_partials
//   block_size: multiple_of_32
//   unroll: [1, 2, 4, 8]
//   summation_depth: >-
//     ceil(array_size / (2 * grid_size * block_size)) + unroll + 6 + ceil(log2(block_size))

#include "block.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    streaming_read_only(const Element *data, Element *partials, size_t array_size)
{
    Element value = combine_vectors<unroll, Operation, StreamingLoad>(data, array_size);
    value = reduce_block<Operation, block_size>(value);
    if (threadIdx.x == 0)
        partials[blockIdx.x] = value;
}
