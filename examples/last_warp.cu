// The sum of 64 integers in the first warp of a block: without an order, with volatile, with __syncwarp (docs/last-warp.md).
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
    int *data, *sum;
    cudaMalloc(&data, 64 * sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    plain<<<1, 64>>>(data, sum);
    with_volatile<<<1, 64>>>(data, sum);
    with_syncwarp<<<1, 64>>>(data, sum);
    return 0;
}
