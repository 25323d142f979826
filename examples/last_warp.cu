// The sum of 64 integers in the first warp of a block, in three forms: docs/last-warp.md.
#include <cstdio>

template <typename Pointer>
__device__ void six_steps(Pointer data)
{
    const unsigned lane = threadIdx.x;
    for (unsigned stride = 32; stride > 0; stride /= 2)
        data[lane] += data[lane + stride];
}

__global__ void plain(int *data, int *sum)
{
    __shared__ int shared[64];
    shared[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 32)
        six_steps<int *>(shared);
    if (threadIdx.x == 0)
        *sum = shared[0];
}

__global__ void with_volatile(int *data, int *sum)
{
    __shared__ int shared[64];
    shared[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 32)
        six_steps<volatile int *>(shared);
    if (threadIdx.x == 0)
        *sum = shared[0];
}

__global__ void with_syncwarp(int *data, int *sum)
{
    __shared__ int shared[64];
    const unsigned lane = threadIdx.x;
    shared[lane] = data[lane];
    __syncthreads();
    for (unsigned stride = 32; lane < 32 && stride > 0; stride /= 2) {
        const int both = shared[lane] + shared[lane + stride];
        __syncwarp();
        shared[lane] = both;
        __syncwarp();
    }
    if (lane == 0)
        *sum = shared[0];
}

int main()
{
    int ones[64], sums[3];
    for (int &one : ones)
        one = 1;
    int *data, *sum;
    cudaMalloc(&data, sizeof ones);
    cudaMalloc(&sum, sizeof sums);
    cudaMemcpy(data, ones, sizeof ones, cudaMemcpyHostToDevice);
    plain<<<1, 64>>>(data, sum);
    with_volatile<<<1, 64>>>(data, sum + 1);
    with_syncwarp<<<1, 64>>>(data, sum + 2);
    cudaMemcpy(sums, sum, sizeof sums, cudaMemcpyDeviceToHost);
    printf("the sum of 64 ones: plain %d, volatile %d, __syncwarp %d\n", sums[0], sums[1], sums[2]);
    return 0;
}
