// cooperative_groups::reduce, and the operations that it takes.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define EMULATOR_OPERATION(name, expression)                                                                           \
    template <typename Value>                                                                                          \
    struct name {                                                                                                      \
        Value operator()(Value a, Value b) const { return Value(expression); }                                         \
    };
EMULATOR_OPERATION(plus, a + b)
EMULATOR_OPERATION(less, b < a ? b : a)
EMULATOR_OPERATION(greater, a < b ? b : a)
EMULATOR_OPERATION(bit_and, a & b)
EMULATOR_OPERATION(bit_or, a | b)
EMULATOR_OPERATION(bit_xor, a ^ b)
#undef EMULATOR_OPERATION

// Halves the distance, so that floats are added in the order of a tree.
template <unsigned Size, typename Parent, typename Value, typename Operation>
Value reduce(const thread_block_tile<Size, Parent> &tile, Value value, Operation operation, EMULATOR_SITE)
{
    const auto lanes = tiled_partition<(Size < 32 ? Size : 32)>(tile);
    for (unsigned distance = lanes.size() / 2; distance > 0; distance /= 2)
        value = operation(value, lanes.shfl_xor(value, distance, site));
    if constexpr (Size > 32)
        value = tile.combined(value, operation, site);
    return value;
}

template <typename Value, typename Operation>
Value reduce(const coalesced_group &group, Value value, Operation operation, EMULATOR_SITE)
{
    Value result = group.shfl(value, 0, site);
    for (unsigned rank = 1; rank < group.size(); ++rank)
        result = operation(result, group.shfl(value, rank, site));
    return result;
}

} // namespace cooperative_groups
