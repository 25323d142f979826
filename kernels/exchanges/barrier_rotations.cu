// Rotations with a barrier for the whole block: as `shared_rotations`, with __syncthreads for __syncwarp.
//
// No value leaves its warp, so that __syncwarp would do. The chain takes longer only because the barrier is wider.

#include "shared_chain.cuh"

struct BlockOrder {
    static __device__ void wait() { __syncthreads(); }
};

template <typename Element, unsigned width, int offset, unsigned times>
__global__ void barrier_rotations(const Element *input, Element *output, size_t array_size)
{
    rotate_through_shared<BlockOrder, Element, width, offset, times>(input, output, array_size);
}
