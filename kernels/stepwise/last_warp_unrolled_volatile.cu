// Step 5 as it was published: as `last_warp_unrolled`, with the last warp's steps through a volatile pointer and nothing
// to order them.
//
// The source made volatile the reason why this step lost time: every step's value goes to shared memory and back. On its
// AMD GPU a wavefront has 64 lanes, so that its loop stopped at stride 128; a warp has 32.

#include "loads.cuh"
#include "operations.cuh"
#include "shared_array.cuh"
#include "tree.cuh"
#include "volatile_tree.cuh"

template <typename Element, typename Operation>
__global__ void last_warp_unrolled_volatile(const Element *data, Element *partials, size_t count)
{
    Element *shared = dynamic_shared<Element>();
    const unsigned thread = threadIdx.x;
    const size_t element = size_t(blockIdx.x) * blockDim.x * 2 + thread;

    shared[thread] = Operation::combine(element_or_identity<Operation>(data, element, count),
                                        element_or_identity<Operation>(data, element + blockDim.x, count));
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > warp_lanes; stride /= 2)
        tree_step<Operation>(shared, stride);
    if (thread < warp_lanes)
        reduce_last_warp_volatile<Operation, Element>(shared);

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
