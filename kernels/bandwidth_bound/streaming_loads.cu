// Streaming loads: as `last_block`, but each load says that nobody reads these bytes again (`__ldcs`), so that the
// caches keep nothing of them for longer than they must.

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
