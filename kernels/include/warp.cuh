// Reductions inside one warp, from register to register.
#pragma once

#include "lanes.cuh"

// The combination of all lanes' values, in every lane, by butterfly exchanges. All lanes must take part.
template <typename Operation, typename Element>
__device__ Element reduce_warp(Element value)
{
#pragma unroll
    for (int lane_mask = warp_lanes / 2; lane_mask > 0; lane_mask /= 2)
        value = Operation::combine(value, __shfl_xor_sync(all_lanes, value, lane_mask));
    return value;
}
