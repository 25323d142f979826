// CUDA's __half and __half2.
#pragma once

#include "../small_floats.hpp"

using __half = emulator::SmallFloat<5>;
using __half2 = emulator::SmallFloatPair<__half>;
using half = __half;
using half2 = __half2;

EMULATOR_SMALL_FLOAT(__half, __half2, half, half2)

inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
