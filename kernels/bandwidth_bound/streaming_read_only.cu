// Streaming read only: as `read_only`, by the loads of `streaming_loads`.

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
