extern "C" __global__ void prefixsum(float *sums, const float *x, int size)
{
    __shared__ float part[256];
    float before = 0;
    for (int start = 0; start < size; start += 256) {
        const int i = start + threadIdx.x;
        part[threadIdx.x] = i < size ? x[i] : 0;
        for (int step = 1; step < 256; step *= 2) {
            __syncthreads();
            const float other = threadIdx.x >= step ? part[threadIdx.x - step] : 0;
            __syncthreads();
            part[threadIdx.x] += other;
        }
        __syncthreads();
        if (i < size)
            sums[i] = before + part[threadIdx.x];
        before += part[255];
        __syncthreads();
    }
}
