// Unrolled last warp as it was written before Volta: the six steps of `unrolled_warps` through a volatile pointer, with
// nothing to order one lane's write against another lane's read.
//
// Kept for comparison with the articles. It counts on the lanes of a warp running in lockstep, which no GPU since Volta
// promises: a race, whatever it happens to compute.

#include "data_blocks.cuh"
#include "operations.cuh"
#include "tree.cuh"
#include "volatile_tree.cuh"

template <typename Element, typename Operation, unsigned unroll>
__global__ void unrolled_warps_volatile(Element *data, Element *partials, size_t array_size)
{
    const unsigned thread = threadIdx.x;
    const size_t block_start = size_t(blockIdx.x) * blockDim.x * unroll;
    const size_t remaining = array_size - block_start;
    Element *block_data = data + block_start;
    if (!data_blocks_are_whole<unroll>(remaining)) {
        reduce_cut_data_blocks<Operation>(block_data, remaining, &partials[blockIdx.x]);
        return;
    }

    block_data[thread] = combine_data_blocks<unroll, Operation>(block_data);
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > 32; stride /= 2)
        tree_step<Operation>(block_data, stride);
    if (thread < 32)
        reduce_last_warp_volatile<Operation, Element>(block_data);

    if (thread == 0)
        partials[blockIdx.x] = block_data[0];
}
