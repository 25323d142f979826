// Sums of 64 elements a block, as they are written in applications.

__device__ int warp_sum(int value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    return value;
}

// right: a tree in shared memory
__global__ void tree(const int *x, int *y, int *z)
{
    __shared__ int partial[64];
    partial[t] = x[i];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half)
            partial[t] += partial[t + half];
        __syncthreads();
    }
    if (t == 0)
        y[blockIdx.x] = partial[0];
}

// right: sums of warps, and of these by the first one
__global__ void of_warps(const int *x, int *y, int *z)
{
    __shared__ int sums[2];
    const int own = warp_sum(x[i]);
    if (t % 32 == 0)
        sums[t / 32] = own;
    __syncthreads();
    if (t == 0)
        y[blockIdx.x] = sums[0] + sums[1];
}

// right: the last block adds up what all have published
__global__ void by_last_block(const int *x, int *y, int *z)
{
    __shared__ bool is_last;
    const int own = warp_sum(x[i]);
    if (t % 32 == 0)
        atomicAdd(&z[1 + blockIdx.x], own);
    __syncthreads();
    if (t == 0) {
        y[1 + blockIdx.x] = atomicAdd(&z[1 + blockIdx.x], 0);
        __threadfence();
        is_last = atomicAdd(&z[0], 1) == int(gridDim.x) - 1;
    }
    __syncthreads();
    if (is_last && t == 0) {
        __threadfence();
        y[0] = y[1] + y[2];
    }
}

// wrong (races: race): the barrier is above the loop, and not in it
__global__ void barrier_above_loop(const int *x, int *y, int *z)
{
    __shared__ int partial[64];
    partial[t] = x[i];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2)
        if (t < half)
            partial[t] += partial[t + half];
    if (t == 0)
        y[blockIdx.x] = partial[0];
}

// wrong (races: race): the last warp goes on without barriers, as if its lanes were in step
__global__ void last_warp_in_step(const int *x, int *y, int *z)
{
    __shared__ int partial[64];
    partial[t] = x[i];
    __syncthreads();
    if (t < 32) {
        volatile int *const own = partial;
        for (int distance = 32; distance > 0; distance /= 2)
            own[t] += own[t + distance];
    }
    if (t == 0)
        y[blockIdx.x] = partial[0];
}

// wrong (races: race): nobody waits for the sum to be 0
__global__ void sum_not_ready(const int *x, int *y, int *z)
{
    __shared__ int sum;
    if (t == 0)
        sum = 0;
    atomicAdd(&sum, x[i]);
    __syncthreads();
    if (t == 0)
        y[blockIdx.x] = sum;
}

// wrong (uninitialised: uninitialised): a tree over twice as many elements as were stored
__global__ void tree_too_large(const int *x, int *y, int *z)
{
    __shared__ int partial[128];
    partial[t] = x[i];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half)
            partial[t] += partial[t + half];
        __syncthreads();
    }
    if (t == 0)
        y[blockIdx.x] = partial[0];
}

// wrong (races: race): the last block reads what others may not have published
__global__ void last_block_unfenced(const int *x, int *y, int *z)
{
    __shared__ bool is_last;
    if (t == 0) {
        y[1 + blockIdx.x] = x[i];
        is_last = atomicAdd(&z[0], 1) == int(gridDim.x) - 1;
    }
    __syncthreads();
    if (is_last && t == 0)
        y[0] = y[1] + y[2];
}
