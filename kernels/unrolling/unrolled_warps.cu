// Unrolled last warp: each thread first adds the elements of several data blocks, as in `unrolled` of the study
// `unrolling`. Then the tree stops at stride 64, and the first warp finishes in six straight-line steps.
//
// Once one warp is left, a barrier for the whole block only makes the others wait. Reads and writes inside the warp are
// ordered by __syncwarp instead.

#include "data_blocks.cuh"
#include "operations.cuh"
#include "tree.cuh"

template <typename Element, typename Operation, unsigned unroll>
__global__ void unrolled_warps(Element *data, Element *partials, size_t array_size)
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
        reduce_last_warp<Operation, 64>(block_data);

    if (thread == 0)
        partials[blockIdx.x] = block_data[0];
}
