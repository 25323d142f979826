// Last block: as `loads_in_flight`, but one launch. Each block leaves its partial and counts itself in; the one that
// comes last combines the partials, in order of their index.
//
// No second launch, and an order of additions that does not depend on which block comes when.

#include "arrivals.cuh"
#include "block.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    last_block(const Element *data, Element *partials, unsigned *arrivals, Element *result, size_t array_size)
{
    Element value = combine_vectors<unroll, Operation>(data, array_size);
    value = reduce_block<Operation, block_size>(value);
    finish_by_last_block<Operation, block_size>(value, partials, arrivals, result);
}
