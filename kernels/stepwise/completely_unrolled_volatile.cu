// Step 6 as it was published: as `completely_unrolled`, with the last warp's steps through a volatile pointer.
//
// No loop is left; the last warp's steps keep the race of `last_warp_unrolled_volatile`.

#include "loads.cuh"
#include "operations.cuh"
#include "tree.cuh"
#include "volatile_tree.cuh"

template <typename Element, typename Operation, unsigned block_size>
__global__ void completely_unrolled_volatile(const Element *data, Element *partials, size_t count)
{
    __shared__ Element shared[block_size];
    const unsigned thread = threadIdx.x;
    const size_t element = size_t(blockIdx.x) * block_size * 2 + thread;

    shared[thread] = Operation::combine(element_or_identity<Operation>(data, element, count),
                                        element_or_identity<Operation>(data, element + block_size, count));
    __syncthreads();

    reduce_to_one_warp<Operation, block_size>(shared);
    if (thread < warp_lanes)
        reduce_last_warp_volatile<Operation, Element>(shared);

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
