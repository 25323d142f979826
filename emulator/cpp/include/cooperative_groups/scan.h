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

template <typename Group, typename Value>
Value inclusive_scan(const Group &group, Value value, EMULATOR_SITE)
{
    return inclusive_scan(group, value, plus<Value>(), site);
}

// The first one gets zero.
template <typename Group, typename Value, typename Operation>
Value exclusive_scan(const Group &group, Value value, Operation operation, EMULATOR_SITE)
{
    const Value before = group.shfl_up(inclusive_scan(group, value, operation, site), 1, site);
    return group.thread_rank() == 0 ? Value() : before;
}

template <typename Group, typename Value>
Value exclusive_scan(const Group &group, Value value, EMULATOR_SITE)
{
    return exclusive_scan(group, value, plus<Value>(), site);
}

} // namespace cooperative_groups
