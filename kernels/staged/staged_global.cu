// Stages in global memory, step 2: unlike in `halving`, a thread adds many elements in a register, a grid's width apart,
// and stores its sum in place. Three launches are enough: the whole grid, one block, one thread.
//
// The array is read once; what is left between launches is one value a thread.

#include "loads.cuh"
#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void staged_global(Element *data, size_t count)
{
    const size_t own = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const Element combined = combine_grid_stride<Operation>(data, count);
    // No other thread reads this place: all its loop's elements are a multiple of the grid's threads away from its own.
    if (own < count)
        data[own] = combined;
}
