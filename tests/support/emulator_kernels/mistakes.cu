// Kernels with one mistake each in their use of memory, and their right siblings.

#include <cuda_fp16.h>

__global__ void missing_barrier(const int *input, int *output)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = input[threadIdx.x]; // barrier: write
    output[threadIdx.x] = tile[63 - threadIdx.x]; // barrier: read
}

__global__ void missing_syncwarp(const int *input, int *output)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = input[threadIdx.x];
    __syncwarp();
    const int neighbour = tile[(threadIdx.x + 1) % 32]; // syncwarp: read
    tile[threadIdx.x] = neighbour; // syncwarp: write
    __syncwarp();
    output[threadIdx.x] = tile[31 - threadIdx.x];
}

__global__ void shuffle_for_syncwarp(const int *input, int *output)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = input[threadIdx.x]; // shuffle: write
    const int other = __shfl_xor_sync(0xffffffffu, input[threadIdx.x], 1);
    output[threadIdx.x] = other + tile[31 - threadIdx.x]; // shuffle: read
}

// Each half of the warp synchronises by itself, then both together.
__global__ void halves(const int *input, int *output)
{
    __shared__ int tile[32];
    const unsigned half = threadIdx.x / 16;
    tile[threadIdx.x] = input[threadIdx.x];
    __syncwarp(0xffffu << 16 * half);
    output[threadIdx.x] = tile[threadIdx.x ^ 1];
    if (half == 0)
        __syncwarp(0xffffu);
    __syncwarp();
    output[threadIdx.x] += tile[threadIdx.x ^ 16];
}

// An array of a type with constructors, which g++ guards by a variable of its own.
__global__ void pairs(const int *input, int *output)
{
    __shared__ __half2 tile[32];
    tile[threadIdx.x] = __half2(input[threadIdx.x], 1);
    __syncthreads();
    output[threadIdx.x] = int(__low2float(tile[threadIdx.x ^ 1]));
}

__global__ void wrong_half(const int *input, int *output)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = input[threadIdx.x]; // half: write
    __syncwarp(0xffffu << 16 * (threadIdx.x / 16));
    output[threadIdx.x] = tile[threadIdx.x ^ 16]; // half: read
}

__global__ void ragged_tail(const int *input, int *output, size_t count)
{
    const size_t first = size_t(blockIdx.x) * 2 * blockDim.x + threadIdx.x;
    if (first < count)
        output[size_t(blockIdx.x) * blockDim.x + threadIdx.x] =
            input[first] +
            input[first + blockDim.x]; // tail
}

__global__ void uninitialised_shared(const int *input, int *output)
{
    __shared__ int tile[64];
    if (threadIdx.x < 63)
        tile[threadIdx.x] = input[threadIdx.x];
    __syncthreads();
    output[threadIdx.x] = tile[threadIdx.x]; // shared: read
}

__global__ void uninitialised_global(int *output)
{
    output[threadIdx.x] += 1; // global: read
}

__global__ void shared_overrun(const int *input, int *output)
{
    __shared__ int tile[64];
    (tile + 1)[threadIdx.x] = input[threadIdx.x]; // overrun
    __syncthreads();
    output[threadIdx.x] = tile[threadIdx.x == 0 ? 1 : threadIdx.x];
}

__global__ void dynamic_overrun(const int *input, int *output)
{
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x + 1] = input[threadIdx.x]; // dynamic
    __syncthreads();
    output[threadIdx.x] = dynamic[threadIdx.x == 0 ? 1 : threadIdx.x];
}

__global__ void before_the_start(const int *input, int *output)
{
    output[threadIdx.x] = (input - 1)[threadIdx.x]; // before
}

__global__ void blocks_collide(const int *input, int *output)
{
    output[threadIdx.x] = input[threadIdx.x]; // blocks
}

// The block that counts last reads what the others have written.
template <bool fenced>
__global__ void last_block(const int *input, int *output, unsigned *counter)
{
    __shared__ bool is_last;
    output[1 + blockIdx.x * blockDim.x + threadIdx.x] = input[threadIdx.x]; // last: write
    if (fenced)
        __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        is_last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (is_last && threadIdx.x == 0)
        output[0] = output[1] + output[1 + blockDim.x]; // last: read
}

__global__ void atomics_agree(int *output)
{
    atomicAdd(output, 1);
}

__global__ void atomic_and_plain(int *output)
{
    if (threadIdx.x == 0)
        output[0] = 1; // plain
    else
        atomicAdd(output, 1); // atomic
}
