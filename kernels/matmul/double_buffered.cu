// Double buffered: as `warp_tiles`, with two pairs of tiles in shared memory. While a block multiplies one pair, the next
// is on its way from global memory to registers; then it goes to the other pair.
//
// Loads have a multiplication's time to arrive, and one barrier a tile is enough instead of two. `resident` is the number
// of blocks that a multiprocessor is to hold at a time: the compiler gives each thread as many registers as that leaves.

#include "shared_array.cuh"
#include "tiles.cuh"
#include "warp_place.cuh"

template <int block_m, int block_n, int tile_k, int thread_m, int thread_n, int resident, bool whole_vectors>
__global__ void __launch_bounds__(block_m *block_n / thread_m / thread_n, resident)
    double_buffered(float *C, const float *A, const float *B, int m, int n, int k)
{
    constexpr int threads_m = block_m / thread_m;
    constexpr int threads_n = block_n / thread_n;
    using Loaded = Tiles<block_m, block_n, tile_k, threads_m * threads_n, whole_vectors>;
    float *current = dynamic_shared<float>();
    float *other = current + Loaded::size;
    const int first_row = blockIdx.y * block_m;
    const int first_column = blockIdx.x * block_n;
    const int own_row = row_of_thread<threads_m, threads_n>() * 4;
    const int own_column = column_of_thread<threads_n>() * 4;

    Loaded tiles;
    tiles.load(A, B, first_row, first_column, 0, m, n, k);
    tiles.store(current);
    __syncthreads();

    float sums[thread_m][thread_n] = {};
    for (int next_k = tile_k;; next_k += tile_k) {
        if (next_k < k)
            tiles.load(A, B, first_row, first_column, next_k, m, n, k);
#pragma unroll 8
        for (int number = 0; number < tile_k; ++number) {
            float a[thread_m];
            float b[thread_n];
            load_fragment<4 * threads_m>(a, current + number * Loaded::row_a + own_row);
            load_fragment<4 * threads_n>(b, current + tile_k * Loaded::row_a + number * Loaded::row_b + own_column);
            add_products(sums, a, b);
        }
        if (next_k >= k)
            break;
        tiles.store(other);
        __syncthreads(); // The other tiles are there, and all have read the current ones.
        float *const read = current;
        current = other;
        other = read;
    }

#pragma unroll
    for (int i = 0; i < thread_m; ++i)
        store_sums<whole_vectors, 4 * threads_n>(C, first_row + own_row + i / 4 * 4 * threads_m + i % 4,
                                                 first_column + own_column, m, n, sums[i]);
}
