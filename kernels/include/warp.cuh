// Reductions inside one warp, from register to register.
#pragma once

// The combination of all 32 lanes' values, in every lane, by butterfly exchanges. All lanes must take part.
template <typename Operation, typename Element>
__device__ Element reduce_warp(Element value)
{
#pragma unroll
    for (int lane_mask = 16; lane_mask > 0; lane_mask /= 2)
        value = Operation::combine(value, __shfl_xor_sync(0xffffffffu, value, lane_mask));
    return value;
}
