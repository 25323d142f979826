// Vector loads: as `warp_shuffle` of the study stepwise, but a thread reads 16 bytes at a time instead of one element.
//
// A quarter of the load instructions for elements of 4 bytes, for the same bytes; the array's ends, where there is no
// whole vector, are read element by element.

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
