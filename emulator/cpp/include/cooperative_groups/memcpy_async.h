// cooperative_groups::memcpy_async, and the waits for it.
#pragma once

#include "../../copies.hpp"
#include "../cooperative_groups.h"
#include "../cuda_pipeline_primitives.h"

namespace cooperative_groups {

template <typename Group, typename Element, typename Count>
EMULATOR_APART void memcpy_async(const Group &group, Element *target, const Element *source, const Count &bytes,
                                 EMULATOR_SITE)
{
    const size_t known = ::emulator::known_alignment<Element>(bytes);
    ::emulator::copy_by_group(group, target, source, size_t(bytes), known, __builtin_return_address(0),
                               site);
    __pipeline_commit();
}

// Counts of elements, of which the smaller holds.
template <typename Group, typename Element, typename TargetCount, typename SourceCount>
EMULATOR_APART void memcpy_async(const Group &group, Element *target, const TargetCount &target_count,
                                 const Element *source, const SourceCount &source_count, EMULATOR_SITE)
{
    const size_t count = size_t(target_count) < size_t(source_count) ? size_t(target_count) : size_t(source_count);
    const size_t known = ::emulator::known_alignment<Element>(target_count);
    ::emulator::copy_by_group(group, target, source, count * sizeof(Element), known, __builtin_return_address(0),
                               site);
    __pipeline_commit();
}

// Also for the other threads of the group.
template <unsigned groups_on_their_way, typename Group>
void wait_prior(const Group &group, EMULATOR_SITE)
{
    __pipeline_wait_prior(groups_on_their_way);
    group.sync(site);
}

template <typename Group>
void wait(const Group &group, EMULATOR_SITE)
{
    wait_prior<0>(group, site);
}

} // namespace cooperative_groups
