// Floating-point numbers of 16 bits: CUDA's __half and __nv_bfloat16, and pairs of them. Each operation is computed in
// float or double and rounded once, to nearest, ties to even.
#pragma once

#include "arithmetic.hpp"
#include "atomics.hpp"
#include "warp.hpp"

namespace emulator {

enum class Rounding { nearest, to_zero, up, down };

inline double round_whole(double value, Rounding rounding)
{
    return rounding == Rounding::nearest   ? __builtin_rint(value)
           : rounding == Rounding::to_zero ? __builtin_trunc(value)
           : rounding == Rounding::up      ? __builtin_ceil(value)
                                           : __builtin_floor(value);
}

// The bits of a value with a sign, an exponent and a fraction, 16 in all.
template <int exponent_bits>
inline uint16_t encode(double value, Rounding rounding = Rounding::nearest)
{
    constexpr int fraction_bits = 15 - exponent_bits;
    constexpr int least_exponent = 2 - (1 << (exponent_bits - 1)); // of a normal number
    constexpr unsigned infinity = 0x7fff >> fraction_bits << fraction_bits;
    if (value != value)
        return 0x7fff;
    const unsigned sign = __builtin_signbit(value) ? 0x8000 : 0;
    const double size = __builtin_fabs(value);
    if (size == __builtin_inf())
        return uint16_t(sign | infinity);
    int exponent = size == 0 ? least_exponent : int(with_bits_of<uint64_t>(size) >> 52) - 1023;
    exponent = exponent < least_exponent ? least_exponent : exponent;
    const double units = __builtin_fabs(round_whole(__builtin_ldexp(value, fraction_bits - exponent), rounding));
    // The leading bit of a normal number adds one to its exponent.
    const double bits = units + __builtin_ldexp(exponent - least_exponent, fraction_bits);
    if (bits < infinity)
        return uint16_t(sign | unsigned(bits));
    const bool is_largest = rounding == Rounding::to_zero || rounding == (sign ? Rounding::up : Rounding::down);
    return uint16_t(sign | (is_largest ? infinity - 1 : infinity));
}

template <int exponent_bits>
inline float decode(uint16_t bits)
{
    if (exponent_bits == 8)
        return with_bits_of<float>(uint32_t(bits) << 16);
    constexpr int fraction_bits = 15 - exponent_bits;
    const unsigned size = bits & 0x7fffu;
    const unsigned infinity = 0x7fff >> fraction_bits << fraction_bits;
    constexpr unsigned larger_bias = (127u - ((1u << (exponent_bits - 1)) - 1)) << 23;
    float value = 0;
    if (size >= infinity)
        value = size == infinity ? __builtin_inff() : __builtin_nanf("");
    else if (size >> fraction_bits == 0)
        value = float(size) * with_bits_of<float>(larger_bias + (1u << 23) - (unsigned(fraction_bits) << 23));
    else
        value = with_bits_of<float>((size << (23 - fraction_bits)) + larger_bias);
    return bits & 0x8000 ? -value : value;
}

// a * b + c, rounded to odd: a later rounding to fewer bits then gives what one rounding would have.
inline double fma_to_odd(double a, double b, double c)
{
    const double product = a * b; // exact
    const double sum = product + c;
    const double other = sum - product;
    const double lost = (product - (sum - other)) + (c - other);
    uint64_t bits = with_bits_of<uint64_t>(sum);
    if (lost != 0 && lost == lost && __builtin_isfinite(sum) && (bits & 1) == 0)
        bits += (lost > 0) == (sum > 0) ? 1 : -1;
    return with_bits_of<double>(bits);
}

template <int exponent_bits>
struct SmallFloat {
    uint16_t bits;

    SmallFloat() = default;
    template <typename Number, typename = std::enable_if_t<std::is_arithmetic<Number>::value>>
    SmallFloat(Number value) : bits(encode<exponent_bits>(double(value)))
    {
    }
    operator float() const { return decode<exponent_bits>(bits); }

    static SmallFloat from_bits(unsigned bits)
    {
        SmallFloat value;
        value.bits = uint16_t(bits);
        return value;
    }
    static SmallFloat rounded(double value, Rounding rounding) { return from_bits(encode<exponent_bits>(value, rounding)); }

    SmallFloat operator+() const { return *this; }
    SmallFloat operator-() const { return from_bits(bits ^ 0x8000u); }
    SmallFloat &operator+=(SmallFloat other) { return *this = *this + other; }
    SmallFloat &operator-=(SmallFloat other) { return *this = *this - other; }
    SmallFloat &operator*=(SmallFloat other) { return *this = *this * other; }
    SmallFloat &operator/=(SmallFloat other) { return *this = *this / other; }
    SmallFloat &operator++() { return *this += SmallFloat(1); }
    SmallFloat &operator--() { return *this -= SmallFloat(1); }

#define EMULATOR_BINARY(operation, function)                                                                           \
    friend SmallFloat operator operation(SmallFloat a, SmallFloat b) { return {double(float(a)) operation float(b)}; } \
    friend SmallFloat function(SmallFloat a, SmallFloat b) { return a operation b; }                                   \
    friend SmallFloat function##_rn(SmallFloat a, SmallFloat b) { return a operation b; }
    EMULATOR_BINARY(+, __hadd)
    EMULATOR_BINARY(-, __hsub)
    EMULATOR_BINARY(*, __hmul)
    EMULATOR_BINARY(/, __hdiv)
#undef EMULATOR_BINARY

#define EMULATOR_COMPARISON(operation, function)                                                                       \
    friend bool operator operation(SmallFloat a, SmallFloat b) { return float(a) operation float(b); }                 \
    friend bool function(SmallFloat a, SmallFloat b) { return a operation b; }
    EMULATOR_COMPARISON(==, __heq)
    EMULATOR_COMPARISON(!=, __hne)
    EMULATOR_COMPARISON(<, __hlt)
    EMULATOR_COMPARISON(<=, __hle)
    EMULATOR_COMPARISON(>, __hgt)
    EMULATOR_COMPARISON(>=, __hge)
#undef EMULATOR_COMPARISON

#define EMULATOR_FUNCTION(name, expression)                                                                            \
    friend SmallFloat name(SmallFloat a)                                                                               \
    {                                                                                                                  \
        const double x = float(a);                                                                                     \
        return {double(expression)};                                                                                   \
    }
    EMULATOR_FUNCTION(hsqrt, sqrt(x))
    EMULATOR_FUNCTION(hrsqrt, 1 / sqrt(x))
    EMULATOR_FUNCTION(hrcp, 1 / x)
    EMULATOR_FUNCTION(hexp, exp(x))
    EMULATOR_FUNCTION(hexp2, exp2(x))
    EMULATOR_FUNCTION(hexp10, pow(10, x))
    EMULATOR_FUNCTION(hlog, log(x))
    EMULATOR_FUNCTION(hlog2, log2(x))
    EMULATOR_FUNCTION(hlog10, log10(x))
    EMULATOR_FUNCTION(hsin, sin(x))
    EMULATOR_FUNCTION(hcos, cos(x))
    EMULATOR_FUNCTION(htanh, tanh(x))
    EMULATOR_FUNCTION(hfloor, floor(x))
    EMULATOR_FUNCTION(hceil, ceil(x))
    EMULATOR_FUNCTION(htrunc, trunc(x))
    EMULATOR_FUNCTION(hrint, rint(x))
#undef EMULATOR_FUNCTION

    friend SmallFloat __hneg(SmallFloat a) { return -a; }
    friend SmallFloat __habs(SmallFloat a) { return from_bits(a.bits & 0x7fffu); }
    friend SmallFloat __hfma(SmallFloat a, SmallFloat b, SmallFloat c) { return {fma_to_odd(float(a), float(b), float(c))}; }
    // A number wins over a NaN.
    friend SmallFloat __hmin(SmallFloat a, SmallFloat b) { return {fminf(a, b)}; }
    friend SmallFloat __hmax(SmallFloat a, SmallFloat b) { return {fmaxf(a, b)}; }
    friend bool __hisnan(SmallFloat a) { return a != a; }
    friend int __hisinf(SmallFloat a) { return float(a) == __builtin_inff() ? 1 : float(a) == -__builtin_inff() ? -1 : 0; }
};

template <typename Float>
struct alignas(4) SmallFloatPair {
    Float x, y;

    SmallFloatPair() = default;
    SmallFloatPair(Float x, Float y) : x(x), y(y) {}

    SmallFloatPair operator+() const { return *this; }
    SmallFloatPair operator-() const { return {-x, -y}; }
    SmallFloatPair &operator+=(SmallFloatPair other) { return *this = *this + other; }
    SmallFloatPair &operator-=(SmallFloatPair other) { return *this = *this - other; }
    SmallFloatPair &operator*=(SmallFloatPair other) { return *this = *this * other; }
    SmallFloatPair &operator/=(SmallFloatPair other) { return *this = *this / other; }

#define EMULATOR_BINARY(operation, function)                                                                           \
    friend SmallFloatPair operator operation(SmallFloatPair a, SmallFloatPair b)                                       \
    {                                                                                                                  \
        return {a.x operation b.x, a.y operation b.y};                                                                 \
    }                                                                                                                  \
    friend SmallFloatPair function(SmallFloatPair a, SmallFloatPair b) { return a operation b; }
    EMULATOR_BINARY(+, __hadd2)
    EMULATOR_BINARY(-, __hsub2)
    EMULATOR_BINARY(*, __hmul2)
    EMULATOR_BINARY(/, __h2div)
#undef EMULATOR_BINARY
    friend bool operator==(SmallFloatPair a, SmallFloatPair b) { return a.x == b.x && a.y == b.y; }
    friend bool operator!=(SmallFloatPair a, SmallFloatPair b) { return !(a == b); }
    friend SmallFloatPair __hneg2(SmallFloatPair a) { return -a; }
    friend SmallFloatPair __habs2(SmallFloatPair a) { return {__habs(a.x), __habs(a.y)}; }
    friend SmallFloatPair __hfma2(SmallFloatPair a, SmallFloatPair b, SmallFloatPair c)
    {
        return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
    }
    friend SmallFloatPair __hmin2(SmallFloatPair a, SmallFloatPair b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
    friend SmallFloatPair __hmax2(SmallFloatPair a, SmallFloatPair b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
    friend SmallFloatPair h2sqrt(SmallFloatPair a) { return {hsqrt(a.x), hsqrt(a.y)}; }
    friend SmallFloatPair h2rsqrt(SmallFloatPair a) { return {hrsqrt(a.x), hrsqrt(a.y)}; }
    friend SmallFloatPair h2rcp(SmallFloatPair a) { return {hrcp(a.x), hrcp(a.y)}; }
    friend SmallFloatPair h2exp(SmallFloatPair a) { return {hexp(a.x), hexp(a.y)}; }
    friend SmallFloatPair h2log(SmallFloatPair a) { return {hlog(a.x), hlog(a.y)}; }
    friend float __low2float(SmallFloatPair a) { return a.x; }
    friend float __high2float(SmallFloatPair a) { return a.y; }
};

// Shuffled as they are.
template <int exponent_bits> struct Shuffled<SmallFloat<exponent_bits>> { using Type = SmallFloat<exponent_bits>; };
template <typename Float> struct Shuffled<SmallFloatPair<Float>> { using Type = SmallFloatPair<Float>; };

} // namespace emulator

// The functions whose names say the type. `name` and `pair` are half and half2, or bfloat16 and bfloat162.
#define EMULATOR_SMALL_FLOAT(Type, Pair, name, pair)                                                                   \
    inline Type __float2##name(float value) { return value; }                                                          \
    inline Type __double2##name(double value) { return value; }                                                        \
    inline float __##name##2float(Type value) { return value; }                                                        \
    inline Type __float2##name##_rn(float value) { return value; }                                                     \
    inline Type __float2##name##_rz(float value) { return Type::rounded(value, emulator::Rounding::to_zero); }         \
    inline Type __float2##name##_ru(float value) { return Type::rounded(value, emulator::Rounding::up); }              \
    inline Type __float2##name##_rd(float value) { return Type::rounded(value, emulator::Rounding::down); }            \
    EMULATOR_SMALL_FLOAT_INTEGER(Type, name, int, int)                                                                 \
    EMULATOR_SMALL_FLOAT_INTEGER(Type, name, unsigned, uint)                                                           \
    EMULATOR_SMALL_FLOAT_INTEGER(Type, name, short, short)                                                             \
    EMULATOR_SMALL_FLOAT_INTEGER(Type, name, unsigned short, ushort)                                                   \
    inline unsigned short __##name##_as_ushort(Type value) { return value.bits; }                                      \
    inline short __##name##_as_short(Type value) { return short(value.bits); }                                         \
    inline Type __ushort_as_##name(unsigned short bits) { return Type::from_bits(bits); }                              \
    inline Type __short_as_##name(short bits) { return Type::from_bits(static_cast<unsigned short>(bits)); }           \
    inline Pair make_##pair(Type x, Type y) { return {x, y}; }                                                         \
    inline Pair __float2##pair##_rn(float value) { return {value, value}; }                                            \
    inline Pair __floats2##pair##_rn(float x, float y) { return {x, y}; }                                              \
    inline Pair __float22##pair##_rn(float2 value) { return {value.x, value.y}; }                                      \
    inline float2 __##pair##2float2(Pair value) { return {value.x, value.y}; }                                         \
    inline Pair __##name##2##pair(Type value) { return {value, value}; }                                               \
    inline Type __low2##name(Pair value) { return value.x; }                                                           \
    inline Type __high2##name(Pair value) { return value.y; }                                                          \
    inline Pair __low2##pair(Pair value) { return {value.x, value.x}; }                                                \
    inline Pair __high2##pair(Pair value) { return {value.y, value.y}; }                                               \
    inline Pair __lows2##pair(Pair a, Pair b) { return {a.x, b.x}; }                                                   \
    inline Pair __highs2##pair(Pair a, Pair b) { return {a.y, b.y}; }                                                  \
    EMULATOR_ATOMIC(atomicAdd, Type, old + value)                                                                      \
    EMULATOR_ATOMIC(atomicAdd, Pair, old + value)

#define EMULATOR_SMALL_FLOAT_INTEGER(Type, name, Integer, integer)                                                     \
    inline Type __##integer##2##name##_rn(Integer value) { return value; }                                             \
    inline Integer __##name##2##integer##_rn(Type value) { return emulator::saturated<Integer>(rint(float(value))); }  \
    inline Integer __##name##2##integer##_rz(Type value) { return emulator::saturated<Integer>(trunc(float(value))); } \
    inline Integer __##name##2##integer##_ru(Type value) { return emulator::saturated<Integer>(ceil(float(value))); }  \
    inline Integer __##name##2##integer##_rd(Type value) { return emulator::saturated<Integer>(floor(float(value))); }
