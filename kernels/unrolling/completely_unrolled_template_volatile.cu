// Completely unrolled, as a template, as it was published: as `completely_unrolled_volatile`, with the block size a
// compile-time constant.
//
// The tests of the block size vanish from the machine code; all five barriers stay.

#include "data_blocks.cuh"
#include "operations.cuh"
#include "volatile_tree.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void completely_unrolled_template_volatile(Element *data, Element *partials, size_t array_size)
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

    if (block_size >= 1024 && thread < 512)
        block_data[thread] = Operation::combine(block_data[thread], block_data[thread + 512]);
    __syncthreads();
    if (block_size >= 512 && thread < 256)
        block_data[thread] = Operation::combine(block_data[thread], block_data[thread + 256]);
    __syncthreads();
    if (block_size >= 256 && thread < 128)
        block_data[thread] = Operation::combine(block_data[thread], block_data[thread + 128]);
    __syncthreads();
    if (block_size >= 128 && thread < 64)
        block_data[thread] = Operation::combine(block_data[thread], block_data[thread + 64]);
    __syncthreads();
    if (thread < 32)
        reduce_last_warp_volatile<Operation, Element>(block_data);

    if (thread == 0)
        partials[blockIdx.x] = block_data[0];
}
