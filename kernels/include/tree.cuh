// The steps of a tree reduction over one data block, in place, in global or in shared memory.
#pragma once

#include "lanes.cuh"

// One step: each of the first `stride` threads combines its element with the one at that distance.
template <typename Operation, typename Element>
__device__ void tree_step(Element *block_data, unsigned stride)
{
    const unsigned thread = threadIdx.x;
    if (thread < stride)
        block_data[thread] = Operation::combine(block_data[thread], block_data[thread + stride]);
    __syncthreads();
}

// One step inside the first warp of a block of `block_size` threads or more. All its lanes take part, so that reads and
// writes stay whole sectors; the lanes from `stride` on compute values that nobody uses. Every lane reads before any lane
// writes, and the next step sees what this one wrote: a warp's lanes have run independently of each other since Volta.
template <typename Operation, unsigned block_size, typename Element>
__device__ void warp_step(Element *block_data, unsigned stride)
{
    const unsigned lane = threadIdx.x;
    const bool has_partner = block_size >= 2 * warp_lanes || lane + stride < block_size; // In one warp, not all have.
    Element combined{};
    if (has_partner)
        combined = Operation::combine(block_data[lane], block_data[lane + stride]);
    __syncwarp();
    if (has_partner)
        block_data[lane] = combined;
    __syncwarp();
}

// The last steps of a tree, in a straight line, by the threads of the first warp.
template <typename Operation, unsigned block_size, typename Element>
__device__ void reduce_last_warp(Element *block_data)
{
    warp_step<Operation, block_size>(block_data, 32);
    warp_step<Operation, block_size>(block_data, 16);
    warp_step<Operation, block_size>(block_data, 8);
    warp_step<Operation, block_size>(block_data, 4);
    warp_step<Operation, block_size>(block_data, 2);
    warp_step<Operation, block_size>(block_data, 1);
}

// The block's steps before its last warp's, written out: the block size is known to the compiler.
template <typename Operation, unsigned block_size, typename Element>
__device__ void reduce_to_one_warp(Element *block_data)
{
    if constexpr (block_size >= 1024)
        tree_step<Operation>(block_data, 512);
    if constexpr (block_size >= 512)
        tree_step<Operation>(block_data, 256);
    if constexpr (block_size >= 256)
        tree_step<Operation>(block_data, 128);
    if constexpr (block_size >= 128)
        tree_step<Operation>(block_data, 64);
}

// The whole tree where the block size is known to the compiler: the block's steps written out, then the last warp's.
template <typename Operation, unsigned block_size, typename Element>
__device__ void reduce_data_block(Element *block_data)
{
    reduce_to_one_warp<Operation, block_size>(block_data);
    if (threadIdx.x < warp_lanes)
        reduce_last_warp<Operation, block_size>(block_data);
}
