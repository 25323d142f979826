// Completely unrolled as it was published: as `completely_unrolled`, with the last warp's steps through a volatile pointer,
// and a barrier after each of the block's steps, whether or not the block is large enough to take it.
//
// Kept for comparison with the articles. Its barriers stand outside the tests: five a block at any block size, where
// `completely_unrolled` has none for a step that is left out. The race is that of `unrolled_warps_volatile`.

#include "data_blocks.cuh"
#include "operations.cuh"
#include "volatile_tree.cuh"

template <typename Element, typename Operation, unsigned unroll>
__global__ void completely_unrolled_volatile(Element *data, Element *partials, size_t array_size)
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

    if (blockDim.x >= 1024 && thread < 512)
        block_data[thread] = Operation::combine(block_data[thread], block_data[thread + 512]);
    __syncthreads();
    if (blockDim.x >= 512 && thread < 256)
        block_data[thread] = Operation::combine(block_data[thread], block_data[thread + 256]);
    __syncthreads();
    if (blockDim.x >= 256 && thread < 128)
        block_data[thread] = Operation::combine(block_data[thread], block_data[thread + 128]);
    __syncthreads();
    if (blockDim.x >= 128 && thread < 64)
        block_data[thread] = Operation::combine(block_data[thread], block_data[thread + 64]);
    __syncthreads();
    if (thread < 32)
        reduce_last_warp_volatile<Operation, Element>(block_data);

    if (thread == 0)
        partials[blockIdx.x] = block_data[0];
}
