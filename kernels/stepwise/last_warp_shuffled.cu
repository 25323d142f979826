// Step 8 as it was published: as `cascaded`, but the tree's last steps, those of one warp, are shuffles from register to
// register.
//
// The steps before them stay in shared memory. No volatile pointer is needed any more, since the values travel in registers:
// a shuffle hands them over, and orders no access to memory.

#include "loads.cuh"
#include "operations.cuh"
#include "tree.cuh"
#include "warp.cuh"

template <typename Element, typename Operation, unsigned block_size>
__global__ void last_warp_shuffled(const Element *data, Element *partials, size_t count)
{
    __shared__ Element shared[block_size];
    const unsigned thread = threadIdx.x;

    shared[thread] = combine_grid_stride<Operation>(data, count);
    __syncthreads();

    reduce_to_one_warp<Operation, block_size>(shared);
    if (thread < warp_lanes) {
        const Element value = reduce_warp<Operation>(Operation::combine(shared[thread], shared[thread + warp_lanes]));
        if (thread == 0)
            partials[blockIdx.x] = value;
    }
}
