// Asynchronous copies: as `double_buffered`, but tiles go from global to shared memory without registers on their way, and
// up to `stages` pairs of tiles are there or on their way at a time.
//
// Registers are free for larger thread tiles. A copy of 16 bytes can't swap the sides of A's tile, so a thread reads
// vectors along a row of A instead, which serve four steps.

#include "copies.cuh"
#include "shared_array.cuh"
#include "vectors.cuh"
#include "warp_place.cuh"

template <int block_m, int block_n, int tile_k, int thread_m, int thread_n, int stages, int resident, bool whole_vectors>
__global__ void __launch_bounds__(block_m *block_n / thread_m / thread_n, resident)
    async_copies(float *C, const float *A, const float *B, int m, int n, int k)
{
    constexpr int threads_m = block_m / thread_m;
    constexpr int threads_n = block_n / thread_n;
    constexpr int threads = threads_m * threads_n;
    // Four floats more a row, so that the four rows of A that a warp reads at a time lie in different banks.
    constexpr int row_a = tile_k + 4;
    constexpr int size_a = block_m * row_a;
    constexpr int size = size_a + tile_k * block_n;
    float *const shared = dynamic_shared<float>();
    const int first_row = blockIdx.y * block_m;
    const int first_column = blockIdx.x * block_n;
    const int own_row = row_of_thread<threads_m, threads_n>(); // The thread's rows are threads_m apart.
    const int own_column = column_of_thread<threads_n>() * 4;
    const int tiles = (k + tile_k - 1) / tile_k;
    // Every call counts as one group of copies, also past the last tile, so that the wait below may count groups.
    const auto start = [&](int tile) {
        float *const stage = shared + tile % stages * size;
        if (tile < tiles) {
            copy_tile<block_m, tile_k, row_a, threads, whole_vectors>(stage, A, first_row, tile * tile_k, m, k);
            copy_tile<tile_k, block_n, block_n, threads, whole_vectors>(stage + size_a, B, tile * tile_k, first_column, k, n);
        }
        __pipeline_commit();
    };

    for (int tile = 0; tile < stages - 1; ++tile)
        start(tile);
    float sums[thread_m][thread_n] = {};
    for (int tile = 0; tile < tiles; ++tile) {
        __pipeline_wait_prior(stages - 2);
        __syncthreads(); // The tile is there for all, and all have read the one before, whose place is free now.
        start(tile + stages - 1);
        const float *const tile_a = shared + tile % stages * size + own_row * row_a;
        const float *const tile_b = shared + tile % stages * size + size_a + own_column;
#pragma unroll 2
        for (int number = 0; number < tile_k; number += 4) {
            float a[thread_m][4];
#pragma unroll
            for (int i = 0; i < thread_m; ++i)
                load_fragment<4>(a[i], tile_a + i * threads_m * row_a + number);
#pragma unroll
            for (int step = 0; step < 4; ++step) {
                float b[thread_n];
                load_fragment<4 * threads_n>(b, tile_b + (number + step) * block_n);
#pragma unroll
                for (int i = 0; i < thread_m; ++i)
#pragma unroll
                    for (int j = 0; j < thread_n; ++j)
                        sums[i][j] += a[i][step] * b[j];
            }
        }
    }

#pragma unroll
    for (int i = 0; i < thread_m; ++i)
        store_sums<whole_vectors, 4 * threads_n>(C, first_row + own_row + i * threads_m, first_column + own_column, m, n,
                                                 sums[i]);
}
