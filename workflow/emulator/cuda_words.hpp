// The words of CUDA C++ that a kernel's source uses: specifiers, built-in variables, integer and arithmetic functions.
// Barriers and warp-level functions are in warp.hpp, atomic functions in atomics.hpp.
#pragma once

#include "block.hpp"

#include <math.h>

#if defined(__SANITIZE_THREAD__)
// Whatever it calls, as nvcc does: a function's accesses are told apart by where it was called.
#define __global__ __attribute__((flatten))
#else
#define __global__
#endif
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
// One for each core that runs blocks, one block at a time: thread-local. Inside a function that implies static, and
// `extern __shared__ T name[]` stays a declaration, whose definition the linking step adds.
#define __shared__ thread_local

// Macros, so that they are members of a struct without being variables: the stack pointer says whose they are.
#define threadIdx (::emulator::thread_index())
#define blockIdx (::emulator::block_index())
#define blockDim (::emulator::block_size())
#define gridDim (::emulator::grid_size())

namespace emulator {

EMULATOR_INLINE const uint3 &thread_index() { return this_worker().current->index_in_block; }
EMULATOR_INLINE const uint3 &block_index() { return this_worker().block_index; }
EMULATOR_INLINE const dim3 &block_size() { return this_worker().block_size; }
EMULATOR_INLINE const dim3 &grid_size() { return this_worker().grid_size; }

} // namespace emulator

constexpr int warpSize = 32;

inline int __popc(unsigned value) { return __builtin_popcount(value); }
inline int __popcll(unsigned long long value) { return __builtin_popcountll(value); }
inline int __clz(int value) { return value == 0 ? 32 : __builtin_clz(unsigned(value)); }
inline int __clzll(long long value) { return value == 0 ? 64 : __builtin_clzll((unsigned long long)(value)); }
inline int __ffs(int value) { return __builtin_ffs(value); }
inline int __ffsll(long long value) { return __builtin_ffsll(value); }

inline unsigned __brev(unsigned value)
{
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; ++bit)
        reversed |= (value >> bit & 1) << (31 - bit);
    return reversed;
}

// Loads with a word on caching, of which there is none here.
#define EMULATOR_LOAD(function)                                                                                        \
    template <typename Value>                                                                                          \
    inline Value function(const Value *address)                                                                        \
    {                                                                                                                  \
        return *address;                                                                                               \
    }
EMULATOR_LOAD(__ldg)
EMULATOR_LOAD(__ldca)
EMULATOR_LOAD(__ldcg)
EMULATOR_LOAD(__ldcs)
EMULATOR_LOAD(__ldlu)
EMULATOR_LOAD(__ldcv)
#undef EMULATOR_LOAD

// Ends the kernel with an error, which names the thread.
__attribute__((noreturn)) EMULATOR_COLD inline void __trap()
{
    emulator::Worker &worker = emulator::this_worker();
    emulator::fail(worker, "%s called __trap()", emulator::ThreadName(worker, *worker.current).text);
}

#define EMULATOR_MIN_MAX(Value)                                                                                        \
    inline Value min(Value a, Value b) { return b < a ? b : a; }                                                       \
    inline Value max(Value a, Value b) { return a < b ? b : a; }
EMULATOR_MIN_MAX(int)
EMULATOR_MIN_MAX(unsigned)
EMULATOR_MIN_MAX(long)
EMULATOR_MIN_MAX(unsigned long)
EMULATOR_MIN_MAX(long long)
EMULATOR_MIN_MAX(unsigned long long)
// As in CUDA, a number wins over a NaN.
inline float min(float a, float b) { return __builtin_fminf(a, b); }
inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
inline double min(double a, double b) { return __builtin_fmin(a, b); }
inline double max(double a, double b) { return __builtin_fmax(a, b); }
// Mixed signs compare as unsigned, as in C.
inline unsigned min(int a, unsigned b) { return min(unsigned(a), b); }
inline unsigned min(unsigned a, int b) { return min(a, unsigned(b)); }
inline unsigned max(int a, unsigned b) { return max(unsigned(a), b); }
inline unsigned max(unsigned a, int b) { return max(a, unsigned(b)); }
#undef EMULATOR_MIN_MAX
