// Counted sum: as `atomic_sum`, but one atomic operation a block does both: 32 of its 64 bits are the sum, 32 the count.
//
// One trip to memory and back where `atomic_sum` makes three. For 32-bit integers only: nothing else leaves room.
//
// kernelsweep:
//   plan: single_launch
//   block_size: multiple_of_32
//   unroll: [1, 2, 4, 8]
//   dtypes: [int32]
//   operations: [sum]

#include "atomic_sums.cuh"
#include "block.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    counted_sum(const Element *data, Element *, unsigned long long *arrivals, Element *result, size_t array_size)
{
    Element value = combine_vectors<unroll, Operation>(data, array_size);
    value = reduce_block<Operation, block_size>(value);
    if (threadIdx.x == 0)
        finish_by_counted_sum(value, arrivals, result);
}
