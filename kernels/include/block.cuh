// Reductions of one thread block's values, from registers.
#pragma once

#include "warp.cuh"

// The combination of all threads' values, in thread 0 (and in the rest of its warp). Each warp reduces its own by
// `reduce` and leaves one value in shared memory; the first warp reduces those the same way. The block size is a multiple
// of 32. All threads must take part, and a barrier must lie between two calls.
template <typename Operation, unsigned block_size, typename Element, typename Reduce>
__device__ Element reduce_block_by(Element value, Reduce reduce)
{
    constexpr unsigned warps = block_size / warp_lanes;
    __shared__ Element warp_results[warps];
    const unsigned thread = threadIdx.x;
    const unsigned lane = thread % warp_lanes;

    value = reduce(value);
    if (lane == 0)
        warp_results[thread / warp_lanes] = value;
    __syncthreads();

    if (thread < warp_lanes) {
        value = lane < warps ? warp_results[lane] : Operation::template identity<Element>();
        value = reduce(value);
    }
    return value;
}

// The same by shuffles.
template <typename Operation, unsigned block_size, typename Element>
__device__ Element reduce_block(Element value)
{
    return reduce_block_by<Operation, block_size>(value, [](Element own) { return reduce_warp<Operation>(own); });
}
