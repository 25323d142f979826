// C = A B: a thread block multiplies tiles in shared memory, and each thread has rows x columns sums.

extern "C" __global__ void __launch_bounds__(block_size_x *block_size_y)
    matmul(float *C, const float *A, const float *B, int n)
{
    constexpr int side = block_size_x;
    __shared__ float a[rows * side][side];
    __shared__ float b[side][columns * side];
    const int x = blockIdx.x * columns * side + threadIdx.x, y = blockIdx.y * rows * side + threadIdx.y;
    float sums[rows][columns] = {};
    for (int k = 0; k < n; k += side) {
        for (int r = 0; r < rows; ++r)
            a[threadIdx.y + r * side][threadIdx.x] = A[(y + r * side) * n + k + threadIdx.x];
        for (int c = 0; c < columns; ++c)
            b[threadIdx.y][threadIdx.x + c * side] = B[(k + threadIdx.y) * n + x + c * side];
        __syncthreads();
        constexpr int steps = unrolled;
#pragma unroll steps
        for (int i = 0; i < side; ++i)
            for (int r = 0; r < rows; ++r)
                for (int c = 0; c < columns; ++c)
                    sums[r][c] += a[threadIdx.y + r * side][i] * b[i][threadIdx.x + c * side];
        __syncthreads();
    }
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
            C[(y + r * side) * n + x + c * side] = sums[r][c];
}
