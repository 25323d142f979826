// Neighbouring pairs: strides 1, 2, 4, ... The thread whose index is a multiple of twice the stride adds its neighbour
// at that distance.
//
// Where the story begins: right, but the active threads are spread over all warps, so every warp goes through the
// first five steps with ever fewer of its lanes.

#include "data_blocks.cuh"
#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void neighbored(Element *data, Element *partials, size_t array_size)
{
    const unsigned thread = threadIdx.x;
    const size_t block_start = size_t(blockIdx.x) * blockDim.x;
    const size_t remaining = array_size - block_start;
    Element *block_data = data + block_start;
    if (!data_blocks_are_whole<1>(remaining)) {
        reduce_cut_data_blocks<Operation>(block_data, remaining, &partials[blockIdx.x]);
        return;
    }

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (thread % (2 * stride) == 0)
            block_data[thread] = Operation::combine(block_data[thread], block_data[thread + stride]);
        __syncthreads();
    }

    if (thread == 0)
        partials[blockIdx.x] = block_data[0];
}
