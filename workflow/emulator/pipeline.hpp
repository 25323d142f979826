// libcu++'s pipeline of a thread, and cuda::memcpy_async by it. Those of a block need waits that the emulator lacks.
#pragma once

#include "copies.hpp"
#include "include/cuda_pipeline_primitives.h"

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread = 10 };

template <size_t alignment>
struct aligned_size_t {
    static constexpr size_t align = alignment;
    size_t value;

    explicit constexpr aligned_size_t(size_t value) : value(value) {}
    constexpr operator size_t() const { return value; }
};

template <thread_scope scope, unsigned char stages>
struct pipeline_shared_state {};

template <thread_scope scope>
class pipeline {
    static_assert(scope == thread_scope_thread, "cuda::pipeline of a block is a CUDA word that the emulator does not supply");

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

private:
    size_t committed_ = 0;
    size_t consumed_ = 0;
};

inline pipeline<thread_scope_thread> make_pipeline() { return {}; }

template <typename Group, thread_scope scope, unsigned char stages>
pipeline<scope> make_pipeline(const Group &, pipeline_shared_state<scope, stages> *)
{
    return {};
}

template <unsigned char groups_on_their_way>
void pipeline_consumer_wait_prior(pipeline<thread_scope_thread> &pipe)
{
    pipe.wait_prior(groups_on_their_way);
}

// By each thread of a group its part, or by the thread that calls it.
template <typename Group, typename Element, typename Count>
EMULATOR_APART void memcpy_async(const Group &group, Element *target, const Element *source, const Count &bytes,
                                 pipeline<thread_scope_thread> &, EMULATOR_SITE)
{
    const size_t known = ::emulator::known_alignment<Element>(bytes);
    ::emulator::copy_by_group(group, target, source, size_t(bytes), known, __builtin_return_address(0),
                               site);
}

template <typename Element, typename Count>
EMULATOR_APART void memcpy_async(Element *target, const Element *source, const Count &bytes,
                                 pipeline<thread_scope_thread> &, EMULATOR_SITE)
{
    const size_t known = ::emulator::known_alignment<Element>(bytes);
    ::emulator::copy_by_group(::emulator::OneThread(), target, source, size_t(bytes), known, __builtin_return_address(0),
                               site);
}

} // namespace cuda
