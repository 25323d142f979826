// Each thread adds many elements, a grid's width apart, before its block's tree begins. This is step 7 of the study
// `stepwise`; in step 6, `completely_unrolled`, a thread adds two.
//
// The grid no longer grows with the array. More of the work is plain additions, one per element, and less of it is trees
// and barriers. A second launch of one block ends it.

#include "loads.cuh"
#include "operations.cuh"
#include "tree.cuh"

template <typename Element, typename Operation, unsigned block_size>
__global__ void cascaded(const Element *data, Element *partials, size_t count)
{
    __shared__ Element shared[block_size];
    const unsigned thread = threadIdx.x;

    shared[thread] = combine_grid_stride<Operation>(data, count);
    __syncthreads();

    reduce_data_block<Operation, block_size>(shared);

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
