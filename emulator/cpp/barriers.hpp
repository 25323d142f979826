// cuda::barrier, of a block or a thread, and the asynchronous copies that it waits for.
#pragma once

#include "phases.hpp"
#include "scopes.hpp"

#include <utility> // ::std::move, for the token of a phase

namespace cuda {

template <thread_scope scope>
class barrier {
    static_assert(scope == thread_scope_block || scope == thread_scope_thread,
                  "cuda::barrier of more than a block" EMULATOR_NOT_SUPPLIED);

public:
    using arrival_token = uint32_t;

    EMULATOR_APART arrival_token arrive(ptrdiff_t count = 1, EMULATOR_SITE)
    {
        return ::emulator::arrive(phases_, size_t(count), 0, __builtin_return_address(0), site);
    }
    EMULATOR_APART void wait(arrival_token phase, EMULATOR_SITE) const
    {
        ::emulator::wait_for_phase(phases_, phase, __builtin_return_address(0), site);
    }
    EMULATOR_APART void wait_parity(bool parity, EMULATOR_SITE) const
    {
        const uint32_t phase = phases_.over - (phases_.over % 2 != parity);
        ::emulator::wait_for_phase(phases_, phase, __builtin_return_address(0), site);
    }
    EMULATOR_APART void arrive_and_wait(EMULATOR_SITE)
    {
        const void *const caller = __builtin_return_address(0);
        ::emulator::wait_for_phase(phases_, ::emulator::arrive(phases_, 1, 0, caller, site), caller, site);
    }
    EMULATOR_APART void arrive_and_drop(EMULATOR_SITE)
    {
        ::emulator::arrive(phases_, 1, 1, __builtin_return_address(0), site);
    }
    friend EMULATOR_APART void init(barrier *self, ptrdiff_t expected, EMULATOR_SITE)
    {
        ::emulator::start_phases(self->phases_, size_t(expected), __builtin_return_address(0), site);
    }

    ::emulator::Phases phases_;
};

// By each thread of a group its part, or by the thread that calls it. The data land when the barrier's phase is over.
template <typename Group, typename Element, typename Count, thread_scope scope>
EMULATOR_APART void memcpy_async(const Group &group, Element *target, const Element *source, const Count &bytes,
                                 barrier<scope> &landing, EMULATOR_SITE)
{
    ::emulator::copy_by_group(group, target, source, size_t(bytes), ::emulator::known_alignment<Element>(bytes),
                              __builtin_return_address(0), site, landing.phases_.flag(landing.phases_.over));
}

template <typename Element, typename Count, thread_scope scope>
EMULATOR_APART void memcpy_async(Element *target, const Element *source, const Count &bytes, barrier<scope> &landing,
                                 EMULATOR_SITE)
{
    ::emulator::copy_by_group(::emulator::OneThread(), target, source, size_t(bytes),
                              ::emulator::known_alignment<Element>(bytes), __builtin_return_address(0), site,
                              landing.phases_.flag(landing.phases_.over));
}

template <size_t alignment>
struct aligned_size_t {
    static constexpr size_t align = alignment;
    size_t value;

    explicit constexpr aligned_size_t(size_t value) : value(value) {}
    constexpr operator size_t() const { return value; }
};

} // namespace cuda
