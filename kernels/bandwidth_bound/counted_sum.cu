// Counted sum: as `atomic_sum`, but one atomic operation a block does both. Of 64 bits the upper half is the sum, whose
// carries fall off the top, as they should modulo 2^32; the lower half counts the blocks. The block that finds all
// others counted has their sum in the same answer.
//
// No fence either, since there is no second place in memory. For 32-bit integers only: nothing else leaves room.
//
// kernelsweep:
//   plan: single_launch
//   block_size: multiple_of_32
//   unroll: [1, 2, 4, 8]
//   dtypes: [int32]
//   operations: [sum]

#include "block.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    counted_sum(const Element *data, Element *, unsigned long long *arrivals, Element *result, size_t array_size)
{
    Element value = combine_vectors<unroll, Operation>(data, array_size);
    value = reduce_block<Operation, block_size>(value);
    if (threadIdx.x != 0)
        return;
    const unsigned long long before = atomicAdd(arrivals, static_cast<unsigned long long>(unsigned(value)) << 32 | 1u);
    if (unsigned(before) == gridDim.x - 1) {
        *result = Operation::combine(Element(unsigned(before >> 32)), value);
        atomicExch(arrivals, 0ull);
    }
}
