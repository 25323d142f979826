// Asynchronous copies of 64 elements to shared memory, of which each thread reads its neighbour's: right, and with one
// mistake each.

#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

enum Mistake { none, no_wait, later_group, no_barrier, read_by_itself, source_written, target_written };

template <Mistake mistake>
__global__ void by_primitives(int *input, int *output)
{
    __shared__ __align__(16) int tile[64];
    const unsigned thread = threadIdx.x;
    __pipeline_memcpy_async(tile + thread, input + thread, 4); // primitive: copy
    __pipeline_commit();
    if (mistake == read_by_itself)
        output[thread] = tile[thread]; // primitive: own
    if (mistake == source_written) {
        __syncthreads();
        input[thread ^ 1] = 7; // primitive: source
    }
    if (mistake == target_written)
        tile[thread] = 7; // primitive: target
    if (mistake != no_wait)
        __pipeline_wait_prior(mistake == later_group);
    if (mistake != no_barrier)
        __syncthreads();
    output[thread] = tile[thread ^ 1]; // primitive: read
}

// Two tiles on their way at a time, of 16 bytes a copy; of the last, half are zeros.
__global__ void staged(const int *input, int *output)
{
    __shared__ __align__(16) int tiles[2][64];
    const auto start = [&](int tile) {
        if (threadIdx.x < 16 && tile < 4)
            __pipeline_memcpy_async(tiles[tile % 2] + 4 * threadIdx.x, input + 64 * tile + 4 * threadIdx.x, 16,
                                    tile == 3 ? 8 : 0);
        __pipeline_commit();
    };
    start(0);
    for (int tile = 0; tile < 4; ++tile) {
        start(tile + 1);
        __pipeline_wait_prior(1);
        __syncthreads();
        output[64 * tile + threadIdx.x] = tiles[tile % 2][threadIdx.x ^ 1];
        __syncthreads();
    }
}

template <Mistake mistake>
__global__ void by_group(int *input, int *output)
{
    namespace cg = cooperative_groups;
    __shared__ __align__(16) int tile[2][64];
    const unsigned thread = threadIdx.x;
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile[0], input, 64 * sizeof(int)); // group: copy
    cg::memcpy_async(block, tile[1], 64, input, 64);
    if (mistake == no_barrier)
        __pipeline_wait_prior(0);
    else if (mistake == later_group)
        cg::wait_prior<2>(block);
    else if (mistake != no_wait)
        cg::wait_prior<1>(block);
    output[thread] = tile[0][thread ^ 1]; // group: read
    cg::wait(block);
    output[thread] += tile[1][thread ^ 1] - tile[1][thread];
}

template <Mistake mistake>
__global__ void by_pipeline(int *input, int *output)
{
    __shared__ __align__(16) int tile[2][64];
    const unsigned thread = threadIdx.x;
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    for (int stage = 0; stage < 2; ++stage) {
        pipe.producer_acquire();
        cuda::memcpy_async(tile[stage] + thread, input + thread, cuda::aligned_size_t<4>(4), pipe); // pipeline: copy
        pipe.producer_commit();
    }
    if (mistake == later_group)
        cuda::pipeline_consumer_wait_prior<2>(pipe);
    else if (mistake != no_wait)
        pipe.consumer_wait();
    if (mistake != no_barrier)
        __syncthreads();
    output[thread] = tile[0][thread ^ 1]; // pipeline: read
    pipe.consumer_release();
    pipe.consumer_wait();
    __syncthreads();
    if (mistake == none)
        output[thread] += tile[1][thread ^ 1];
}

__global__ void wrong_size(const int *input, int *output)
{
    __shared__ __align__(16) int tile[64];
    __pipeline_memcpy_async(tile, input, 12); // wrong_size
    output[0] = tile[0];
}

__global__ void misaligned(const int *input, int *output)
{
    __shared__ __align__(16) int tile[64];
    __pipeline_memcpy_async(tile + 1, input, 8); // misaligned
    output[0] = tile[0];
}
