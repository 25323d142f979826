// The words of CUDA C++ that a kernel's source uses: specifiers, built-in variables, loads and stores, clocks.
// Barriers and warp-level functions are in warp.hpp, atomic functions in atomics.hpp, arithmetic in arithmetic.hpp.
#pragma once

#include "block.hpp"

// With whatever it calls in one, as nvcc does: a function's accesses are told apart by where it was called.
#define __global__ __attribute__((flatten))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
// Nothing, as the standard library has __attribute__((__noinline__)) in its headers.
#define __noinline__
// As many no-operations before the function's entry as a block of it may have threads, which a launch counts.
#define __launch_bounds__(...)                                                                                         \
    __attribute__((patchable_function_entry(::emulator::launch_bound(__VA_ARGS__), ::emulator::launch_bound(__VA_ARGS__))))
#define __maxnreg__(...)
#define __builtin_assume(condition) static_cast<void>(0)
#define __cluster_dims__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
// One for each core that runs blocks, one block at a time: thread-local. Inside a function that implies static, and
// `extern __shared__ T name[]` stays a declaration, whose definition the linking step adds.
#define __shared__ thread_local

// nvcc takes `__shared__ alignas(128)`, in which g++ takes an attribute alone.
#define alignas(...) __attribute__((aligned(::emulator::alignment<__VA_ARGS__>())))

namespace emulator {

template <typename Threads, typename... Others>
constexpr int launch_bound(Threads threads, Others...) { return int(threads); }

template <size_t bytes> constexpr size_t alignment() { return bytes; }
template <typename Type> constexpr size_t alignment() { return alignof(Type); }

} // namespace emulator

// Macros, so that they are members of a struct without being variables: the stack pointer says whose they are.
#define threadIdx (::emulator::thread_index())
#define blockIdx (::emulator::block_index())
#define blockDim (::emulator::block_size())
#define gridDim (::emulator::grid_size())

namespace emulator {

EMULATOR_APART const uint3 &thread_index() { return this_worker().current->index_in_block; }
EMULATOR_APART const uint3 &block_index() { return this_worker().block_index; }
EMULATOR_APART const dim3 &block_size() { return this_worker().block_size; }
EMULATOR_APART const dim3 &grid_size() { return this_worker().grid_size; }

template <typename Value>
EMULATOR_APART void observe_word(const Value *address, const char *word, bool is_store, const void *caller, Site site)
{
    if (__builtin_expect(uintptr_t(address) % alignof(Value) != 0, 0))
        fail_misaligned(this_worker(), word, alignof(Value), site);
    counting::observe_word(address, sizeof(Value), is_store, caller);
}

} // namespace emulator

// An address as instructions for shared memory take it.
EMULATOR_APART size_t __cvta_generic_to_shared(const void *address) { return emulator::counting::shared_offset(address); }
EMULATOR_APART void *__cvta_shared_to_generic(size_t offset) { return emulator::counting::shared_pointer(unsigned(offset)); }

// Types of the host's, as declarations name them that it shares with kernels.
using cudaStream_t = struct CUstream_st *;
using cudaEvent_t = struct CUevent_st *;
enum cudaError_t { cudaSuccess };

constexpr int warpSize = int(emulator::lanes_of_a_warp);

// Each launch begins once the one before it has ended, and its accesses are checked as if it had begun earlier.
EMULATOR_APART void cudaGridDependencySynchronize() { emulator::counting::observe_launch_wait(); }
EMULATOR_APART void cudaTriggerProgrammaticLaunchCompletion() { emulator::counting::observe_launch_trigger(); }

// Loads and stores with a word on caching, of which there is none here. What is said of them names the caller's line.
#define EMULATOR_LOAD(function)                                                                                        \
    template <typename Value>                                                                                          \
    EMULATOR_APART Value function(const Value *address, EMULATOR_SITE)                                                 \
    {                                                                                                                  \
        emulator::observe_word(address, #function, false, __builtin_return_address(0), site);                          \
        return *address;                                                                                               \
    }
EMULATOR_LOAD(__ldg)
EMULATOR_LOAD(__ldca)
EMULATOR_LOAD(__ldcg)
EMULATOR_LOAD(__ldcs)
EMULATOR_LOAD(__ldlu)
EMULATOR_LOAD(__ldcv)
#undef EMULATOR_LOAD
#define EMULATOR_STORE(function)                                                                                       \
    template <typename Value>                                                                                          \
    EMULATOR_APART void function(Value *address, Value value, EMULATOR_SITE)                                           \
    {                                                                                                                  \
        emulator::observe_word(address, #function, true, __builtin_return_address(0), site);                           \
        *address = value;                                                                                              \
    }
EMULATOR_STORE(__stwb)
EMULATOR_STORE(__stcg)
EMULATOR_STORE(__stcs)
EMULATOR_STORE(__stwt)
#undef EMULATOR_STORE

// Counts its own calls within the block: it rises, and is the same in every run.
EMULATOR_APART long long clock64() { return ++emulator::this_worker().clock; }

// The system sleeps for 50 microseconds at least: what asks for less goes on.
inline void __nanosleep(unsigned nanoseconds)
{
    if (nanoseconds >= 50000)
        usleep(nanoseconds / 1000);
}

// Ends the kernel with an error, which names the thread.
__attribute__((noreturn)) EMULATOR_COLD inline void __trap()
{
    emulator::Worker &worker = emulator::this_worker();
    emulator::fail(worker, emulator::Failure::other, "%s called __trap()",
                   emulator::ThreadName(worker, *worker.current).text);
}

// What assert does where its condition does not hold.
namespace emulator {

__attribute__((noreturn)) EMULATOR_COLD inline void fail_assertion(const char *condition, const char *file, int line)
{
    Worker &worker = this_worker();
    fail(worker, Failure::other, "%s failed an assertion at %s:%d: %s", ThreadName(worker, *worker.current).text, file,
         line, condition);
}

} // namespace emulator
