// Streaming loads: as `last_block`, but each load says that nobody reads these bytes again (`__ldcs`), so that the
// caches keep nothing of them for longer than they must.
//
// kernelsweep:
//   plan: single_launch
//   block_size: multiple_of_32
//   unroll: [1, 2, 4, 8]
//   summation_depth: >-
//     ceil(array_size / (2 * grid_size * block_size)) + unroll + 6 + ceil(log2(block_size))
//     + ceil(grid_size / block_size) + ceil(log2(block_size))

#include "arrivals.cuh"
#include "block.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    streaming_loads(const Element *data, Element *partials, unsigned *arrivals, Element *result, size_t array_size)
{
    Element value = combine_vectors<unroll, Operation, StreamingLoad>(data, array_size);
    value = reduce_block<Operation, block_size>(value);
    finish_by_last_block<Operation, block_size>(value, partials, arrivals, result);
}
