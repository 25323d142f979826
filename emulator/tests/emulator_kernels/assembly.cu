// Inline assembly for GPUs (PTX), of the kinds that published kernels have.
#include <cuda_pipeline.h>

__device__ __forceinline__ unsigned lane()
{
    unsigned result;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(result));
    return result;
}

__device__ __forceinline__ float fused(float a, float b, float c)
{
    float result;
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(result) : "f"(a), "f"(b), "f"(c));
    return result;
}

__device__ __forceinline__ int load_acquired(const int *from)
{
    int result;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(result) : "l"(from) : "memory");
    return result;
}

__device__ __forceinline__ void store_released(int *to, int value)
{
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

// Bits 0 to 11 are set, each by another instruction.
__global__ void instructions(const int *x, int *y, int *sum)
{
    const int i = threadIdx.x;
    int right = lane() == i % 32u;
    unsigned result;
    asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(result) : "r"(i), "r"(12), "r"(7));
    right |= (result == unsigned((i & 12) | (i & 7) | (12 & 7))) << 1;
    asm("prmt.b32 %0, %1, %2, 0x3715;" : "=r"(result) : "r"(0x44332211), "r"(0x88776655u));
    right |= (result == 0x44882266) << 2;
    int other;
    asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(other) : "r"(i));
    right |= (other == (i ^ 1)) << 3;
    asm volatile("{\n\t.reg .pred p;\n\tsetp.gt.s32 p, %1, 5;\n\t"
                 "@p mov.s32 %0, 100;\n\t@!p mov.s32 %0, 1;\n}"
                 : "=r"(other)
                 : "r"(i));
    right |= (other == (i > 5 ? 100 : 1)) << 4;
    int first, second;
    asm("ld.global.nc.v2.s32 {%0, %1}, [%2];" : "=r"(first), "=r"(second) : "l"(x + i / 2 * 2));
    right |= (first == x[i / 2 * 2] && second == x[i / 2 * 2 + 1]) << 5;
    right |= (fused(2, 3, -6) == 0) << 6;
    long long product;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(product) : "r"(-3), "r"(1 << 30));
    right |= (product == -3LL * (1 << 30)) << 7;
    asm("mul.hi.u32 %0, %1, %2;" : "=r"(result) : "r"(0x80000000u), "r"(6));
    right |= (result == 3) << 8;
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(other) : "f"(3e9f));
    right |= (other == 2147483647) << 9;
    int count = 0;
    asm volatile("{\n.reg .pred again;\nMORE:\nadd.s32 %0, %0, 3;\nsetp.lt.s32 again, %0, 10;\n@again bra MORE;\n}"
                 : "+r"(count));
    right |= (count == 12) << 10;
    asm("bfe.u32 %0, %1, 4, 8;" : "=r"(result) : "r"(0x12345678));
    right |= (result == 0x67) << 11;
    asm volatile("red.global.add.s32 [%0], %1;" ::"l"(sum), "r"(1) : "memory");
    asm volatile("" ::: "memory");
    y[i] = right;
}

template <bool waits>
__global__ void copied(const int *x, int *y)
{
    __shared__ __align__(16) int tile[64];
    const unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(own), "l"(x + threadIdx.x)); // copied
    asm volatile("cp.async.commit_group;" ::);
    if (waits)
        asm volatile("cp.async.wait_group %0;" ::"n"(0));
    asm volatile("bar.sync 0;");
    int next;
    asm volatile("ld.shared.s32 %0, [%1+4];" : "=r"(next) : "r"(own - 8 * (threadIdx.x % 2)));
    y[threadIdx.x] = next;
}

__global__ void published(const int *x, int *y, int *flag)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        y[0] = x[5];
        store_released(flag, 1);
    } else {
        while (load_acquired(flag) == 0)
            ;
        y[1] = y[0];
    }
}
