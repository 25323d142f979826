// Atomic functions, which call the processor's: for the device, for a block (_block), or for the system (_system).
#pragma once

#include "block.hpp"

#include <string.h>

namespace emulator {

// Replaces *address by update(*address) in one step; returns the previous value.
template <typename Value, typename Update>
EMULATOR_APART Value update_atomically(Value *address, Update update)
{
    Value old;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    for (;;) {
        Value updated = update(old);
        if (__atomic_compare_exchange(address, &old, &updated, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return old;
    }
}

template <typename Value>
EMULATOR_APART void observe_atomic(const Value *address, bool is_of_block, const void *caller, Site site, bool is_store = false)
{
    if (__builtin_expect(uintptr_t(address) % sizeof(Value) != 0, 0))
        fail_misaligned(this_worker(), "the operand of an atomic function", sizeof(Value), site);
    counting::observe_atomic(address, sizeof(Value), is_of_block, caller, is_store);
}

// Adds each element of a vector by itself.
template <typename Vector, unsigned elements>
EMULATOR_APART Vector add_elements(Vector *address, Vector value, const void *caller, Site site)
{
    if (__builtin_expect(uintptr_t(address) % sizeof(Vector) != 0, 0))
        fail_misaligned(this_worker(), "the operand of an atomic function", sizeof(Vector), site);
    Vector old;
    for (unsigned i = 0; i < elements; ++i) {
        float *const element = &address->x + i, added = *(&value.x + i);
        observe_atomic(element, false, caller, site);
        *(&old.x + i) = update_atomically(element, [added](float before) { return before + added; });
    }
    return old;
}

} // namespace emulator

#define EMULATOR_SCOPES(define, function, ...)                                                                         \
    define(function, false, __VA_ARGS__)                                                                               \
    define(function##_system, false, __VA_ARGS__)                                                                      \
    define(function##_block, true, __VA_ARGS__)
#define EMULATOR_ATOMIC(...) EMULATOR_SCOPES(EMULATOR_ATOMIC_OF_SCOPE, __VA_ARGS__)
#define EMULATOR_ATOMIC_OF_SCOPE(function, is_of_block, Value, updated)                                                \
    EMULATOR_APART Value function(Value *address, Value value, EMULATOR_SITE)                                          \
    {                                                                                                                  \
        emulator::observe_atomic(address, is_of_block, __builtin_return_address(0), site);                             \
        return emulator::update_atomically(address, [value](Value old) -> Value { return updated; });                  \
    }
#define EMULATOR_INTEGER_ATOMIC(...) EMULATOR_SCOPES(EMULATOR_INTEGER_ATOMIC_OF_SCOPE, __VA_ARGS__)
#define EMULATOR_INTEGER_ATOMIC_OF_SCOPE(function, is_of_block, Value, builtin)                                        \
    EMULATOR_APART Value function(Value *address, Value value, EMULATOR_SITE)                                          \
    {                                                                                                                  \
        emulator::observe_atomic(address, is_of_block, __builtin_return_address(0), site);                             \
        return builtin(address, value, __ATOMIC_RELAXED);                                                              \
    }
#define EMULATOR_INTEGER_ATOMICS(Value)                                                                                \
    EMULATOR_INTEGER_ATOMIC(atomicAdd, Value, __atomic_fetch_add)                                                      \
    EMULATOR_INTEGER_ATOMIC(atomicAnd, Value, __atomic_fetch_and)                                                      \
    EMULATOR_INTEGER_ATOMIC(atomicOr, Value, __atomic_fetch_or)                                                        \
    EMULATOR_INTEGER_ATOMIC(atomicXor, Value, __atomic_fetch_xor)                                                      \
    EMULATOR_INTEGER_ATOMIC(atomicExch, Value, __atomic_exchange_n)                                                    \
    EMULATOR_ATOMIC(atomicMin, Value, value < old ? value : old)                                                       \
    EMULATOR_ATOMIC(atomicMax, Value, old < value ? value : old)                                                       \
    EMULATOR_COMPARE_AND_SWAP(atomicCAS, Value)
#define EMULATOR_COMPARE_AND_SWAP(...) EMULATOR_SCOPES(EMULATOR_COMPARE_AND_SWAP_OF_SCOPE, __VA_ARGS__)
#define EMULATOR_COMPARE_AND_SWAP_OF_SCOPE(function, is_of_block, Value)                                               \
    EMULATOR_APART Value function(Value *address, Value compare, Value value, EMULATOR_SITE)                           \
    {                                                                                                                  \
        emulator::observe_atomic(address, is_of_block, __builtin_return_address(0), site);                             \
        __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);              \
        return compare;                                                                                                \
    }

EMULATOR_INTEGER_ATOMICS(int)
EMULATOR_INTEGER_ATOMICS(unsigned)
EMULATOR_INTEGER_ATOMICS(unsigned long long)
EMULATOR_COMPARE_AND_SWAP(atomicCAS, unsigned short)
EMULATOR_INTEGER_ATOMIC(atomicSub, int, __atomic_fetch_sub)
EMULATOR_INTEGER_ATOMIC(atomicSub, unsigned, __atomic_fetch_sub)
EMULATOR_ATOMIC(atomicMin, long long, value < old ? value : old)
EMULATOR_ATOMIC(atomicMax, long long, old < value ? value : old)
EMULATOR_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
EMULATOR_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
EMULATOR_ATOMIC(atomicAdd, float, old + value)
EMULATOR_ATOMIC(atomicAdd, double, old + value)

EMULATOR_ATOMIC(atomicExch, float, (static_cast<void>(old), value))

// Of vectors, each element by itself.
EMULATOR_APART float2 atomicAdd(float2 *address, float2 value, EMULATOR_SITE)
{
    return emulator::add_elements<float2, 2>(address, value, __builtin_return_address(0), site);
}
EMULATOR_APART float4 atomicAdd(float4 *address, float4 value, EMULATOR_SITE)
{
    return emulator::add_elements<float4, 4>(address, value, __builtin_return_address(0), site);
}

EMULATOR_APART void __threadfence()
{
    emulator::counting::observe_fence(true);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

EMULATOR_APART void __threadfence_block()
{
    emulator::counting::observe_fence(false);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

EMULATOR_APART void __threadfence_system()
{
    emulator::counting::observe_fence(true);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#undef EMULATOR_INTEGER_ATOMIC
#undef EMULATOR_INTEGER_ATOMICS
#undef EMULATOR_COMPARE_AND_SWAP
