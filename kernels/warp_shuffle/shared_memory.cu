// Partial sums in shared memory: a tree, in each step of which half as many threads add. It is that of `global_memory`
// in the study `warp_shuffle`, in an array that the block's threads share on the multiprocessor.
//
// The input is read once and never written; the tree's traffic stays on the multiprocessor.

#include "data_blocks.cuh"
#include "operations.cuh"
#include "tree.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void shared_memory(const Element *data, Element *partials, size_t array_size)
{
    __shared__ Element shared[block_size];
    const unsigned thread = threadIdx.x;
    const size_t block_start = size_t(blockIdx.x) * blockDim.x * unroll;
    const size_t remaining = array_size - block_start;

    shared[thread] = data_blocks_are_whole<unroll>(remaining)
        ? combine_data_blocks<unroll, Operation>(data + block_start)
        : combine_cut_data_blocks<Operation>(data + block_start, remaining);
    __syncthreads();

    reduce_data_block<Operation, block_size>(shared);

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
