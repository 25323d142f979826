// Partial sums in registers: each warp reduces its values by butterfly shuffles (lane masks 16, 8, 4, 2, 1) and leaves
// one in shared memory; the first warp reduces those the same way.
//
// Lanes read each other's registers: one barrier a block, and shared memory for one value a warp.

#include "data_blocks.cuh"
#include "operations.cuh"
#include "warp.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void shuffle(const Element *data, Element *partials, size_t array_size)
{
    constexpr unsigned warps = block_size / 32;
    __shared__ Element warp_results[warps];
    const unsigned thread = threadIdx.x;
    const unsigned lane = thread % 32;
    const size_t block_start = size_t(blockIdx.x) * blockDim.x * unroll;
    const size_t remaining = array_size - block_start;

    Element value = data_blocks_are_whole<unroll>(remaining)
        ? combine_data_blocks<unroll, Operation>(data + block_start)
        : combine_cut_data_blocks<Operation>(data + block_start, remaining);
    value = reduce_warp<Operation>(value);
    if (lane == 0)
        warp_results[thread / 32] = value;
    __syncthreads();

    if (thread < 32) {
        value = lane < warps ? warp_results[lane] : Operation::template identity<Element>();
        value = reduce_warp<Operation>(value);
        if (lane == 0)
            partials[blockIdx.x] = value;
    }
}
