// Completely unrolled: as `unrolled_warps`, with the tree's loop written out for block sizes up to 1024, behind run-time
// tests of the block size.
//
// No loop counter and no loop branch; what is left of them are the tests.

#include "data_blocks.cuh"
#include "operations.cuh"
#include "tree.cuh"

template <typename Element, typename Operation, unsigned unroll>
__global__ void completely_unrolled(Element *data, Element *partials, size_t array_size)
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

    if (blockDim.x >= 1024)
        tree_step<Operation>(block_data, 512);
    if (blockDim.x >= 512)
        tree_step<Operation>(block_data, 256);
    if (blockDim.x >= 256)
        tree_step<Operation>(block_data, 128);
    if (blockDim.x >= 128)
        tree_step<Operation>(block_data, 64);
    if (thread < 32)
        reduce_last_warp<Operation, 64>(block_data);

    if (thread == 0)
        partials[blockIdx.x] = block_data[0];
}
