// Vector loads: as `warp_shuffle` of the study stepwise, but a thread reads 16 bytes at a time instead of one element.
//
// A quarter of the load instructions for elements of 4 bytes, for the same bytes; the array's ends, where there is no
// whole vector, are read element by element.
//
// kernelsweep:
//   plan: two_stages
//   block_size: multiple_of_32
//   summation_depth: >-
//     ceil(array_size / (2 * grid_size * block_size)) + 6 + ceil(grid_size / (2 * block_size)) + 6
//     + launches * ceil(log2(block_size))

#include "block.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Element, typename Operation, unsigned block_size>
__global__ void __launch_bounds__(block_size)
    vector_loads(const Element *data, Element *partials, size_t count)
{
    Element value = combine_vectors<1, Operation>(data, count);
    value = reduce_block<Operation, block_size>(value);
    if (threadIdx.x == 0)
        partials[blockIdx.x] = value;
}
