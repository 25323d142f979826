// Interleaved pairs: strides B/2, B/4, ... 1. The threads below the stride add the element at that distance.
//
// Neighbouring threads now read and write neighbouring elements, so a warp's accesses fill whole sectors.

#include "data_blocks.cuh"
#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void interleaved(Element *data, Element *partials, size_t array_size)
{
    const unsigned thread = threadIdx.x;
    const size_t block_start = size_t(blockIdx.x) * blockDim.x;
    const size_t remaining = array_size - block_start;
    Element *block_data = data + block_start;
    if (!data_blocks_are_whole<1>(remaining)) {
        reduce_cut_data_blocks<Operation>(block_data, remaining, &partials[blockIdx.x]);
        return;
    }

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (thread < stride)
            block_data[thread] = Operation::combine(block_data[thread], block_data[thread + stride]);
        __syncthreads();
    }

    if (thread == 0)
        partials[blockIdx.x] = block_data[0];
}
