// Shared tile: a block brings `tile_k` columns of its rows of A, and as many rows of its columns of B, into shared memory.
// Then all its threads read them there, before the block goes on to the next `tile_k`.
//
// Global memory is read block_n times less for A, and block_m times less for B. But each product still takes two reads of
// shared memory, and these are the limit now.

template <int block_m, int block_n, int tile_k>
__global__ void __launch_bounds__(block_m *block_n)
    shared_tile(float *C, const float *A, const float *B, int m, int n, int k)
{
    __shared__ float tile_a[block_m][tile_k];
    __shared__ float tile_b[tile_k][block_n];
    const int first_row = blockIdx.y * block_m;
    const int first_column = blockIdx.x * block_n;
    const int thread = threadIdx.y * block_n + threadIdx.x;

    float sum = 0;
    for (int first_k = 0; first_k < k; first_k += tile_k) {
        for (int element = thread; element < block_m * tile_k; element += block_m * block_n) {
            const int row = element / tile_k;
            const int column = element % tile_k;
            const bool inside = first_row + row < m && first_k + column < k;
            tile_a[row][column] = inside ? A[size_t(first_row + row) * k + first_k + column] : 0;
        }
        for (int element = thread; element < tile_k * block_n; element += block_m * block_n) {
            const int row = element / block_n;
            const int column = element % block_n;
            const bool inside = first_k + row < k && first_column + column < n;
            tile_b[row][column] = inside ? B[size_t(first_k + row) * n + first_column + column] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int number = 0; number < tile_k; ++number)
            sum += tile_a[threadIdx.y][number] * tile_b[number][threadIdx.x];
        __syncthreads(); // All have read the tiles.
    }

    const int row = first_row + threadIdx.y;
    const int column = first_column + threadIdx.x;
    if (row < m && column < n)
        C[size_t(row) * n + column] = sum;
}
