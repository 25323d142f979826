// Register tile: as `shared_tile`, but each thread computes thread_m x thread_n elements of C.
//
// It reads thread_m elements of A and thread_n of B into registers for thread_m * thread_n products: with 8 x 8, one read
// of shared memory serves four products instead of half a product.

template <int block_m, int block_n, int tile_k, int thread_m, int thread_n>
__global__ void __launch_bounds__(block_m *block_n / thread_m / thread_n)
    register_tile(float *C, const float *A, const float *B, int m, int n, int k)
{
    // A thread's rows are threads_m apart, and its columns threads_n, so that neighbours in a warp read neighbours.
    constexpr int threads_m = block_m / thread_m;
    constexpr int threads_n = block_n / thread_n;
    constexpr int threads = threads_m * threads_n;
    __shared__ float tile_a[block_m][tile_k];
    __shared__ float tile_b[tile_k][block_n];
    const int first_row = blockIdx.y * block_m;
    const int first_column = blockIdx.x * block_n;
    const int thread = threadIdx.y * threads_n + threadIdx.x;

    float sums[thread_m][thread_n] = {};
    for (int first_k = 0; first_k < k; first_k += tile_k) {
        for (int element = thread; element < block_m * tile_k; element += threads) {
            const int row = element / tile_k;
            const int column = element % tile_k;
            const bool inside = first_row + row < m && first_k + column < k;
            tile_a[row][column] = inside ? A[size_t(first_row + row) * k + first_k + column] : 0;
        }
        for (int element = thread; element < tile_k * block_n; element += threads) {
            const int row = element / block_n;
            const int column = element % block_n;
            const bool inside = first_k + row < k && first_column + column < n;
            tile_b[row][column] = inside ? B[size_t(first_k + row) * n + first_column + column] : 0;
        }
        __syncthreads();
#pragma unroll 8
        for (int number = 0; number < tile_k; ++number) {
            float a[thread_m];
            float b[thread_n];
#pragma unroll
            for (int i = 0; i < thread_m; ++i)
                a[i] = tile_a[threadIdx.y + i * threads_m][number];
#pragma unroll
            for (int j = 0; j < thread_n; ++j)
                b[j] = tile_b[number][threadIdx.x + j * threads_n];
#pragma unroll
            for (int i = 0; i < thread_m; ++i)
#pragma unroll
                for (int j = 0; j < thread_n; ++j)
                    sums[i][j] += a[i] * b[j];
        }
        __syncthreads(); // All have read the tiles.
    }

#pragma unroll
    for (int i = 0; i < thread_m; ++i)
#pragma unroll
        for (int j = 0; j < thread_n; ++j) {
            const int row = first_row + threadIdx.y + i * threads_m;
            const int column = first_column + threadIdx.x + j * threads_n;
            if (row < m && column < n)
                C[size_t(row) * n + column] = sums[i][j];
        }
}
