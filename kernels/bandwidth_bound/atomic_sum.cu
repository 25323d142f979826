// Atomic sum: as `last_block`, but each block adds its partial to one sum by an atomic operation, and nobody reads
// partials. The last block to come takes the sum and leaves zero for the next launch, so that no launch has to be
// preceded by a fill; the price is the count of blocks, a second atomic operation each.
//
// Floats are added in the order in which blocks come: a result's last bits may differ from run to run.

#include "atomic_sums.cuh"
#include "block.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    atomic_sum(const Element *data, Element *, RunningSum<Element> *arrivals, Element *result, size_t array_size)
{
    Element value = combine_vectors<unroll, Operation>(data, array_size);
    value = reduce_block<Operation, block_size>(value);
    if (threadIdx.x == 0)
        finish_by_atomic_sum(value, arrivals, result);
}
