// Rotations through shared memory: as `rotations`, but each thread stores its value, and loads another's.
//
// A warp's store and load stand where `rotations` has a shuffle. __syncwarp orders them, at once before the load: a warp
// exchanges values with nobody else.

#include "shared_chain.cuh"

struct WarpOrder {
    static __device__ void wait() { __syncwarp(); }
};

template <typename Element, unsigned width, int offset, unsigned times>
__global__ void shared_rotations(const Element *input, Element *output, size_t array_size)
{
    rotate_through_shared<WarpOrder, Element, width, offset, times>(input, output, array_size);
}
