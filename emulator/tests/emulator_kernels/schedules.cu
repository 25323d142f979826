// Kernels whose outcome depends on the order of threads, though no accesses race, and their right twins.

__device__ void lock(int *mutex)
{
    while (atomicCAS(mutex, 0, 1) != 0) {} // waits
    __threadfence();
}

__device__ void unlock(int *mutex)
{
    __threadfence();
    atomicExch(mutex, 0);
}

template <bool at_once>
__global__ void counted(int *data)
{
    if (at_once)
        atomicAdd(&data[0], 1);
    else
        atomicExch(&data[0], atomicAdd(&data[0], 0) + 1);
}

template <bool in_order>
__global__ void two_locks(int *data)
{
    if (threadIdx.x % 32 != 0)
        return;
    const int first = in_order || threadIdx.x == 0 ? 1 : 2;
    lock(&data[first]);
    lock(&data[3 - first]);
    ++data[0];
    unlock(&data[3 - first]);
    unlock(&data[first]);
}

__global__ void exchanged(int *data)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int sum = tile[63 - threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(~0u, sum, distance);
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        atomicAdd(&data[0], sum);
}

__constant__ const int least[2] = {1, 1};

// Each thread waits for the next one of its block, and takes its time.
__global__ void in_a_row(int *data)
{
    int *const own = &data[2 + blockIdx.x * blockDim.x + threadIdx.x];
    while (threadIdx.x + 1 < blockDim.x && atomicAdd(own + 1, 0) < least[threadIdx.x % 2]) {}
    for (int again = 0; again < 30; ++again)
        atomicMax(&data[1], 1);
    atomicAdd(&data[0], 1);
    atomicAdd(own, 1);
}
