// Each row less its mean, over its standard deviation, scaled and shifted: a thread block a row.

__device__ float sum_of_block(float value)
{
    __shared__ float sums[32];
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffff, value, step);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = value;
    __syncthreads();
    float total = 0;
    for (int warp = 0; warp < block_size_x / 32; ++warp)
        total += sums[warp];
    __syncthreads();
    return total;
}

extern "C" __global__ void __launch_bounds__(block_size_x)
    layer_norm(float *y, const float *x, const float *scale, const float *shift, int width)
{
    const float *row = x + (size_t)blockIdx.x * width;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < width; i += block_size_x)
        sum += row[i];
    const float mean = sum_of_block(sum) / width;
    for (int i = threadIdx.x; i < width; i += block_size_x)
        squares += (row[i] - mean) * (row[i] - mean);
    const float factor = rsqrtf(sum_of_block(squares) / width + 1e-5f);
    for (int i = threadIdx.x; i < width; i += block_size_x)
        y[(size_t)blockIdx.x * width + i] = (row[i] - mean) * factor * scale[i] + shift[i];
}
