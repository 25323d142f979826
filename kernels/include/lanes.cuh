// The lanes of a warp, and which of them take part in an exchange.
#pragma once

constexpr unsigned warp_lanes = 32; // on every GPU that runs CUDA
constexpr unsigned all_lanes = ~0u;

// The mask of the lanes that exist in this thread's warp: the last warp of a block has fewer than 32 where the block
// size is no multiple of that. A shuffle's mask must name these and no others. What a lane gets from one that does not
// exist is undefined; the sweep leaves out the points at which any would ask.
__device__ inline unsigned existing_lanes()
{
    const unsigned lanes = blockDim.x - threadIdx.x / 32 * 32;
    return lanes < 32 ? (1u << lanes) - 1 : 0xffffffffu;
}
