// Warp tiles: as `vectors`, but the threads of a warp form a rectangle of 4 x 8 instead of one row or two.
//
// A warp then reads 4 different vectors of A and 8 of B for its products, 12 instead of up to 33: shared memory delivers
// 128 bytes a cycle, and gives lanes that ask for the same vector one copy.

#include "shared_array.cuh"
#include "tiles.cuh"
#include "warp_place.cuh"

template <int block_m, int block_n, int tile_k, int thread_m, int thread_n, bool whole_vectors>
__global__ void __launch_bounds__(block_m *block_n / thread_m / thread_n)
    warp_tiles(float *C, const float *A, const float *B, int m, int n, int k)
{
    constexpr int threads_m = block_m / thread_m;
    constexpr int threads_n = block_n / thread_n;
    using Loaded = Tiles<block_m, block_n, tile_k, threads_m * threads_n, whole_vectors>;
    float *const shared = dynamic_shared<float>();
    const int first_row = blockIdx.y * block_m;
    const int first_column = blockIdx.x * block_n;
    const int own_row = row_of_thread<threads_m, threads_n>() * 4;
    const int own_column = column_of_thread<threads_n>() * 4;

    float sums[thread_m][thread_n] = {};
    for (int first_k = 0; first_k < k; first_k += tile_k) {
        Loaded tiles;
        tiles.load(A, B, first_row, first_column, first_k, m, n, k);
        tiles.store(shared);
        __syncthreads();
#pragma unroll 8
        for (int number = 0; number < tile_k; ++number) {
            float a[thread_m];
            float b[thread_n];
            load_fragment<4 * threads_m>(a, shared + number * Loaded::row_a + own_row);
            load_fragment<4 * threads_n>(b, shared + tile_k * Loaded::row_a + number * Loaded::row_b + own_column);
            add_products(sums, a, b);
        }
        __syncthreads(); // All have read the tiles.
    }

#pragma unroll
    for (int i = 0; i < thread_m; ++i)
        store_sums<whole_vectors, 4 * threads_n>(C, first_row + own_row + i / 4 * 4 * threads_m + i % 4,
                                                 first_column + own_column, m, n, sums[i]);
}
