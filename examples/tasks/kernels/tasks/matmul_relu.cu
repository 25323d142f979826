extern "C" __global__ void matmul_relu(float *c, const float *a, const float *b, const float *bias, int M, int K, int N)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || column >= N)
        return;
    float sum = 0;
    for (int k = 0; k < K; ++k)
        sum += a[row * K + k] * b[k * N + column];
    c[row * N + column] = fmaxf(0.5f * sum + bias[column], 0);
}
