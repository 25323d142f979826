// Beyond step 8: as `last_warp_shuffled`, but every warp shuffles first and leaves one value in shared memory, and the
// first warp reduces those the same way.
//
// One barrier a block is left, and shared memory for one value a warp.

#include "loads.cuh"
#include "operations.cuh"
#include "warp.cuh"

template <typename Element, typename Operation, unsigned block_size>
__global__ void warp_shuffle(const Element *data, Element *partials, size_t count)
{
    constexpr unsigned warps = block_size / warp_lanes;
    __shared__ Element shared[warps];
    const unsigned thread = threadIdx.x;
    const unsigned lane = thread % warp_lanes;

    Element value = reduce_warp<Operation>(combine_grid_stride<Operation>(data, count));
    if (lane == 0)
        shared[thread / warp_lanes] = value;
    __syncthreads();

    if (thread < warp_lanes) {
        value = lane < warps ? shared[lane] : Operation::template identity<Element>();
        value = reduce_warp<Operation>(value);
        if (lane == 0)
            partials[blockIdx.x] = value;
    }
}
