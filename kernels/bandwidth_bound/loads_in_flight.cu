// Loads in flight: as `vector_loads`, but a thread asks for `unroll` vectors before it waits for the first of them.
//
// A load takes many hundred cycles. Only more outstanding loads keep the memory busy meanwhile.

#include "block.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    loads_in_flight(const Element *data, Element *partials, size_t count)
{
    Element value = combine_vectors<unroll, Operation>(data, count);
    value = reduce_block<Operation, block_size>(value);
    if (threadIdx.x == 0)
        partials[blockIdx.x] = value;
}
