// Neighbouring pairs with less divergence: the same strides and the same places written as in `neighbored`, but thread t
// works on element 2 * stride * t.
//
// The active threads are now the first ones of the block, so whole warps fall idle together. Memory is still read with
// growing gaps.

#include "data_blocks.cuh"
#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void neighbored_less(Element *data, Element *partials, size_t array_size)
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
        const unsigned element = 2 * stride * thread;
        if (element < blockDim.x)
            block_data[element] = Operation::combine(block_data[element], block_data[element + stride]);
        __syncthreads();
    }

    if (thread == 0)
        partials[blockIdx.x] = block_data[0];
}
