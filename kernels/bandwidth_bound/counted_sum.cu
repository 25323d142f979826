// Counted sum: as `atomic_sum`, but one atomic operation a block does both: some of its 64 bits are the sum, some the count.
//
// One trip to memory and back where `atomic_sum` makes three. For elements of 32 bits; sums of floats are added up as whole
// numbers, exactly, so that each run leaves the same bits.

#include "block.cuh"
#include "counted_sums.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    counted_sum(const Element *data, Element *, void *arrivals, Element *result, size_t array_size)
{
    Element value = combine_vectors<unroll, Operation>(data, array_size);
    const CountedSum<Element> counted_sum(data, array_size);
    value = reduce_block<Operation, block_size>(value);
    if (threadIdx.x == 0)
        counted_sum.finish(value, arrivals, result);
}
