// CUDA's __half and __half2.
#pragma once

#include "../small_floats.hpp"

using __half = emulator::SmallFloat<5>;
using __half2 = emulator::SmallFloatPair<__half>;
using half = __half;
using half2 = __half2;

EMULATOR_SMALL_FLOAT(__half, __half2, half, half2)

inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }

#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)
#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
