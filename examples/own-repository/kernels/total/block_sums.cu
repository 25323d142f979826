// Each block adds the numbers that it has a thread for, by halves.
template <int block>
__global__ void block_sums(float *sums, const float *values, int count)
{
    __shared__ float shared[block];
    const int i = blockIdx.x * block + threadIdx.x;
    shared[threadIdx.x] = i < count ? values[i] : 0.0f;
    __syncthreads();
    for (int half = block / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = shared[0];
}
