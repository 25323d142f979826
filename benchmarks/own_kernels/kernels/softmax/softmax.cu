// The exponentials of each row over their sum: a thread block a row, which it reads twice.

extern "C" __global__ void __launch_bounds__(block_size_x) softmax(float *y, const float *x, int width)
{
    __shared__ float largest[block_size_x], sums[block_size_x];
    const float *row = x + (size_t)blockIdx.x * width;
    float most = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < width; i += block_size_x) {
        const float before = most;
        most = fmaxf(most, row[i]);
        sum = sum * expf(before - most) + expf(row[i] - most);
    }
    largest[threadIdx.x] = most;
    sums[threadIdx.x] = sum;
    for (int half = block_size_x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half && largest[threadIdx.x + half] > -INFINITY) {
            const float one = largest[threadIdx.x], other = largest[threadIdx.x + half], both = fmaxf(one, other);
            sums[threadIdx.x] = sums[threadIdx.x] * expf(one - both) + sums[threadIdx.x + half] * expf(other - both);
            largest[threadIdx.x] = both;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < width; i += block_size_x)
        y[(size_t)blockIdx.x * width + i] = expf(row[i] - largest[0]) / sums[0];
}
