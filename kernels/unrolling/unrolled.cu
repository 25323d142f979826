// Unrolled data blocks: first each thread adds the elements of U neighbouring data blocks into its own, then the tree of
// `interleaved` runs over the first data block.
//
// Fewer thread blocks, each with several independent loads in flight, and one tree for U data blocks instead of U trees.

#include "data_blocks.cuh"
#include "operations.cuh"
#include "tree.cuh"

template <typename Element, typename Operation, unsigned unroll>
__global__ void unrolled(Element *data, Element *partials, size_t array_size)
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

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2)
        tree_step<Operation>(block_data, stride);

    if (thread == 0)
        partials[blockIdx.x] = block_data[0];
}
