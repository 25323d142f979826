// CUDA's numbers by name.
#pragma once

#include <math.h>

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_MIN_DENORM_F 1.401298464e-45f
#define CUDART_MAX_NORMAL_F 3.402823466e+38f
#define CUDART_NEG_ZERO_F (-0.0f)
#define CUDART_ZERO_F 0.0f
#define CUDART_ONE_F 1.0f
#define CUDART_SQRT_HALF_F float(M_SQRT1_2)
#define CUDART_SQRT_TWO_F float(M_SQRT2)
#define CUDART_THIRD_F (1.0f / 3)
#define CUDART_PI_F float(M_PI)
#define CUDART_PIO2_F float(M_PI_2)
#define CUDART_PIO4_F float(M_PI_4)
#define CUDART_2_OVER_PI_F float(M_2_PI)
#define CUDART_LOG2E_F float(M_LOG2E)
#define CUDART_LN2_F float(M_LN2)
#define CUDART_LNT_F float(M_LN10)

#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_NEG_ZERO (-0.0)
#define CUDART_ZERO 0.0
#define CUDART_ONE 1.0
#define CUDART_SQRT_TWO M_SQRT2
#define CUDART_SQRT_HALF M_SQRT1_2
#define CUDART_THIRD (1.0 / 3)
#define CUDART_PI M_PI
#define CUDART_PIO2 M_PI_2
#define CUDART_PIO4 M_PI_4
#define CUDART_2_OVER_PI M_2_PI
#define CUDART_LN2 M_LN2
#define CUDART_LNT M_LN10
#define CUDART_L2E M_LOG2E
#define CUDART_L2T (M_LN10 / M_LN2)
