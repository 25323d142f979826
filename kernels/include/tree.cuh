// The steps of a tree reduction over one data block, in place, in global or in shared memory.
#pragma once

// One step: each of the first `stride` threads combines its element with the one at that distance.
// `count` elements of the data block exist.
template <typename Operation, typename Element>
__device__ void tree_step(Element *block_data, unsigned stride, unsigned count)
{
    const unsigned thread = threadIdx.x;
    if (thread < stride && thread + stride < count)
        block_data[thread] = Operation::combine(block_data[thread], block_data[thread + stride]);
    __syncthreads();
}

// One step inside the first warp. All its lanes take part, so that reads and writes stay whole sectors; the lanes from
// `stride` on compute values that nobody uses. Every lane reads before any lane writes, and the next step sees what
// this one wrote: lanes of a warp have run independently of each other since Volta.
template <typename Operation, typename Element>
__device__ void warp_step(Element *block_data, unsigned stride, unsigned count)
{
    const unsigned lane = threadIdx.x;
    const bool has_partner = lane + stride < count;
    Element combined{};
    if (has_partner)
        combined = Operation::combine(block_data[lane], block_data[lane + stride]);
    __syncwarp();
    if (has_partner)
        block_data[lane] = combined;
    __syncwarp();
}

// The last six steps of a tree, in a straight line, by the threads of the first warp.
template <typename Operation, typename Element>
__device__ void reduce_last_warp(Element *block_data, unsigned count)
{
    warp_step<Operation>(block_data, 32, count);
    warp_step<Operation>(block_data, 16, count);
    warp_step<Operation>(block_data, 8, count);
    warp_step<Operation>(block_data, 4, count);
    warp_step<Operation>(block_data, 2, count);
    warp_step<Operation>(block_data, 1, count);
}

// The whole tree over a data block whose size is known to the compiler: the block's steps written out, then the last
// warp's. `count` elements of the data block exist.
template <typename Operation, unsigned block_size, typename Element>
__device__ void reduce_data_block(Element *block_data, unsigned count)
{
    if constexpr (block_size >= 1024)
        tree_step<Operation>(block_data, 512, count);
    if constexpr (block_size >= 512)
        tree_step<Operation>(block_data, 256, count);
    if constexpr (block_size >= 256)
        tree_step<Operation>(block_data, 128, count);
    if constexpr (block_size >= 128)
        tree_step<Operation>(block_data, 64, count);
    if (threadIdx.x < 32)
        reduce_last_warp<Operation>(block_data, count);
}
