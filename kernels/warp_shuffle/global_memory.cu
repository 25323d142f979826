// Partial sums in global memory: each thread adds the elements of U data blocks, then a tree runs in place in the array
// itself, its steps written out and the last warp unrolled.
//
// Every step of the tree goes through the caches to global memory and back.

#include "data_blocks.cuh"
#include "operations.cuh"
#include "tree.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void global_memory(Element *data, Element *partials, size_t array_size)
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

    reduce_data_block<Operation, block_size>(block_data);

    if (thread == 0)
        partials[blockIdx.x] = block_data[0];
}
