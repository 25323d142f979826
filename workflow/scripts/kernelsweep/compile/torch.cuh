// In place of PyTorch's headers, where these are not installed: its numbers, and what it includes of the standard
// library.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#if !defined(KERNELSWEEP_TORCH) && !__has_include(<c10/util/Half.h>)
#define KERNELSWEEP_TORCH
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
namespace c10 {
struct alignas(2) Half {
    __half x;
    Half() = default;
    __host__ __device__ Half(float value) : x(__float2half(value)) {}
    __host__ __device__ operator float() const { return __half2float(x); }
};
struct alignas(2) BFloat16 {
    __nv_bfloat16 x;
    BFloat16() = default;
    __host__ __device__ BFloat16(float value) : x(__float2bfloat16(value)) {}
    __host__ __device__ operator float() const { return __bfloat162float(x); }
};
struct Float8_e4m3fn { uint8_t x; };
struct Float8_e4m3fnuz { uint8_t x; };
struct Float8_e5m2 { uint8_t x; };
}
#endif
