// Products of small matrices by tensor cores: wmma, mma.sync and ldmatrix.
#include <mma.h>

using namespace nvcuda;

template <typename Element, typename Stored, typename Result, int k, typename OrderB>
__global__ void multiplied(Result *d, const Stored *a, const Stored *b, const Result *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, k, Element, wmma::row_major> of_a;
    wmma::fragment<wmma::matrix_b, 16, 16, k, Element, OrderB> of_b;
    wmma::fragment<wmma::accumulator, 16, 16, k, Result> sums;
    wmma::load_matrix_sync(of_a, a + (sizeof(Stored) == 1 ? 16 : 0), k); // The second step along a row of bytes.
    wmma::load_matrix_sync(of_b, b, 16);
    wmma::load_matrix_sync(sums, c, 16, wmma::mem_row_major);
    wmma::mma_sync(sums, of_a, of_b, sums);
    wmma::store_matrix_sync(d, sums, 16, wmma::mem_col_major);
}

__global__ void unordered(float *d, const __half *a)
{
    __shared__ __align__(32) __half tile[256];
    for (int i = threadIdx.x; i < 256; i += 32)
        tile[i] = a[i];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> of_a;
    wmma::load_matrix_sync(of_a, tile, 16); // reads
    d[threadIdx.x] = of_a.x[0];
}

// One product of 16 x 16 by 16 x 8 of half, of which ldmatrix loads A, and B as its columns.
__global__ void by_ptx(float *d, const __half *a, const __half *b)
{
    __shared__ __align__(16) __half of_a[16][16], of_b[16][8];
    const int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32)
        of_a[i / 16][i % 16] = a[i];
    for (int i = lane; i < 128; i += 32)
        of_b[i / 8][i % 8] = b[i];
    __syncwarp();
    unsigned A[4], B[2];
    float D[4] = {};
    const unsigned from_a = __cvta_generic_to_shared(&of_a[lane % 16][lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(A[0]), "=r"(A[1]), "=r"(A[2]), "=r"(A[3]) : "r"(from_a));
    const unsigned from_b = __cvta_generic_to_shared(&of_b[lane % 16][0]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(B[0]), "=r"(B[1]) : "r"(from_b));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])
                 : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]));
    for (int i = 0; i < 4; ++i)
        d[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = D[i];
}

// The registers of a lane: elements of A by rows, and of B by columns, as the PTX ISA has them for mma.m16n8.
template <typename Element, int k>
__device__ void load_registers(unsigned *A, unsigned *B, const Element *a, const Element *b)
{
    const int group = threadIdx.x / 4, of_group = threadIdx.x % 4;
    const int whole = 4 / int(sizeof(Element)), half = 4 * whole; // elements of a register, and of a group's registers
    for (int upper = 0; upper < 2; ++upper)
        for (int first = 0; first < k; first += half)
            memcpy(&A[upper + first / half * 2], &a[(group + 8 * upper) * k + first + of_group * whole], 4);
    for (int first = 0; first < k; first += half)
        memcpy(&B[first / half], &b[group * k + first + of_group * whole], 4);
}

template <typename Sum> __device__ void store_registers(Sum *d, const Sum *D)
{
    for (int at = 0; at < 4; ++at)
        d[(threadIdx.x / 4 + at / 2 * 8) * 8 + threadIdx.x % 4 * 2 + at % 2] = D[at];
}

#define MULTIPLIED(name, form, k, Element, Sum, word, of_a, of_b, ...)                                                         \
    __global__ void name(Sum *d, const Element *a, const Element *b)                                                           \
    {                                                                                                                          \
        unsigned A[4], B[2];                                                                                                   \
        Sum D[4] = {};                                                                                                         \
        load_registers<Element, k>(A, B, a, b);                                                                                \
        asm volatile("mma.sync.aligned.m16n8" form " {%0, %1, %2, %3}, " of_a ", " of_b ", {%0, %1, %2, %3};"                  \
                     : "+" word(D[0]), "+" word(D[1]), "+" word(D[2]), "+" word(D[3])                                          \
                     : __VA_ARGS__);                                                                                           \
        store_registers(d, D);                                                                                                 \
    }
#define LARGE(name, form, k, Element, Sum, word)                                                                               \
    MULTIPLIED(name, form, k, Element, Sum, word, "{%4, %5, %6, %7}", "{%8, %9}", "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), \
               "r"(B[0]), "r"(B[1]))
#define SMALL(name, form, k, Element, Sum, word)                                                                               \
    MULTIPLIED(name, form, k, Element, Sum, word, "{%4, %5}", "{%6}", "r"(A[0]), "r"(A[1]), "r"(B[0]))
LARGE(bf16_16, "k16.row.col.f32.bf16.bf16.f32", 16, __nv_bfloat16, float, "f")
SMALL(bf16_8, "k8.row.col.f32.bf16.bf16.f32", 8, __nv_bfloat16, float, "f")
SMALL(f16_8, "k8.row.col.f32.f16.f16.f32", 8, __half, float, "f")
LARGE(tf32_8, "k8.row.col.f32.tf32.tf32.f32", 8, float, float, "f")
SMALL(tf32_4, "k4.row.col.f32.tf32.tf32.f32", 4, float, float, "f")
LARGE(s8_32, "k32.row.col.s32.s8.s8.s32", 32, signed char, int, "r")
SMALL(s8_16, "k16.row.col.s32.s8.s8.s32", 16, signed char, int, "r")
LARGE(u8_32, "k32.row.col.s32.u8.u8.s32", 32, unsigned char, int, "r")
