// What the C++ calls that a kernel's inline assembly is translated to (cuda_emulator/ptx.py). Registers of any type are 64
// bits, of which an instruction takes those of its type. An address in shared memory has 32 bits, as on a GPU.
#pragma once

#include "emulator.hpp"
#include "include/cuda_pipeline_primitives.h"
#include "matrices.hpp"

#include <math.h>
#include <type_traits>

namespace emulator::ptx {

using Bits = uint64_t;

template <typename Value>
EMULATOR_APART Bits bits_of(Value value)
{
    Bits bits = 0;
    static_assert(sizeof value <= sizeof bits, "a register of more than 64 bits" EMULATOR_NOT_SUPPLIED);
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

template <typename Value>
EMULATOR_APART Value value_of(Bits bits)
{
    Value value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

inline constexpr Bits bits(Bits value) { return value; }
inline constexpr Bits mask(unsigned width) { return width >= 64 ? ~Bits(0) : (Bits(1) << width) - 1; }
EMULATOR_APART unsigned lane() { return this_worker().current->index % lanes_of_a_warp; }
EMULATOR_APART unsigned warp() { return this_worker().current->index / lanes_of_a_warp; }

EMULATOR_APART Bits to_shared(Bits address) { return counting::shared_offset(reinterpret_cast<const void *>(address)); }
EMULATOR_APART Bits from_shared(Bits offset) { return Bits(counting::shared_pointer(uint32_t(offset))); }
template <bool is_shared>
EMULATOR_APART char *pointer(Bits address)
{
    return reinterpret_cast<char *>(is_shared ? from_shared(address) : address);
}

// Of one to four values, as one access.
template <typename Value, unsigned count, bool is_atomic, bool is_of_block>
EMULATOR_APART void load(const char *address, Bits *values, EMULATOR_SITE)
{
    const void *const caller = __builtin_return_address(0);
    if (uintptr_t(address) % (sizeof(Value) * count) != 0)
        fail_misaligned(this_worker(), "ld", sizeof(Value) * count, site);
    if (is_atomic)
        counting::observe_atomic(address, sizeof(Value) * count, is_of_block, caller);
    else
        counting::observe_word(address, sizeof(Value) * count, false, caller);
    for (unsigned at = 0; at < count; ++at) {
        Value value;
        __builtin_memcpy(&value, address + at * sizeof value, sizeof value);
        values[at] = bits_of(value);
    }
}
template <typename Value, unsigned count, bool is_atomic, bool is_of_block>
EMULATOR_APART void store(char *address, const Bits *values, EMULATOR_SITE)
{
    const void *const caller = __builtin_return_address(0);
    if (uintptr_t(address) % (sizeof(Value) * count) != 0)
        fail_misaligned(this_worker(), "st", sizeof(Value) * count, site);
    if (is_atomic)
        counting::observe_atomic(address, sizeof(Value) * count, is_of_block, caller, true);
    else
        counting::observe_word(address, sizeof(Value) * count, true, caller);
    for (unsigned at = 0; at < count; ++at) {
        const Value value = value_of<Value>(values[at]);
        __builtin_memcpy(address + at * sizeof value, &value, sizeof value);
    }
}

struct Shuffled {
    uint32_t value;
    bool is_inside;
};

// `clamp` has the last lane of a segment in its low bits, and the segments' mask above.
EMULATOR_APART Shuffled shuffle(const char *how, Bits bits, Bits distance, Bits clamp, Bits lanes, EMULATOR_SITE)
{
    const unsigned value = unsigned(bits), by = unsigned(distance), of = lanes_of_a_warp - (unsigned(clamp) >> 8 & 31);
    const unsigned own = lane() % of;
    switch (how[0]) {
    case 'u':
        return {__shfl_up_sync(Lanes(lanes), value, by, int(of), site), own >= by};
    case 'd':
        return {__shfl_down_sync(Lanes(lanes), value, by, int(of), site), own + by < of};
    case 'b':
        return {__shfl_xor_sync(Lanes(lanes), value, int(by), int(of), site), (own ^ by) < of};
    default:
        return {__shfl_sync(Lanes(lanes), value, int(by), int(of), site), by < of};
    }
}

EMULATOR_APART void check_barrier(Bits number)
{
    if (number != 0)
        fail(this_worker(), Failure::not_supplied, "barrier %u of the block, by PTX, which the emulator does not supply",
             unsigned(number));
}

template <typename Value> Value fused(Value a, Value b, Value c) { return std::is_same_v<Value, double> ? fma(a, b, c) : fmaf(float(a), float(b), float(c)); }
template <typename Value>
Value reversed(Value value)
{
    Value result = 0;
    for (unsigned bit = 0; bit < 8 * sizeof value; ++bit)
        result = Value(result | (value >> bit & 1) << (8 * sizeof value - 1 - bit));
    return result;
}
template <typename Value>
uint32_t leading_zeros(Value value)
{
    uint32_t count = 0;
    while (count < 8 * sizeof value && (value >> (8 * sizeof value - 1 - count) & 1) == 0)
        ++count;
    return count;
}
// Shifts by more than there are bits leave none, or copies of the sign.
template <typename Value> Value shifted_left(Value value, uint32_t by) { return by >= 8 * sizeof value ? 0 : Value(value << by); }
template <typename Value>
Value shifted_right(Value value, uint32_t by)
{
    return Value(value >> (by >= 8 * sizeof value ? std::is_signed_v<Value> ? 8 * sizeof value - 1 : 0 : by)) *
           Value(by < 8 * sizeof value || std::is_signed_v<Value>);
}

inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t result = 0;
    for (unsigned row = 0; row < 8; ++row)
        if (table >> row & 1)
            result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    return result;
}
inline uint32_t prmt(uint32_t a, uint32_t b, uint32_t selectors)
{
    const uint64_t both = uint64_t(b) << 32 | a;
    uint32_t result = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
        const unsigned selector = selectors >> 4 * byte & 15;
        uint32_t chosen = uint32_t(both >> 8 * (selector & 7)) & 0xff;
        if (selector & 8)
            chosen = chosen >> 7 != 0 ? 0xff : 0;
        result |= chosen << 8 * byte;
    }
    return result;
}
template <typename Value>
Bits field(Bits value, Bits first, Bits length)
{
    first &= 0xff, length &= 0xff;
    const unsigned width = 8 * sizeof(Value);
    if (length == 0 || (first >= width && !std::is_signed_v<Value>))
        return 0;
    const Bits all = std::is_signed_v<Value> ? Bits(int64_t(value_of<Value>(value))) : Bits(value_of<Value>(value));
    const unsigned last = first + length - 1 < width - 1 ? unsigned(first + length - 1) : width - 1;
    const Bits kept = first >= width ? 0 : all >> first & mask(last + 1 - unsigned(first));
    const bool is_negative = std::is_signed_v<Value> && (all >> last & 1);
    return (is_negative ? kept | ~mask(first >= width ? 0 : last + 1 - unsigned(first)) : kept) & mask(width);
}
inline Bits inserted(Bits field, Bits value, Bits first, Bits length)
{
    first &= 0xff, length &= 0xff;
    const Bits place = first >= 64 ? 0 : mask(unsigned(length)) << first;
    return (value & ~place) | (first >= 64 ? 0 : field << first & place);
}
template <bool is_left, bool clamps>
uint32_t funnel(uint32_t low, uint32_t high, uint32_t by)
{
    const uint64_t both = uint64_t(high) << 32 | low;
    by = clamps ? by < 32 ? by : 32 : by & 31;
    return is_left ? uint32_t((by == 0 ? both : both << by) >> 32) : uint32_t(both >> by);
}

// A float becomes an integer as its rounding says, within the integer's limits; NaN becomes 0.
template <typename To, typename From>
Bits converted(Bits bits, const char *rounding)
{
    const From from = value_of<From>(bits);
    if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        const double value = rounding[1] == 'z' ? trunc(from) : rounding[1] == 'm' ? floor(from) : rounding[1] == 'p' ? ceil(from) : rint(from);
        const double least = std::is_signed_v<To> ? -ldexp(1, 8 * sizeof(To) - 1) : 0;
        const double most = ldexp(1, 8 * sizeof(To) - std::is_signed_v<To>);
        const To largest = To(mask(8 * sizeof(To) - std::is_signed_v<To>));
        return bits_of(value != value ? To(0) : value >= most ? largest : value <= least ? To(least) : To(value));
    } else {
        return bits_of(To(from));
    }
}

// mma.sync of 16 x 8 results, of registers with 32 bits each.
template <typename A, typename B, typename C, typename Result, unsigned k, unsigned a_count, unsigned b_count, unsigned c_count, unsigned count>
EMULATOR_APART void multiply(const Bits (&of_a)[a_count], const Bits (&of_b)[b_count], const Bits (&of_c)[c_count],
                             Bits (&into)[count], EMULATOR_SITE)
{
    static_assert(a_count == 4 * k * sizeof(A) / 32 && b_count * 2 == a_count && c_count == sizeof(C) && count == sizeof(Result),
                  "mma.sync with so many registers" EMULATOR_NOT_SUPPLIED);
    uint32_t a[a_count], b[b_count], c[c_count], result[count];
    for (unsigned at = 0; at < a_count; ++at)
        a[at] = uint32_t(of_a[at]);
    for (unsigned at = 0; at < b_count; ++at)
        b[at] = uint32_t(of_b[at]);
    for (unsigned at = 0; at < c_count; ++at)
        c[at] = uint32_t(of_c[at]);
    const Multiplied given = {a, b, c, result};
    with_whole_warp<multiplication<InRegisters, A, B, C, Result, 16, 8, k>>(uint64_t(&given), site);
    for (unsigned at = 0; at < count; ++at)
        into[at] = result[at];
}

inline constexpr WarpOperation matrix_load{"ldmatrix", only_wait};

// ldmatrix: the lanes' addresses are those of the rows of 8 x 8 elements of 16 bits; a lane gets two of each matrix.
template <unsigned count>
EMULATOR_APART void load_matrices(const char *address, bool is_transposed, Bits (&values)[count], EMULATOR_SITE)
{
    const void *const caller = __builtin_return_address(0);
    if (lane() < 8 * count) {
        if (uintptr_t(address) % 16 != 0)
            fail_misaligned(this_worker(), "ldmatrix", 16, site);
        counting::observe_word(address, 16, false, caller);
    }
    with_whole_warp<matrix_load>(uint64_t(address), site);
    const Thread *const warp = this_worker().running_warp;
    for (unsigned matrix = 0; matrix < count; ++matrix) {
        values[matrix] = 0;
        for (unsigned at = 0; at < 2; ++at) {
            const unsigned inner = lane() % 4 * 2 + at, outer = lane() / 4;
            const char *const row = reinterpret_cast<const char *>(warp[8 * matrix + (is_transposed ? inner : outer)].value);
            uint16_t element;
            __builtin_memcpy(&element, row + 2 * (is_transposed ? outer : inner), sizeof element);
            values[matrix] |= Bits(element) << 16 * at;
        }
    }
    with_whole_warp<matrix_load>(uint64_t(address), site); // before the rows change
}

} // namespace emulator::ptx
