// Step 5, last warp unrolled: as `first_add_on_load`, but the loop stops at stride 64, and the first warp finishes in six
// straight-line steps.
//
// With one warp left there is nobody else to wait for: __syncwarp orders its reads and writes, without a barrier, a loop
// or a test.

#include "loads.cuh"
#include "operations.cuh"
#include "shared_array.cuh"
#include "tree.cuh"

template <typename Element, typename Operation>
__global__ void last_warp_unrolled(const Element *data, Element *partials, size_t count)
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
        reduce_last_warp<Operation, 2 * warp_lanes>(shared);

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
