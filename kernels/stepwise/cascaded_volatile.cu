// Step 7 as it was published: as `cascaded`, with the last warp's steps through a volatile pointer.
//
// Beside `completely_unrolled_volatile`, it shows the gain of many elements a thread alone.

#include "loads.cuh"
#include "operations.cuh"
#include "tree.cuh"
#include "volatile_tree.cuh"

template <typename Element, typename Operation, unsigned block_size>
__global__ void cascaded_volatile(const Element *data, Element *partials, size_t count)
{
    __shared__ Element shared[block_size];
    const unsigned thread = threadIdx.x;

    shared[thread] = combine_grid_stride<Operation>(data, count);
    __syncthreads();

    reduce_to_one_warp<Operation, block_size>(shared);
    if (thread < warp_lanes)
        reduce_last_warp_volatile<Operation, Element>(shared);

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
