// libcu++'s cuda::atomic and cuda::atomic_ref: atomic functions with an order, which is that of the fences around them.
#pragma once

#include "atomics.hpp"
#include "scopes.hpp"

#include <atomic> // the names of the orders
#include <type_traits>

namespace cuda {

using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;

EMULATOR_APART void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system)
{
    if (order != memory_order_relaxed && scope != thread_scope_thread)
        ::emulator::counting::observe_fence(scope != thread_scope_block);
}

} // namespace cuda

namespace emulator {

// Replaces *address by update(*address); returns the previous value.
template <cuda::thread_scope scope, typename Value, typename Update>
EMULATOR_UNCOUNTED Value change(Value *address, Update update, ::std::memory_order order, const void *caller, Site site)
{
    if (order != ::std::memory_order_acquire && order != ::std::memory_order_consume)
        cuda::atomic_thread_fence(order, scope);
    observe_atomic(address, scope == cuda::thread_scope_block, caller, site);
    const Value old = *address; // One thread runs at a time.
    const Value updated = update(old);
    if (__builtin_memcmp(&updated, &old, sizeof old) != 0)
        *address = updated;
    if (order != ::std::memory_order_release)
        cuda::atomic_thread_fence(order, scope);
    return old;
}

// A store, which is atomic to others, and reads nothing.
template <cuda::thread_scope scope, typename Value>
EMULATOR_UNCOUNTED void assign(Value *address, Value value, ::std::memory_order order, const void *caller, Site site)
{
    cuda::atomic_thread_fence(order, scope);
    observe_atomic(address, scope == cuda::thread_scope_block, caller, site, true);
    *address = value;
}

} // namespace emulator

namespace cuda {

#define EMULATOR_CHANGE(updated)                                                                                       \
    ::emulator::change<scope>(this->address(), [&](Value old) EMULATOR_UNCOUNTED -> Value { return updated; }, order,  \
                              __builtin_return_address(0), site)
#define EMULATOR_OPERATOR(name, parameter, updated, result)                                                            \
    EMULATOR_APART name(parameter) const                                                                               \
    {                                                                                                                  \
        const memory_order order = memory_order_seq_cst;                                                               \
        const ::emulator::Site site = {__FILE__, __LINE__, 0};                                                         \
        [[maybe_unused]] const Value old = EMULATOR_CHANGE(updated);                                                   \
        return result;                                                                                                 \
    }
#define EMULATOR_FETCH(name, updated)                                                                                  \
    EMULATOR_APART Value name(Value value, memory_order order = memory_order_seq_cst, EMULATOR_SITE) const             \
    {                                                                                                                  \
        return EMULATOR_CHANGE(updated);                                                                               \
    }

// What both have; `Of` says where the value is.
template <typename Of, typename Value, thread_scope scope>
class atomic_functions {
    static_assert(::std::is_trivially_copyable_v<Value> && sizeof(Value) <= 8 && (sizeof(Value) & (sizeof(Value) - 1)) == 0,
                  "an atomic of more than 8 bytes" EMULATOR_NOT_SUPPLIED);

public:
    using value_type = Value;

    EMULATOR_APART Value load(memory_order order = memory_order_seq_cst, EMULATOR_SITE) const
    {
        return EMULATOR_CHANGE(old);
    }
    EMULATOR_APART void store(Value value, memory_order order = memory_order_seq_cst, EMULATOR_SITE) const
    {
        ::emulator::assign<scope>(this->address(), value, order, __builtin_return_address(0), site);
    }
    EMULATOR_FETCH(exchange, (static_cast<void>(old), value))
    EMULATOR_FETCH(fetch_add, Value(old + value))
    EMULATOR_FETCH(fetch_sub, Value(old - value))
    EMULATOR_FETCH(fetch_and, Value(old & value))
    EMULATOR_FETCH(fetch_or, Value(old | value))
    EMULATOR_FETCH(fetch_xor, Value(old ^ value))
    EMULATOR_FETCH(fetch_min, value < old ? value : old)
    EMULATOR_FETCH(fetch_max, old < value ? value : old)
    EMULATOR_APART bool compare_exchange_strong(Value &expected, Value value, memory_order order = memory_order_seq_cst,
                                                EMULATOR_SITE) const
    {
        const Value wanted = expected;
        expected = EMULATOR_CHANGE(__builtin_memcmp(&old, &wanted, sizeof old) == 0 ? value : old);
        return __builtin_memcmp(&expected, &wanted, sizeof wanted) == 0;
    }
    EMULATOR_APART bool compare_exchange_strong(Value &expected, Value value, memory_order order, memory_order,
                                                EMULATOR_SITE) const
    {
        return compare_exchange_strong(expected, value, order, site);
    }
    EMULATOR_APART bool compare_exchange_weak(Value &expected, Value value, memory_order order = memory_order_seq_cst,
                                              EMULATOR_SITE) const
    {
        return compare_exchange_strong(expected, value, order, site);
    }
    EMULATOR_APART bool compare_exchange_weak(Value &expected, Value value, memory_order order, memory_order,
                                              EMULATOR_SITE) const
    {
        return compare_exchange_strong(expected, value, order, site);
    }
    // A thread waits in a loop, as others do.
    EMULATOR_APART void wait(Value old_value, memory_order order = memory_order_seq_cst, EMULATOR_SITE) const
    {
        for (Value now = old_value; __builtin_memcmp(&now, &old_value, sizeof now) == 0;)
            now = EMULATOR_CHANGE(old);
    }
    static void notify_one() {}
    static void notify_all() {}

    // Operators have no place for a Site.
    EMULATOR_OPERATOR(operator Value, , old, old)
    EMULATOR_OPERATOR(Value operator++, , Value(old + 1), Value(old + 1))
    EMULATOR_OPERATOR(Value operator--, , Value(old - 1), Value(old - 1))
    EMULATOR_OPERATOR(Value operator++, int, Value(old + 1), old)
    EMULATOR_OPERATOR(Value operator--, int, Value(old - 1), old)
    EMULATOR_OPERATOR(Value operator+=, Value value, Value(old + value), Value(old + value))
    EMULATOR_OPERATOR(Value operator-=, Value value, Value(old - value), Value(old - value))
    EMULATOR_OPERATOR(Value operator&=, Value value, Value(old & value), Value(old & value))
    EMULATOR_OPERATOR(Value operator|=, Value value, Value(old | value), Value(old | value))
    EMULATOR_OPERATOR(Value operator^=, Value value, Value(old ^ value), Value(old ^ value))

protected:
    Value *address() const { return const_cast<Value *>(static_cast<const Of *>(this)->place()); }
};

#undef EMULATOR_OPERATOR
#undef EMULATOR_FETCH

#define EMULATOR_ASSIGNMENT(qualifier)                                                                                 \
    EMULATOR_APART Value operator=(Value value) qualifier                                                              \
    {                                                                                                                  \
        ::emulator::assign<scope>(this->address(), value, memory_order_seq_cst, __builtin_return_address(0),           \
                                  {__FILE__, __LINE__, 0});                                                            \
        return value;                                                                                                  \
    }

template <typename Value, thread_scope scope = thread_scope_system>
class atomic : public atomic_functions<atomic<Value, scope>, Value, scope> {
public:
    atomic() = default;
    constexpr atomic(Value value) : value_(value) {}
    atomic(const atomic &) = delete;
    atomic &operator=(const atomic &) = delete;
    EMULATOR_ASSIGNMENT()

    const Value *place() const { return &value_; }

private:
    alignas(sizeof(Value)) Value value_;
};

template <typename Value, thread_scope scope = thread_scope_system>
class atomic_ref : public atomic_functions<atomic_ref<Value, scope>, Value, scope> {
public:
    explicit atomic_ref(Value &value) : place_(&value) {}
    atomic_ref(const atomic_ref &) = default;
    atomic_ref &operator=(const atomic_ref &) = delete;
    EMULATOR_ASSIGNMENT(const)

    const Value *place() const { return place_; }

private:
    Value *place_;
};

#undef EMULATOR_ASSIGNMENT
#undef EMULATOR_CHANGE

namespace std {

template <typename Value> using atomic = ::cuda::atomic<Value>;
template <typename Value> using atomic_ref = ::cuda::atomic_ref<Value>;

} // namespace std
} // namespace cuda
