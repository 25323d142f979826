// CUDA's arithmetic functions: on integers, on bits, in a named rounding, and the fast approximations, which are computed
// precisely here. The C library has the others: sqrtf, expf, fmaf, sincosf, ...
#pragma once

#include "vector_types.hpp"

#include <fenv.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include <limits>
#include <type_traits>

// Bessel functions and the like, in libstdc++'s <math.h>, are a fifth of a kernel's time to compile.
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#define _GLIBCXX_USE_STD_SPEC_FUNCS 0
#include <math.h>

// Integers

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
inline unsigned long long __brevll(unsigned long long value)
{
    return (unsigned long long)(__brev(unsigned(value))) << 32 | __brev(unsigned(value >> 32));
}

// Each of the selector's lowest four digits of four bits names one of the eight bytes, or with 8 added, its sign.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector)
{
    const uint64_t bytes = uint64_t(high) << 32 | low;
    unsigned result = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned digit = selector >> 4 * i;
        const unsigned byte = unsigned(bytes >> 8 * (digit & 7)) & 0xff;
        result |= (digit & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * i;
    }
    return result;
}

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return unsigned((uint64_t(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift)
{
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return unsigned((uint64_t(high) << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift)
{
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

inline int __mul24(int a, int b) { return int(unsigned(a << 8 >> 8) * unsigned(b << 8 >> 8)); }
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline int __mulhi(int a, int b) { return int(int64_t(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(uint64_t(a) * b >> 32); }
__extension__ inline long long __mul64hi(long long a, long long b) { return (long long)(__int128(a) * b >> 64); }
__extension__ inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)(a)*b >> 64);
}
inline unsigned __sad(int a, int b, unsigned sum) { return sum + unsigned(a < b ? b - a : a - b); }
inline unsigned __usad(unsigned a, unsigned b, unsigned sum) { return sum + (a < b ? b - a : a - b); }
inline int __hadd(int a, int b) { return int((int64_t(a) + b) >> 1); }
inline int __rhadd(int a, int b) { return int((int64_t(a) + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) { return unsigned((uint64_t(a) + b) >> 1); }
inline unsigned __urhadd(unsigned a, unsigned b) { return unsigned((uint64_t(a) + b + 1) >> 1); }

inline int __dp4a(int a, int b, int sum)
{
    for (int i = 0; i < 4; ++i)
        sum += int(int8_t(a >> 8 * i)) * int8_t(b >> 8 * i);
    return sum;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum)
{
    for (int i = 0; i < 4; ++i)
        sum += (a >> 8 * i & 0xff) * (b >> 8 * i & 0xff);
    return sum;
}

// The lesser and the greater. Mixed types are converted as C does it, so mixed signs compare as unsigned.

#define EMULATOR_MIN_MAX(Value)                                                                                        \
    inline Value min(Value a, Value b) { return b < a ? b : a; }                                                       \
    inline Value max(Value a, Value b) { return a < b ? b : a; }
EMULATOR_MIN_MAX(int)
EMULATOR_MIN_MAX(unsigned)
EMULATOR_MIN_MAX(long)
EMULATOR_MIN_MAX(unsigned long)
EMULATOR_MIN_MAX(long long)
EMULATOR_MIN_MAX(unsigned long long)
#undef EMULATOR_MIN_MAX
// As in CUDA, a number wins over a NaN.
inline float min(float a, float b) { return __builtin_fminf(a, b); }
inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
inline double min(double a, double b) { return __builtin_fmin(a, b); }
inline double max(double a, double b) { return __builtin_fmax(a, b); }
inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }
inline long long llmin(long long a, long long b) { return min(a, b); }
inline long long llmax(long long a, long long b) { return max(a, b); }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

namespace emulator {

template <typename A, typename B>
using Mixed = std::enable_if_t<!std::is_same<A, B>::value &&
                                   ((std::is_integral<A>::value && std::is_integral<B>::value) ||
                                    (std::is_floating_point<A>::value && std::is_floating_point<B>::value)),
                               std::common_type_t<A, B>>;

template <typename To, typename From>
inline To with_bits_of(From value)
{
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To result;
    __builtin_memcpy(&result, &value, sizeof result);
    return result;
}

// A whole number as an integer, the nearest there is; 0 for a NaN.
template <typename Integer>
inline Integer saturated(double value)
{
    using Limits = std::numeric_limits<Integer>;
    if (value != value)
        return 0;
    // 2 to the number of bits, exactly.
    const double end = 2.0 * double(Limits::max() / 2 + 1);
    return value >= end ? Limits::max() : value <= double(Limits::min()) ? Limits::min() : Integer(value);
}

// Sets the processor's rounding mode for as long as it lives. Volatile values keep the computation between its calls.
struct RoundingMode {
    const int before = fegetround();

    explicit RoundingMode(int mode) { fesetround(mode); }
    ~RoundingMode() { fesetround(before); }
};

} // namespace emulator

template <typename A, typename B>
inline emulator::Mixed<A, B> min(A a, B b)
{
    return min(std::common_type_t<A, B>(a), std::common_type_t<A, B>(b));
}
template <typename A, typename B>
inline emulator::Mixed<A, B> max(A a, B b)
{
    return max(std::common_type_t<A, B>(a), std::common_type_t<A, B>(b));
}

// Bits

inline int __float_as_int(float value) { return emulator::with_bits_of<int>(value); }
inline unsigned __float_as_uint(float value) { return emulator::with_bits_of<unsigned>(value); }
inline float __int_as_float(int value) { return emulator::with_bits_of<float>(value); }
inline float __uint_as_float(unsigned value) { return emulator::with_bits_of<float>(value); }
inline long long __double_as_longlong(double value) { return emulator::with_bits_of<long long>(value); }
inline double __longlong_as_double(long long value) { return emulator::with_bits_of<double>(value); }
inline int __double2loint(double value) { return int(__double_as_longlong(value)); }
inline int __double2hiint(double value) { return int(__double_as_longlong(value) >> 32); }
inline double __hiloint2double(int high, int low)
{
    return __longlong_as_double((long long)(uint64_t(unsigned(high)) << 32 | unsigned(low)));
}

// Conversions and arithmetic in a named rounding: to nearest, to zero, up, down.

#define EMULATOR_TO_INTEGER(name, From, To)                                                                            \
    inline To name##_rn(From value) { return emulator::saturated<To>(__builtin_rint(double(value))); }                 \
    inline To name##_rz(From value) { return emulator::saturated<To>(__builtin_trunc(double(value))); }                \
    inline To name##_ru(From value) { return emulator::saturated<To>(__builtin_ceil(double(value))); }                 \
    inline To name##_rd(From value) { return emulator::saturated<To>(__builtin_floor(double(value))); }
EMULATOR_TO_INTEGER(__float2int, float, int)
EMULATOR_TO_INTEGER(__float2uint, float, unsigned)
EMULATOR_TO_INTEGER(__float2ll, float, long long)
EMULATOR_TO_INTEGER(__float2ull, float, unsigned long long)
EMULATOR_TO_INTEGER(__double2int, double, int)
EMULATOR_TO_INTEGER(__double2uint, double, unsigned)
EMULATOR_TO_INTEGER(__double2ll, double, long long)
EMULATOR_TO_INTEGER(__double2ull, double, unsigned long long)
#undef EMULATOR_TO_INTEGER

#define EMULATOR_IN_MODE(name, Result, Operand, mode, expression, ...)                                                 \
    inline Result name(__VA_ARGS__)                                                                                    \
    {                                                                                                                  \
        const emulator::RoundingMode rounding(mode);                                                                   \
        volatile Operand x = a;                                                                                        \
        volatile Result result = expression;                                                                           \
        return result;                                                                                                 \
    }
#define EMULATOR_ROUNDED(name, Result, Operand, nearest, expression, ...)                                              \
    inline Result name##_rn(__VA_ARGS__) { return nearest; }                                                           \
    EMULATOR_IN_MODE(name##_rz, Result, Operand, FE_TOWARDZERO, expression, __VA_ARGS__)                               \
    EMULATOR_IN_MODE(name##_ru, Result, Operand, FE_UPWARD, expression, __VA_ARGS__)                                   \
    EMULATOR_IN_MODE(name##_rd, Result, Operand, FE_DOWNWARD, expression, __VA_ARGS__)
#define EMULATOR_CONVERSION(name, From, To) EMULATOR_ROUNDED(name, To, From, To(a), To(x), From a)
EMULATOR_CONVERSION(__int2float, int, float)
EMULATOR_CONVERSION(__uint2float, unsigned, float)
EMULATOR_CONVERSION(__ll2float, long long, float)
EMULATOR_CONVERSION(__ull2float, unsigned long long, float)
EMULATOR_CONVERSION(__ll2double, long long, double)
EMULATOR_CONVERSION(__ull2double, unsigned long long, double)
EMULATOR_CONVERSION(__double2float, double, float)
inline double __int2double_rn(int value) { return value; }
inline double __uint2double_rn(unsigned value) { return value; }

#define EMULATOR_ARITHMETIC(prefix, Value, suffix)                                                                     \
    EMULATOR_ROUNDED(prefix##add, Value, Value, a + b, x + b, Value a, Value b)                                        \
    EMULATOR_ROUNDED(prefix##sub, Value, Value, a - b, x - b, Value a, Value b)                                        \
    EMULATOR_ROUNDED(prefix##mul, Value, Value, a * b, x * b, Value a, Value b)                                        \
    EMULATOR_ROUNDED(prefix##div, Value, Value, a / b, x / b, Value a, Value b)                                        \
    EMULATOR_ROUNDED(prefix##rcp, Value, Value, 1 / a, 1 / x, Value a)                                                 \
    EMULATOR_ROUNDED(prefix##sqrt, Value, Value, sqrt##suffix(a), sqrt##suffix(x), Value a)
EMULATOR_ARITHMETIC(__f, float, f)
EMULATOR_ARITHMETIC(__d, double, )
EMULATOR_ROUNDED(__fmaf, float, float, fmaf(a, b, c), fmaf(x, b, c), float a, float b, float c)
EMULATOR_ROUNDED(__fma, double, double, fma(a, b, c), fma(x, b, c), double a, double b, double c)
#undef EMULATOR_ARITHMETIC
#undef EMULATOR_CONVERSION
#undef EMULATOR_ROUNDED
#undef EMULATOR_IN_MODE

// Fast approximations, and functions that C++17's library lacks. Newer C libraries declare some of them.

inline float rsqrtf(float value) noexcept { return float(1 / sqrt(double(value))); }
inline double rsqrt(double value) noexcept { return 1 / sqrt(value); }
inline float rsqrt(float value) { return rsqrtf(value); }
inline float __frsqrt_rn(float value) { return rsqrtf(value); }
inline float rcbrtf(float value) { return float(1 / cbrt(double(value))); }
inline double rcbrt(double value) { return 1 / cbrt(value); }
inline float fdividef(float a, float b) { return a / b; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __saturatef(float value) { return fminf(fmaxf(value, 0), 1); }
inline float __sinf(float value) { return sinf(value); }
inline float __cosf(float value) { return cosf(value); }
inline float __tanf(float value) { return tanf(value); }
inline float __tanhf(float value) { return tanhf(value); }
inline float __expf(float value) { return expf(value); }
inline float __exp10f(float value) { return float(pow(10, double(value))); }
inline float __logf(float value) { return logf(value); }
inline float __log2f(float value) { return log2f(value); }
inline float __log10f(float value) { return log10f(value); }
inline float __powf(float base, float exponent) { return powf(base, exponent); }
inline void __sincosf(float value, float *sine, float *cosine)
{
    *sine = sinf(value);
    *cosine = cosf(value);
}
inline float sinpif(float value) noexcept { return float(sin(M_PI * fmod(double(value), 2))); }
inline float cospif(float value) noexcept { return float(cos(M_PI * fmod(double(value), 2))); }
inline double normcdf(double value) { return erfc(-value * M_SQRT1_2) / 2; }
inline float normcdff(float value) { return float(normcdf(double(value))); }
inline float norm3df(float a, float b, float c)
{
    return float(sqrt(double(a) * a + double(b) * b + double(c) * c));
}
inline float rnorm3df(float a, float b, float c)
{
    return float(1 / sqrt(double(a) * a + double(b) * b + double(c) * c));
}
inline float rhypotf(float a, float b) { return float(1 / hypot(double(a), double(b))); }
