// cooperative_groups::inclusive_scan and exclusive_scan.
#pragma once

#include "reduce.h"

namespace cooperative_groups {

template <typename Group, typename Value, typename Operation>
Value inclusive_scan(const Group &group, Value value, Operation operation, EMULATOR_SITE)
{
    for (unsigned distance = 1; distance < group.size(); distance *= 2) {
        const Value before = group.shfl_up(value, distance, site);
        if (group.thread_rank() >= distance)
            value = operation(before, value);
    }
    return value;
}

template <unsigned Size, typename Parent, typename Value, typename Operation>
std::enable_if_t<(Size > 32), Value> inclusive_scan(const thread_block_tile<Size, Parent> &tile, Value value,
                                                    Operation operation, EMULATOR_SITE)
{
    const auto lanes = tiled_partition<32>(tile);
    value = inclusive_scan(lanes, value, operation, site);
    const auto of_warps = tile.told(value, lanes.thread_rank() == 31, site);
    for (unsigned warp = tile.thread_rank() / 32; warp-- > 0;)
        value = operation(of_warps[warp], value);
    return value;
}

template <typename Group, typename Value>
Value inclusive_scan(const Group &group, Value value, EMULATOR_SITE)
{
    return inclusive_scan(group, value, plus<Value>(), site);
}

// The value of the thread before.
template <typename Group, typename Value>
Value of_previous(const Group &group, Value value, ::emulator::Site site)
{
    return group.shfl_up(value, 1, site);
}
template <unsigned Size, typename Parent, typename Value>
std::enable_if_t<(Size > 32), Value> of_previous(const thread_block_tile<Size, Parent> &tile, Value value,
                                                 ::emulator::Site site)
{
    const auto lanes = tiled_partition<32>(tile);
    const auto of_warps = tile.told(value, lanes.thread_rank() == 31, site);
    value = lanes.shfl_up(value, 1, site);
    return lanes.thread_rank() == 0 && lanes.meta_group_rank() > 0 ? of_warps[lanes.meta_group_rank() - 1] : value;
}

// The first one gets zero.
template <typename Group, typename Value, typename Operation>
Value exclusive_scan(const Group &group, Value value, Operation operation, EMULATOR_SITE)
{
    const Value before = of_previous(group, inclusive_scan(group, value, operation, site), site);
    return group.thread_rank() == 0 ? Value() : before;
}

template <typename Group, typename Value>
Value exclusive_scan(const Group &group, Value value, EMULATOR_SITE)
{
    return exclusive_scan(group, value, plus<Value>(), site);
}

} // namespace cooperative_groups
