// CUDA's commonest words on threads of the system, for g++'s sanitizers: a thread of a block is a thread, and blocks run
// one after another. What is missing here makes a file of kernels fail to compile.
#pragma once

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(bytes) __attribute__((aligned(bytes)))
#define t int(threadIdx.x)
#define i int(blockIdx.x * 64 + threadIdx.x)

struct Place {
    unsigned x, y, z;
};
static thread_local Place threadIdx;
static Place blockIdx;
static const Place blockDim = {64, 1, 1}, gridDim = {2, 1, 1};
static pthread_barrier_t of_block, of_warp[2];
static long long in_exchange[64];

static void __syncthreads() { pthread_barrier_wait(&of_block); }
static void __syncwarp(unsigned = ~0u) { pthread_barrier_wait(&of_warp[threadIdx.x / 32]); }
static void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static void __threadfence_block() { __threadfence(); }

template <typename Value> Value shuffled(Value value, int lane)
{
    Value result;
    memcpy(&in_exchange[t], &value, sizeof value);
    __syncwarp();
    memcpy(&result, &in_exchange[t / 32 * 32 + (lane >= 0 && lane < 32 ? lane : t % 32)], sizeof value);
    __syncwarp();
    return result;
}
template <typename Value> Value __shfl_down_sync(unsigned, Value value, int by) { return shuffled(value, t % 32 + by); }
template <typename Value> Value __shfl_up_sync(unsigned, Value value, int by) { return shuffled(value, t % 32 - by); }
template <typename Value> Value __shfl_xor_sync(unsigned, Value value, int by) { return shuffled(value, t % 32 ^ by); }
template <typename Value> Value __shfl_sync(unsigned, Value value, int lane) { return shuffled(value, lane); }
static unsigned __ballot_sync(unsigned, bool holds)
{
    unsigned lanes = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        lanes |= unsigned(shuffled(int(holds), lane)) << lane;
    return lanes;
}
static bool __any_sync(unsigned mask, bool holds) { return __ballot_sync(mask, holds) != 0; }
static bool __all_sync(unsigned mask, bool holds) { return ~__ballot_sync(mask, holds) == 0; }
static int __reduce_add_sync(unsigned, int value)
{
    int sum = 0;
    for (int lane = 0; lane < 32; ++lane)
        sum += shuffled(value, lane);
    return sum;
}
static int __popc(unsigned bits) { return __builtin_popcount(bits); }
static int __ffs(unsigned bits) { return __builtin_ffs(int(bits)); }
template <typename Value> Value min(Value one, Value other) { return other < one ? other : one; }
template <typename Value> Value max(Value one, Value other) { return one < other ? other : one; }
template <typename Value> Value __ldg(const Value *at) { return *at; }
struct int4 {
    int x, y, z, w;
};

template <typename Value> Value atomicAdd(Value *at, Value value) { return __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
template <typename Value> Value atomicSub(Value *at, Value value) { return __atomic_fetch_sub(at, value, __ATOMIC_RELAXED); }
template <typename Value> Value atomicOr(Value *at, Value value) { return __atomic_fetch_or(at, value, __ATOMIC_RELAXED); }
template <typename Value> Value atomicExch(Value *at, Value value) { return __atomic_exchange_n(at, value, __ATOMIC_RELAXED); }
template <typename Value>
Value atomicCAS(Value *at, Value expected, Value value)
{
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
template <typename Value, typename Chosen> Value replaced(Value *at, Chosen chosen)
{
    Value old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(at, &old, chosen(old), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    return old;
}
template <typename Value> Value atomicMax(Value *at, Value value)
{
    return replaced(at, [value](Value old) { return max(old, value); });
}
template <typename Value> Value atomicMin(Value *at, Value value)
{
    return replaced(at, [value](Value old) { return min(old, value); });
}

// Runs a kernel, on arrays of 256 elements of which nothing has set the second.
template <typename Kernel>
int run(Kernel kernel)
{
    static int *x, *y, *z;
    static Kernel of_all;
    x = static_cast<int *>(malloc(1024)), y = static_cast<int *>(malloc(1024)), z = static_cast<int *>(calloc(256, 4));
    for (int at = 0; at < 256; ++at)
        x[at] = at * 37 % 100;
    of_all = kernel;
    pthread_barrier_init(&of_block, nullptr, 64);
    for (pthread_barrier_t &warp : of_warp)
        pthread_barrier_init(&warp, nullptr, 32);
    for (blockIdx.x = 0; blockIdx.x < 2; ++blockIdx.x) {
        pthread_t threads[64];
        for (size_t at = 0; at < 64; ++at)
            pthread_create(&threads[at], nullptr, [](void *index) -> void * {
                threadIdx = {unsigned(size_t(index)), 0, 0};
                of_all(x, y, z);
                return nullptr;
            }, reinterpret_cast<void *>(at));
        for (pthread_t thread : threads)
            pthread_join(thread, nullptr);
    }
    return 0;
}
