// Warp-level exchanges, votes, reductions and matches: what each lane brings, and what the last to arrive makes of it.
#pragma once

#include "block.hpp"

namespace emulator {

// A value of up to eight bytes as a lane brings it, and back.
template <typename Value>
EMULATOR_APART uint64_t to_bits(Value value)
{
    static_assert(sizeof(Value) <= sizeof(uint64_t), "lanes exchange values of up to 8 bytes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

template <typename Value>
EMULATOR_APART Value from_bits(uint64_t bits)
{
    Value value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

// The types CUDA shuffles; smaller integers are promoted to int, as by its overloads.
template <typename Value> struct Shuffled;
template <> struct Shuffled<int> { using Type = int; };
template <> struct Shuffled<unsigned> { using Type = unsigned; };
template <> struct Shuffled<long> { using Type = long; };
template <> struct Shuffled<unsigned long> { using Type = unsigned long; };
template <> struct Shuffled<long long> { using Type = long long; };
template <> struct Shuffled<unsigned long long> { using Type = unsigned long long; };
template <> struct Shuffled<float> { using Type = float; };
template <> struct Shuffled<double> { using Type = double; };
template <typename Value> using ShuffledType = typename Shuffled<decltype(+Value())>::Type;

// Every lane takes its source lane's value. CUDA leaves open what it gets from a lane that takes no part: one that the
// mask does not name, that has ended, or that the block does not have.
inline void take_from_source(Thread *warp, Lanes lanes)
{
    uint64_t brought[lanes_of_a_warp];
    for (Lanes rest = lanes; rest != 0; rest &= rest - 1)
        brought[first_of(rest)] = warp[first_of(rest)].value;
    for (Lanes rest = lanes; rest != 0; rest &= rest - 1) {
        Thread &thread = warp[first_of(rest)];
        if (lanes >> thread.source_lane & 1)
            thread.value = brought[thread.source_lane];
        else
            thread.value =
                counting::read_inactive_lane(thread.index, unsigned(thread.source_lane), thread.site, thread.value);
    }
}

inline void give_to_all(Thread *warp, Lanes lanes, uint64_t value)
{
    for (Lanes rest = lanes; rest != 0; rest &= rest - 1)
        warp[first_of(rest)].value = value;
}

template <typename Value, Value (*combine)(Value, Value)>
void reduce_lanes(Thread *warp, Lanes lanes)
{
    Value result = from_bits<Value>(warp[first_of(lanes)].value);
    for (Lanes rest = lanes & (lanes - 1); rest != 0; rest &= rest - 1)
        result = combine(result, from_bits<Value>(warp[first_of(rest)].value));
    give_to_all(warp, lanes, to_bits(result));
}

inline void collect_votes(Thread *warp, Lanes lanes)
{
    uint64_t votes = 0;
    for (Lanes rest = lanes; rest != 0; rest &= rest - 1)
        votes |= uint64_t(warp[first_of(rest)].value != 0) << first_of(rest);
    give_to_all(warp, lanes, votes);
}

inline void match_values(Thread *warp, Lanes lanes)
{
    uint64_t brought[lanes_of_a_warp];
    for (Lanes rest = lanes; rest != 0; rest &= rest - 1)
        brought[first_of(rest)] = warp[first_of(rest)].value;
    for (Lanes rest = lanes; rest != 0; rest &= rest - 1) {
        uint64_t same = 0;
        for (Lanes other = lanes; other != 0; other &= other - 1)
            same |= uint64_t(brought[first_of(other)] == brought[first_of(rest)]) << first_of(other);
        warp[first_of(rest)].value = same;
    }
}

inline void match_all_values(Thread *warp, Lanes lanes)
{
    bool same = true;
    for (Lanes rest = lanes & (lanes - 1); rest != 0; rest &= rest - 1)
        same = same && warp[first_of(rest)].value == warp[first_of(lanes)].value;
    give_to_all(warp, lanes, same ? lanes : 0);
}

inline void only_wait(Thread *, Lanes) {}

inline void collect_active(Thread *warp, Lanes lanes) { give_to_all(warp, lanes, lanes); }

template <typename Value> Value sum_of(Value a, Value b) { return Value(unsigned(a) + unsigned(b)); }
template <typename Value> Value least_of(Value a, Value b) { return b < a ? b : a; }
template <typename Value> Value greatest_of(Value a, Value b) { return a < b ? b : a; }
inline unsigned and_of(unsigned a, unsigned b) { return a & b; }
inline unsigned or_of(unsigned a, unsigned b) { return a | b; }
inline unsigned xor_of(unsigned a, unsigned b) { return a ^ b; }

// An operation is told from another by its address: one for each name and type.
template <typename Value> inline constexpr WarpOperation shuffle{"__shfl_sync", take_from_source};
template <typename Value> inline constexpr WarpOperation shuffle_up{"__shfl_up_sync", take_from_source};
template <typename Value> inline constexpr WarpOperation shuffle_down{"__shfl_down_sync", take_from_source};
template <typename Value> inline constexpr WarpOperation shuffle_xor{"__shfl_xor_sync", take_from_source};
template <typename Value> inline constexpr WarpOperation reduce_add{"__reduce_add_sync",
                                                                    reduce_lanes<Value, sum_of<Value>>};
template <typename Value> inline constexpr WarpOperation reduce_min{"__reduce_min_sync",
                                                                    reduce_lanes<Value, least_of<Value>>};
template <typename Value> inline constexpr WarpOperation reduce_max{"__reduce_max_sync",
                                                                    reduce_lanes<Value, greatest_of<Value>>};
template <typename Value> inline constexpr WarpOperation match_any{"__match_any_sync", match_values};
template <typename Value> inline constexpr WarpOperation match_all{"__match_all_sync", match_all_values};
inline constexpr WarpOperation reduce_and{"__reduce_and_sync", reduce_lanes<unsigned, and_of>};
inline constexpr WarpOperation reduce_or{"__reduce_or_sync", reduce_lanes<unsigned, or_of>};
inline constexpr WarpOperation reduce_xor{"__reduce_xor_sync", reduce_lanes<unsigned, xor_of>};
inline constexpr WarpOperation ballot{"__ballot_sync", collect_votes};
inline constexpr WarpOperation vote_any{"__any_sync", collect_votes};
inline constexpr WarpOperation vote_all{"__all_sync", collect_votes};
inline constexpr WarpOperation synchronise{"__syncwarp", only_wait, true};
inline constexpr WarpOperation active_mask{"__activemask", collect_active, false, true};

EMULATOR_APART void check_width(int width, const char *name, Site site)
{
    Worker &worker = this_worker();
    if (__builtin_expect(width < 1 || width > int(lanes_of_a_warp) || (width & (width - 1)) != 0, 0))
        fail(worker, Failure::other,
             "%s calls %s at %s:%d with a width of %d, where CUDA allows a power of two up to 32",
             ThreadName(worker, *worker.current).text, name, site.file, site.line, width);
}

// The source lanes, as the PTX manual defines shfl.sync. `width` cuts the warp into segments; a lane whose source lies
// outside keeps its own value, save that an xor may reach into earlier segments.
EMULATOR_APART int own_lane() { return int(this_worker().current->index % lanes_of_a_warp); }

EMULATOR_APART int indexed_lane(int source, int width)
{
    return (own_lane() & ~(width - 1)) | (source & (width - 1));
}

EMULATOR_APART int lane_above(unsigned delta, int width)
{
    const int lane = own_lane();
    const int source = lane - int(delta & (lanes_of_a_warp - 1));
    return source >= (lane & ~(width - 1)) ? source : lane;
}

EMULATOR_APART int lane_below(unsigned delta, int width)
{
    const int lane = own_lane();
    const int source = lane + int(delta & (lanes_of_a_warp - 1));
    return source <= (lane | (width - 1)) ? source : lane;
}

EMULATOR_APART int crossed_lane(int lane_mask, int width)
{
    const int lane = own_lane();
    const int source = lane ^ (lane_mask & int(lanes_of_a_warp - 1));
    return source <= (lane | (width - 1)) ? source : lane;
}

} // namespace emulator

#define EMULATOR_SHUFFLE(function, operation, Source, find_source)                                                     \
    template <typename Value>                                                                                          \
    EMULATOR_APART emulator::ShuffledType<Value> function(emulator::Lanes mask, Value value, Source source,            \
                                                          int width = int(emulator::lanes_of_a_warp), EMULATOR_SITE)   \
    {                                                                                                                  \
        using Shuffled = emulator::ShuffledType<Value>;                                                                \
        emulator::check_width(width, #function, site);                                                                 \
        return emulator::from_bits<Shuffled>(                                                                          \
            emulator::exchange_in_warp(emulator::operation<Shuffled>, mask, emulator::to_bits(Shuffled(value)),        \
                                       emulator::find_source(source, width), site));                                   \
    }

EMULATOR_SHUFFLE(__shfl_sync, shuffle, int, indexed_lane)
EMULATOR_SHUFFLE(__shfl_up_sync, shuffle_up, unsigned, lane_above)
EMULATOR_SHUFFLE(__shfl_down_sync, shuffle_down, unsigned, lane_below)
EMULATOR_SHUFFLE(__shfl_xor_sync, shuffle_xor, int, crossed_lane)

#define EMULATOR_WARP_REDUCTION(function, operation, Value)                                                            \
    EMULATOR_APART Value function(emulator::Lanes mask, Value value, EMULATOR_SITE)                                    \
    {                                                                                                                  \
        return emulator::from_bits<Value>(                                                                             \
            emulator::exchange_in_warp(emulator::operation, mask, emulator::to_bits(value), 0, site));                 \
    }

EMULATOR_WARP_REDUCTION(__reduce_add_sync, reduce_add<int>, int)
EMULATOR_WARP_REDUCTION(__reduce_add_sync, reduce_add<unsigned>, unsigned)
EMULATOR_WARP_REDUCTION(__reduce_min_sync, reduce_min<int>, int)
EMULATOR_WARP_REDUCTION(__reduce_min_sync, reduce_min<unsigned>, unsigned)
EMULATOR_WARP_REDUCTION(__reduce_max_sync, reduce_max<int>, int)
EMULATOR_WARP_REDUCTION(__reduce_max_sync, reduce_max<unsigned>, unsigned)
EMULATOR_WARP_REDUCTION(__reduce_and_sync, reduce_and, unsigned)
EMULATOR_WARP_REDUCTION(__reduce_or_sync, reduce_or, unsigned)
EMULATOR_WARP_REDUCTION(__reduce_xor_sync, reduce_xor, unsigned)

EMULATOR_APART emulator::Lanes __ballot_sync(emulator::Lanes mask, int predicate, EMULATOR_SITE)
{
    return emulator::Lanes(emulator::exchange_in_warp(emulator::ballot, mask, predicate != 0, 0, site));
}

EMULATOR_APART int __any_sync(emulator::Lanes mask, int predicate, EMULATOR_SITE)
{
    return emulator::exchange_in_warp(emulator::vote_any, mask, predicate != 0, 0, site) != 0;
}

EMULATOR_APART int __all_sync(emulator::Lanes mask, int predicate, EMULATOR_SITE)
{
    // Counted by the votes against.
    return emulator::exchange_in_warp(emulator::vote_all, mask, predicate == 0, 0, site) == 0;
}

// The mask if all its lanes bring the same value, else 0.
template <typename Value>
EMULATOR_APART emulator::Lanes __match_all_sync(emulator::Lanes mask, Value value, int *are_same, EMULATOR_SITE)
{
    using Shuffled = emulator::ShuffledType<Value>;
    const uint64_t same = emulator::exchange_in_warp(emulator::match_all<Shuffled>, mask,
                                                     emulator::to_bits(Shuffled(value)), 0, site);
    *are_same = same != 0;
    return emulator::Lanes(same);
}

template <typename Value>
EMULATOR_APART emulator::Lanes __match_any_sync(emulator::Lanes mask, Value value, EMULATOR_SITE)
{
    using Shuffled = emulator::ShuffledType<Value>;
    return emulator::Lanes(emulator::exchange_in_warp(emulator::match_any<Shuffled>, mask, emulator::to_bits(Shuffled(value)),
                                               0, site));
}

EMULATOR_APART void __syncwarp(emulator::Lanes mask = emulator::all_lanes, EMULATOR_SITE)
{
    emulator::exchange_in_warp(emulator::synchronise, mask, 0, 0, site);
}

// CUDA does not promise that lanes run together. Here, all do that get here before they wait elsewhere.
EMULATOR_APART emulator::Lanes __activemask(EMULATOR_SITE)
{
    const emulator::Lanes own = emulator::only_lane(unsigned(emulator::own_lane()));
    return emulator::Lanes(emulator::exchange_in_warp(emulator::active_mask, own, 0, 0, site));
}

EMULATOR_APART void __syncthreads(EMULATOR_SITE)
{
    emulator::wait_at_barrier(false, site, __builtin_return_address(0));
}

EMULATOR_APART int __syncthreads_count(int predicate, EMULATOR_SITE)
{
    return int(emulator::wait_at_barrier(predicate != 0, site, __builtin_return_address(0)));
}

EMULATOR_APART int __syncthreads_or(int predicate, EMULATOR_SITE)
{
    return emulator::wait_at_barrier(predicate != 0, site, __builtin_return_address(0)) != 0;
}

EMULATOR_APART int __syncthreads_and(int predicate, EMULATOR_SITE)
{
    return emulator::wait_at_barrier(predicate == 0, site, __builtin_return_address(0)) == 0;
}

#undef EMULATOR_SHUFFLE
#undef EMULATOR_WARP_REDUCTION
