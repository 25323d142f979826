// Naive: each thread computes one element of C, the product of a row of A and a column of B, straight from global memory.
//
// A warp reads one element of A and 32 neighbours of B for 32 products, and each element of A and B is read again for
// every element of C that needs it.

__global__ void naive(float *C, const float *A, const float *B, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n)
        return;
    float sum = 0;
    for (int number = 0; number < k; ++number)
        sum += A[size_t(row) * k + number] * B[size_t(number) * n + column];
    C[size_t(row) * n + column] = sum;
}
