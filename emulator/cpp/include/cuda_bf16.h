// CUDA's __nv_bfloat16 and __nv_bfloat162.
#pragma once

#include "../small_floats.hpp"

using __nv_bfloat16 = emulator::SmallFloat<8>;
using __nv_bfloat162 = emulator::SmallFloatPair<__nv_bfloat16>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

EMULATOR_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162)

inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
