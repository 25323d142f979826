// Tensor cores: the tiles and copies of `async_copies`, but a warp multiplies 16 x 8 by 8 x 16 floats by one instruction
// of its tensor core. Each warp computes thread_m x thread_n squares of 16 x 16 elements of C.
//
// The inputs are rounded to TF32, which keeps 11 bits of a float's 24. The sums stay in float32. So the results are further
// off than the other kernels', and have an error bound of their own.

#include <mma.h>

#include "copies.cuh"
#include "shared_array.cuh"

using namespace nvcuda;

template <int block_m, int block_n, int tile_k, int thread_m, int thread_n, int stages, bool whole_vectors>
__global__ void __launch_bounds__(block_m *block_n / thread_m / thread_n / 8)
    tensor_cores(float *C, const float *A, const float *B, int m, int n, int k)
{
    constexpr int side = 16; // of a square of C
    constexpr int depth = 8; // of one multiplication
    constexpr int warps_n = block_n / (side * thread_n);
    constexpr int warps = block_m / (side * thread_m) * warps_n;
    // Four floats more a row, so that rows begin in different banks.
    constexpr int row_a = tile_k + 4;
    constexpr int row_b = block_n + 4;
    constexpr int row_c = side + 4;
    constexpr int size_a = block_m * row_a;
    constexpr int size = size_a + tile_k * row_b;
    static_assert(stages * size >= warps * side * row_c, "a square of C for each warp fits where the tiles were");
    float *const shared = dynamic_shared<float>();
    const int first_row = blockIdx.y * block_m;
    const int first_column = blockIdx.x * block_n;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int own_row = warp / warps_n * thread_m * side;
    const int own_column = warp % warps_n * thread_n * side;
    const int tiles = (k + tile_k - 1) / tile_k;
    // Every call counts as one group of copies, also past the last tile, so that the wait below may count groups.
    const auto start = [&](int tile) {
        float *const stage = shared + tile % stages * size;
        if (tile < tiles) {
            copy_tile<block_m, tile_k, row_a, warps * 32, whole_vectors>(stage, A, first_row, tile * tile_k, m, k);
            copy_tile<tile_k, block_n, row_b, warps * 32, whole_vectors>(stage + size_a, B, tile * tile_k, first_column, k, n);
        }
        __pipeline_commit();
    };

    for (int tile = 0; tile < stages - 1; ++tile)
        start(tile);
    wmma::fragment<wmma::accumulator, side, side, depth, float> sums[thread_m][thread_n];
#pragma unroll
    for (int i = 0; i < thread_m; ++i)
#pragma unroll
        for (int j = 0; j < thread_n; ++j)
            wmma::fill_fragment(sums[i][j], 0);
    for (int tile = 0; tile < tiles; ++tile) {
        __pipeline_wait_prior(stages - 2);
        __syncthreads(); // The tile is there for all, and all have read the one before, whose place is free now.
        start(tile + stages - 1);
        const float *const tile_a = shared + tile % stages * size + own_row * row_a;
        const float *const tile_b = shared + tile % stages * size + size_a + own_column;
#pragma unroll
        for (int number = 0; number < tile_k; number += depth) {
            wmma::fragment<wmma::matrix_a, side, side, depth, wmma::precision::tf32, wmma::row_major> a[thread_m];
            wmma::fragment<wmma::matrix_b, side, side, depth, wmma::precision::tf32, wmma::row_major> b[thread_n];
#pragma unroll
            for (int i = 0; i < thread_m; ++i) {
                wmma::load_matrix_sync(a[i], tile_a + i * side * row_a + number, row_a);
#pragma unroll
                for (int element = 0; element < a[i].num_elements; ++element)
                    a[i].x[element] = wmma::__float_to_tf32(a[i].x[element]);
            }
#pragma unroll
            for (int j = 0; j < thread_n; ++j) {
                wmma::load_matrix_sync(b[j], tile_b + number * row_b + j * side, row_b);
#pragma unroll
                for (int element = 0; element < b[j].num_elements; ++element)
                    b[j].x[element] = wmma::__float_to_tf32(b[j].x[element]);
            }
#pragma unroll
            for (int i = 0; i < thread_m; ++i)
#pragma unroll
                for (int j = 0; j < thread_n; ++j)
                    wmma::mma_sync(sums[i][j], a[i], b[j], sums[i][j]);
        }
    }

    // Which lane holds which element of a square is not documented, so squares go through shared memory, where C's sides
    // can be checked element by element.
    __syncthreads(); // All have read the last tiles.
    float *const square = shared + warp * side * row_c;
#pragma unroll
    for (int i = 0; i < thread_m; ++i)
#pragma unroll
        for (int j = 0; j < thread_n; ++j) {
            wmma::store_matrix_sync(square, sums[i][j], row_c, wmma::mem_row_major);
            __syncwarp();
            for (int element = lane; element < side * side; element += 32) {
                const int row = first_row + own_row + i * side + element / side;
                const int column = first_column + own_column + j * side + element % side;
                if (row < m && column < n)
                    C[size_t(row) * n + column] = square[element / side * row_c + element % side];
            }
            __syncwarp(); // All have read the square.
        }
}
