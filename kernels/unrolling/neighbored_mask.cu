// No remainder: as `neighbored`, but the test for a multiple of 2 * stride, a power of two, is one AND.
//
// No published step. The same threads are active in the same steps: only the remainder differs. What is left between this
// kernel and the next is divergence.

#include "data_blocks.cuh"
#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void neighbored_mask(Element *data, Element *partials, size_t array_size)
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
        if ((thread & (2 * stride - 1)) == 0)
            block_data[thread] = Operation::combine(block_data[thread], block_data[thread + stride]);
        __syncthreads();
    }

    if (thread == 0)
        partials[blockIdx.x] = block_data[0];
}
