// Kernels whose threads are ordered by fences and atomic functions, and siblings in which something is missing.

// One lane of each warp adds to a sum in turn.
__device__ void fence(int scope)
{
    if (scope == 1)
        __threadfence_block();
    if (scope == 2)
        __threadfence();
}

template <int scope, bool by_atomic>
__device__ void add_under_lock(int *lock, int *sum, int value)
{
    while (atomicCAS(lock, 0, 1) != 0) { // lock: take
    }
    fence(scope);
    *sum += value; // lock: update
    fence(scope);
    if (by_atomic)
        atomicExch(lock, 0);
    else
        *static_cast<volatile int *>(lock) = 0; // lock: plain
}

template <int scope, bool by_atomic>
__global__ void shared_lock(const int *input, int *output)
{
    __shared__ int lock, sum;
    if (threadIdx.x == 0)
        lock = sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        add_under_lock<scope, by_atomic>(&lock, &sum, input[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0)
        output[blockIdx.x] = sum;
}

// In `state`, the lock and the sum of all blocks.
template <int scope>
__global__ void global_lock(const int *input, int *state)
{
    if (threadIdx.x % 32 == 0)
        add_under_lock<scope, true>(state, state + 1, input[threadIdx.x]);
}

// Half of the warps take one lock, half the other.
__global__ void two_locks(const int *input, int *state)
{
    if (threadIdx.x % 32 == 0)
        add_under_lock<2, true>(state + 2 * (threadIdx.x / 32 % 2), state + 1, input[threadIdx.x]);
}

// The second warp hands its lanes' values to the first one, by their first lanes. (Of the two, the emulator goes on with
// the second one after the barrier.)
__global__ void warp_after_warp(const int *input, int *output)
{
    __shared__ int tile[32], flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x >= 32) {
        tile[threadIdx.x - 32] = input[threadIdx.x];
        __syncwarp();
        if (threadIdx.x == 32) {
            __threadfence_block();
            atomicExch(&flag, 1);
        }
        return;
    }
    if (threadIdx.x == 0) {
        while (atomicAdd(&flag, 0) == 0) {
        }
        __threadfence_block();
    }
    __syncwarp();
    output[32 * blockIdx.x + threadIdx.x] = tile[threadIdx.x];
}

__device__ unsigned arrived = 0;

// As in NVIDIA's sample threadFenceReduction, whose counter is a variable.
template <bool one_counter, bool is_variable>
__global__ void fence_reduction(const int *input, int *partials, unsigned *counters)
{
    __shared__ bool is_last;
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, input[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partials[1 + blockIdx.x] = sum; // fence: write
        __threadfence();
        unsigned *const counter = is_variable ? &arrived : one_counter ? counters : counters + blockIdx.x;
        is_last = atomicInc(counter, gridDim.x) == gridDim.x - 1 || blockIdx.x == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x < gridDim.x)
        atomicAdd(partials, partials[1 + threadIdx.x]); // fence: read
}

// Each block waits for the block before it, and hands on the sum so far.
template <bool by_atomic>
__global__ void look_back(const int *input, int *sums, int *flags)
{
    if (threadIdx.x != 0)
        return;
    int sum = input[blockIdx.x];
    if (blockIdx.x > 0) {
        int *const flag = flags + blockIdx.x - 1;
        while ((by_atomic ? atomicAdd(flag, 0) : *static_cast<volatile int *>(flag)) == 0) { // look back: wait
        }
        __threadfence();
        sum += sums[blockIdx.x - 1] - sums[0]; // look back: read
    }
    sums[blockIdx.x] = sum; // look back: write
    __threadfence();
    if (by_atomic)
        atomicExch(flags + blockIdx.x, 1);
    else
        *static_cast<volatile int *>(flags + blockIdx.x) = 1; // look back: set
}
