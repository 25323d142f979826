// CUDA's complex numbers, each a float2 or a double2.
#pragma once

#include <math.h>

#include "cuda_runtime.h"

// A quotient's parts are scaled, so that no square is too large or too small.
#define EMULATOR_COMPLEX(type, kind, name, real, imag, conj, add, sub, mul, div, length, fma, hypot)                   \
    using type = kind##2;                                                                                              \
    inline kind real(type x) { return x.x; }                                                                           \
    inline kind imag(type x) { return x.y; }                                                                           \
    inline type name(kind x, kind y) { return make_##kind##2(x, y); }                                                  \
    inline type conj(type x) { return name(x.x, -x.y); }                                                               \
    inline type add(type x, type y) { return name(x.x + y.x, x.y + y.y); }                                             \
    inline type sub(type x, type y) { return name(x.x - y.x, x.y - y.y); }                                             \
    inline type mul(type x, type y) { return name(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x); }                     \
    inline type fma(type x, type y, type z)                                                                            \
    {                                                                                                                  \
        return name(x.x * y.x + z.x - x.y * y.y, x.x * y.y + z.y + x.y * y.x);                                         \
    }                                                                                                                  \
    inline kind length(type x) { return hypot(x.x, x.y); }                                                             \
    inline type div(type x, type y)                                                                                    \
    {                                                                                                                  \
        const kind one = 1, scale = one / (std::abs(y.x) + std::abs(y.y));                                             \
        const type a = name(x.x * scale, x.y * scale), b = name(y.x * scale, y.y * scale);                             \
        const kind square = one / (b.x * b.x + b.y * b.y);                                                             \
        return name((a.x * b.x + a.y * b.y) * square, (a.y * b.x - a.x * b.y) * square);                               \
    }

EMULATOR_COMPLEX(
    cuFloatComplex, float, make_cuFloatComplex, cuCrealf, cuCimagf, cuConjf, cuCaddf, cuCsubf, cuCmulf, cuCdivf,
    cuCabsf, cuCfmaf, hypotf)
EMULATOR_COMPLEX(
    cuDoubleComplex, double, make_cuDoubleComplex, cuCreal, cuCimag, cuConj, cuCadd, cuCsub, cuCmul, cuCdiv, cuCabs,
    cuCfma, hypot)
#undef EMULATOR_COMPLEX

using cuComplex = cuFloatComplex;
inline cuComplex make_cuComplex(float x, float y) { return make_float2(x, y); }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return make_double2(x.x, x.y); }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) { return make_float2(float(x.x), float(x.y)); }
