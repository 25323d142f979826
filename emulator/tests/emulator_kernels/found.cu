// What kernels use that were written elsewhere: CUDA's headers, constants, cooperative groups, intrinsics, half types.
#include <assert.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math_constants.h>

namespace cg = cooperative_groups;

namespace filter {
__constant__ float weights[4];
}
__device__ int offset;

extern "C" __global__ void weigh(float *results)
{
    assert(threadIdx.x < 4); // assert
    results[threadIdx.x] = filter::weights[threadIdx.x] + offset;
}

struct Placed {
    short place[3];
    int value;
};

__device__ Placed larger(Placed a, Placed b) { return a.value > b.value ? a : b; }

template <unsigned size>
__global__ void tiles(const int *values, int *results)
{
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<size> tile = cg::tiled_partition<size>(block);
    const unsigned thread = block.thread_rank();
    const int value = values[thread];
    const cg::thread_group same = cg::tiled_partition(block, size);
    same.sync();
    cg::sync(block);
    const unsigned row[] = {tile.thread_rank() + same.thread_rank() * tile.size(),
                            tile.meta_group_rank() + block.size() / size * tile.meta_group_size(),
                            unsigned(tile.shfl(value, 1)),
                            unsigned(tile.shfl_down(value, 1)),
                            unsigned(tile.shfl_up(value, 2)),
                            unsigned(tile.shfl_xor(value, 1)),
                            unsigned(tile.any(value > 900)),
                            unsigned(tile.all(value < 900)),
                            tile.ballot(value & 1),
                            unsigned(cg::reduce(tile, value, cg::plus<int>())),
                            unsigned(values[cg::reduce(tile, Placed{{0, 0, short(thread)}, value}, larger).place[2]])};
    for (unsigned i = 0; i < 11; ++i)
        results[13 * thread + i] = int(row[i]);
    if (value & 1) {
        const cg::coalesced_group active = cg::coalesced_threads();
        results[13 * thread + 11] = cg::reduce(active, value, cg::less<int>());
        results[13 * thread + 12] = int(active.size() * 100 + active.thread_rank() + 10000 * active.ballot(value > 500));
    }
}

__global__ void integers(const unsigned *as, const unsigned *bs, unsigned *results)
{
    const unsigned a = as[threadIdx.x], b = bs[threadIdx.x];
    const int x = int(a), y = int(b);
    const long long begun = clock64();
    __nanosleep(100);
    const unsigned row[] = {__brev(a), __byte_perm(a, b, 0x9417), __funnelshift_l(a, b, b), __funnelshift_r(a, b, b),
                            __funnelshift_lc(a, b, 40), unsigned(__mulhi(x, y)), __umulhi(a, b), unsigned(__mul24(x, y)),
                            __umul24(a, b), __usad(a, b, 7u), unsigned(__hadd(x, y)), unsigned(__rhadd(x, y)),
                            unsigned(__popc(a)), unsigned(__clz(x)), unsigned(__ffs(x)), unsigned(__dp4a(x, y, 5)),
                            unsigned(__umul64hi(a * 0x100000001ull, b * 0x100000001ull)), unsigned(min(a, 3ul) + max(x, 5ll)),
                            __float_as_uint(__uint_as_float(a)), unsigned(clock64() > begun)};
    for (unsigned i = 0; i < 20; ++i)
        results[20 * threadIdx.x + i] = row[i];
}

__global__ void floats(const float *as, const float *bs, float *results, int *converted)
{
    const float a = as[threadIdx.x], b = bs[threadIdx.x], c = fabsf(a);
    const float row[] = {__fadd_rn(a, b), __fadd_rz(a, b), __fadd_ru(a, b), __fadd_rd(a, b),
                         __fmul_rn(a, b), __fmul_rz(a, b), __fmul_ru(a, b), __fmul_rd(a, b),
                         __fdiv_rn(a, b), __fdiv_rz(a, b), __fdiv_ru(a, b), __fdiv_rd(a, b),
                         __fmaf_rn(a, b, c), __fmaf_rz(a, b, c), __fmaf_ru(a, b, c), __fmaf_rd(a, b, c),
                         rsqrtf(c), __fdividef(a, b), __expf(a), __saturatef(a), __powf(c, b), CUDART_PI_F};
    for (unsigned i = 0; i < 22; ++i)
        results[22 * threadIdx.x + i] = row[i];
    const int whole[] = {__float2int_rn(1e9f * a), __float2int_rz(a), __float2int_ru(a), __float2int_rd(a)};
    for (unsigned i = 0; i < 4; ++i)
        converted[4 * threadIdx.x + i] = whole[i];
}

extern "C" __global__ void complexes(const cuComplex *x, const cuDoubleComplex *y, cuDoubleComplex *results)
{
    const cuComplex a = x[threadIdx.x], b = cuComplexDoubleToFloat(y[threadIdx.x]);
    const cuComplex narrow[] = {cuCaddf(a, b), cuCsubf(a, b), cuCmulf(a, b), cuCdivf(a, b), cuCfmaf(a, b, cuConjf(a))};
    for (int i = 0; i < 5; ++i)
        results[7 * threadIdx.x + i] = cuComplexFloatToDouble(narrow[i]);
    results[7 * threadIdx.x + 5] = cuCdiv(make_cuDoubleComplex(cuCrealf(a), cuCimagf(a)), y[threadIdx.x]);
    results[7 * threadIdx.x + 6] = make_cuDoubleComplex(cuCabsf(a), cuCabs(y[threadIdx.x]));
}

// Every 16-bit number as a float; every float as a 16-bit number; a sum of products, and one rounded once.
template <typename Small>
__global__ void small_floats(const Small *smalls, float *as_floats, const float *floats, Small *as_smalls, Small *sums,
                             Small *fused)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const Small a = smalls[i], b = __shfl_down_sync(0xffffffffu, a, 1), c = smalls[65535 - i];
    as_floats[i] = a;
    as_smalls[i] = Small(floats[i]);
    sums[i] = a * b + c;
    fused[i] = __hfma(a, b, c);
}

__global__ void add_pairs(__half2 *sum)
{
    atomicAdd(sum, __floats2half2_rn(1, 0.5f));
    __syncthreads();
    if (threadIdx.x == 0)
        *sum = __hfma2(*sum, __half2half2(2), *sum);
}

// A warp's pairs are added by shuffles, and vectors atomically.
__global__ void add_vectors(__half2 *pair, float4 *sums, float2 *halves, unsigned *bounds)
{
    __half2 own = __floats2half2_rn(float(threadIdx.x), CUDART_ONE_FP16);
    for (int distance = 16; distance > 0; distance /= 2)
        own = own + __shfl_xor_sync(0xffffffffu, own, distance);
    *pair = own;
    atomicAdd(sums, make_float4(1, 2, 3, float(threadIdx.x)));
    atomicAdd(halves, make_float2(0.5f, normcdff(0)));
    bounds[0] = umin(threadIdx.x | 5u, umax(7u, 3u));
    bounds[1] = unsigned(llmax(-1, 2) + llmin(-1, 2)) + unsigned(ullmin(9, 4) + ullmax(9, 4));
}
