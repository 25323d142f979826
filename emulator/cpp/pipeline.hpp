// libcu++'s pipelines, of a thread and of a block, and cuda::memcpy_async by them.
#pragma once

#include "include/cooperative_groups.h"
#include "include/cuda_pipeline_primitives.h"
#include "barriers.hpp"

namespace cuda {

enum class pipeline_role { producer, consumer };

// Of each stage: whether its data are there, and whether they were used.
template <thread_scope scope, unsigned char stages>
struct pipeline_shared_state {
    ::emulator::Phases produced[stages], consumed[stages];
    uint64_t users;
};

// Of a block: a stage's barriers say when its next step may begin.
template <thread_scope scope>
class pipeline {
    static_assert(scope == thread_scope_block,
                  "cuda::pipeline of more than a block" EMULATOR_NOT_SUPPLIED);

public:
    pipeline(::emulator::Phases *produced, ::emulator::Phases *consumed, unsigned stages)
        : produced_(produced), consumed_(consumed), stages_(stages)
    {
    }

    EMULATOR_APART void producer_acquire(EMULATOR_SITE)
    {
        if (committed_ >= stages_)
            wait(consumed_, committed_ - stages_, __builtin_return_address(0), site);
    }
    EMULATOR_APART void producer_commit(EMULATOR_SITE)
    {
        ::emulator::arrive(produced_[committed_++ % stages_], 1, 0, __builtin_return_address(0), site);
    }
    EMULATOR_APART void consumer_wait(EMULATOR_SITE)
    {
        wait(produced_, released_, __builtin_return_address(0), site);
    }
    EMULATOR_APART void consumer_release(EMULATOR_SITE)
    {
        ::emulator::arrive(consumed_[released_++ % stages_], 1, 0, __builtin_return_address(0), site);
    }
    bool quit() { return true; }

    EMULATOR_APART uintptr_t landing() const
    {
        const ::emulator::Phases &phases = produced_[committed_ % stages_];
        return phases.flag(phases.over);
    }

private:
    EMULATOR_UNCOUNTED void wait(const ::emulator::Phases *of_stages, unsigned step, const void *caller,
                                 ::emulator::Site site) const
    {
        ::emulator::wait_for_phase(of_stages[step % stages_], step / stages_, caller, site);
    }

    ::emulator::Phases *produced_, *consumed_;
    unsigned stages_;
    unsigned committed_ = 0;
    unsigned released_ = 0;
};

template <>
class pipeline<thread_scope_thread> {
public:
    void producer_acquire() {}
    void producer_commit()
    {
        __pipeline_commit();
        ++committed_;
    }
    void consumer_wait()
    {
        if (consumed_ != committed_)
            __pipeline_wait_prior(committed_ - ++consumed_);
    }
    void consumer_release() {}
    void wait_prior(size_t groups_on_their_way)
    {
        __pipeline_wait_prior(groups_on_their_way);
        consumed_ = committed_ < groups_on_their_way ? 0 : committed_ - groups_on_their_way;
    }
    bool quit() { return true; }
    static uintptr_t landing() { return 0; }

private:
    size_t committed_ = 0;
    size_t consumed_ = 0;
};

inline pipeline<thread_scope_thread> make_pipeline() { return {}; }

// All threads of a group produce and consume, or the first ones produce and the others consume.
template <typename Group, thread_scope scope, unsigned char stages>
EMULATOR_APART pipeline<scope> make_pipeline(const Group &group, pipeline_shared_state<scope, stages> *state,
                                             size_t producers, size_t consumers, const void *caller,
                                             ::emulator::Site site)
{
    for (unsigned stage = 0; stage < stages && group.thread_rank() == 0; ++stage) {
        ::emulator::start_phases(state->produced[stage], producers, caller, site);
        ::emulator::start_phases(state->consumed[stage], consumers, caller, site);
    }
    group.sync(site);
    return {state->produced, state->consumed, stages};
}

template <typename Group, thread_scope scope, unsigned char stages>
EMULATOR_APART pipeline<scope> make_pipeline(const Group &group, pipeline_shared_state<scope, stages> *state,
                                             EMULATOR_SITE)
{
    const void *const caller = __builtin_return_address(0);
    if constexpr (scope == thread_scope_thread)
        return {};
    else
        return make_pipeline(group, state, group.num_threads(), group.num_threads(), caller, site);
}

template <typename Group, thread_scope scope, unsigned char stages>
EMULATOR_APART pipeline<scope> make_pipeline(const Group &group, pipeline_shared_state<scope, stages> *state,
                                             size_t producers, EMULATOR_SITE)
{
    return make_pipeline(group, state, producers, group.num_threads() - producers, __builtin_return_address(0), site);
}

template <typename Group, thread_scope scope, unsigned char stages>
EMULATOR_APART pipeline<scope> make_pipeline(const Group &group, pipeline_shared_state<scope, stages> *state,
                                             pipeline_role role, EMULATOR_SITE)
{
    const void *const caller = __builtin_return_address(0);
    const size_t producers = ::emulator::wait_at_barrier(role == pipeline_role::producer, site, caller);
    return make_pipeline(group, state, producers, group.num_threads() - producers, caller, site);
}

template <unsigned char groups_on_their_way>
void pipeline_consumer_wait_prior(pipeline<thread_scope_thread> &pipe)
{
    pipe.wait_prior(groups_on_their_way);
}

// By each thread of a group its part, or by the thread that calls it.
template <typename Group, typename Element, typename Count, thread_scope scope>
EMULATOR_APART void memcpy_async(const Group &group, Element *target, const Element *source, const Count &bytes,
                                 pipeline<scope> &pipe, EMULATOR_SITE)
{
    ::emulator::copy_by_group(group, target, source, size_t(bytes), ::emulator::known_alignment<Element>(bytes),
                              __builtin_return_address(0), site, pipe.landing());
}

template <typename Element, typename Count, thread_scope scope>
EMULATOR_APART void memcpy_async(Element *target, const Element *source, const Count &bytes, pipeline<scope> &pipe,
                                 EMULATOR_SITE)
{
    ::emulator::copy_by_group(::emulator::OneThread(), target, source, size_t(bytes),
                              ::emulator::known_alignment<Element>(bytes), __builtin_return_address(0), site,
                              pipe.landing());
}

} // namespace cuda
