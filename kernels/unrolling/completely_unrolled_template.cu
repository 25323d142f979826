// Completely unrolled, as a template: as `completely_unrolled`, with the block size a compile-time constant.
//
// The tests of the block size are decided by the compiler and vanish from the machine code.

#include "data_blocks.cuh"
#include "operations.cuh"
#include "tree.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void completely_unrolled_template(Element *data, Element *partials, size_t array_size)
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
