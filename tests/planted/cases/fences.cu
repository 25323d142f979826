// Threads that are ordered by fences with atomic functions.

template <int scope>
__device__ void fence()
{
    if (scope == 1)
        __threadfence_block();
    if (scope == 2)
        __threadfence();
}

template <int scope, bool by_atomic>
__device__ void add_under_lock(int *lock, int *sum, int value)
{
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    fence<scope>();
    *sum += value;
    fence<scope>();
    if (by_atomic)
        atomicExch(lock, 0);
    else
        *static_cast<volatile int *>(lock) = 0;
}

template <int scope, bool by_atomic>
__device__ void lock_of_a_block(const int *x, int *y)
{
    __shared__ int lock, sum;
    if (t == 0)
        lock = sum = 0;
    __syncthreads();
    if (t % 32 == 0)
        add_under_lock<scope, by_atomic>(&lock, &sum, x[t]);
    __syncthreads();
    if (t == 0)
        y[blockIdx.x] = sum;
}

template <int scope>
__device__ void last_block_sums(const int *x, int *y, int *counter)
{
    __shared__ bool is_last;
    __shared__ int sum;
    if (t == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[i]);
    __syncthreads();
    if (t == 0) {
        y[1 + blockIdx.x] = sum;
        fence<scope>();
        is_last = atomicAdd(counter, 1) == int(gridDim.x) - 1;
    }
    __syncthreads();
    if (is_last && t == 0)
        y[0] = y[1] + y[2];
}

template <int scope, bool by_atomic>
__device__ void wait_for_block_before(const int *x, int *y, int *flag)
{
    if (t != 0)
        return;
    if (blockIdx.x == 0) {
        y[0] = x[0];
        fence<scope>();
        if (by_atomic)
            atomicExch(flag, 1);
        else
            *static_cast<volatile int *>(flag) = 1;
    } else {
        while ((by_atomic ? atomicAdd(flag, 0) : *static_cast<volatile int *>(flag)) == 0) {
        }
        fence<scope>();
        y[1] = y[0] + x[1];
    }
}

template <int waiting>
__device__ void wait_for_warp(const int *x, int *y)
{
    __shared__ int flag, value;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t / 32 == waiting) {
        while (atomicAdd(&flag, 0) == 0)
            __nanosleep(10);
        __threadfence_block();
        y[i] = value;
    } else if (t % 32 == 0) {
        value = x[i];
        __threadfence_block();
        atomicExch(&flag, 1);
    }
}

// right: the first warp waits in a loop for the second one
__global__ void first_warp_waits(const int *x, int *y, int *z) { wait_for_warp<0>(x, y); }

// right: the second warp waits in a loop for the first one
__global__ void second_warp_waits(const int *x, int *y, int *z) { wait_for_warp<1>(x, y); }

// right: a lock in a block, with __threadfence_block
__global__ void block_lock(const int *x, int *y, int *z) { lock_of_a_block<1, true>(x, y); }

// right: a lock in a block, with __threadfence
__global__ void block_lock_of_device(const int *x, int *y, int *z) { lock_of_a_block<2, true>(x, y); }

// right: a lock between blocks
__global__ void device_lock(const int *x, int *y, int *z)
{
    if (t % 32 == 0)
        add_under_lock<2, true>(z, z + 1, x[i]);
}

// right: the last block adds up, with a fence
__global__ void last_block(const int *x, int *y, int *z) { last_block_sums<2>(x, y, z); }

__device__ int arrived;

// right: the last block adds up, with a variable as its counter
__global__ void last_block_by_variable(const int *x, int *y, int *z) { last_block_sums<2>(x, y, &arrived); }

// right: a block waits for another one's flag, set and read by atomic functions
__global__ void look_back(const int *x, int *y, int *z) { wait_for_block_before<2, true>(x, y, z); }

// right: a warp hands values to another one by an atomic flag
__global__ void warp_after_warp(const int *x, int *y, int *z)
{
    __shared__ int tile[32], flag;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t >= 32) {
        tile[t - 32] = x[t];
        __syncwarp();
        if (t == 32) {
            __threadfence_block();
            atomicExch(&flag, 1);
        }
        return;
    }
    if (t == 0) {
        while (atomicAdd(&flag, 0) == 0) {
        }
        __threadfence_block();
    }
    __syncwarp();
    y[32 * blockIdx.x + t] = tile[t];
}

// right: what all threads have counted, after a barrier
__global__ void counted_then_read(const int *x, int *y, int *z)
{
    atomicAdd(z + blockIdx.x, x[i]);
    __syncthreads();
    y[i] = z[blockIdx.x];
}

// right: a compare-and-swap loop
__global__ void swapped(const int *x, int *y, int *z)
{
    for (int seen = 0, old; (old = atomicCAS(z, seen, seen + x[i])) != seen; seen = old) {
    }
    y[i] = 0;
}

// wrong (races: race): a lock without a fence
__global__ void lock_without_fence(const int *x, int *y, int *z) { lock_of_a_block<0, true>(x, y); }

// wrong (races: race): a lock that a plain store opens
__global__ void plainly_unlocked(const int *x, int *y, int *z) { lock_of_a_block<2, false>(x, y); }

// wrong (races: race): a lock between blocks, whose fence is the block's
__global__ void lock_of_wrong_scope(const int *x, int *y, int *z)
{
    if (t % 32 == 0)
        add_under_lock<1, true>(z, z + 1, x[i]);
}

// wrong (races: race): two locks for one sum
__global__ void two_locks(const int *x, int *y, int *z)
{
    if (t % 32 == 0)
        add_under_lock<2, true>(z + 2 + t / 32, z + 1, x[i]);
}

// wrong (races: race): the last block adds up, without a fence
__global__ void last_block_without_fence(const int *x, int *y, int *z) { last_block_sums<0>(x, y, z); }

// wrong (races: race): the last block adds up, with the block's fence
__global__ void last_block_of_wrong_scope(const int *x, int *y, int *z) { last_block_sums<1>(x, y, z); }

// wrong (races: race): a volatile flag between blocks
__global__ void volatile_flag(const int *x, int *y, int *z) { wait_for_block_before<2, false>(x, y, z); }

// wrong (races: race): an atomic flag between blocks, without a fence
__global__ void flag_without_fence(const int *x, int *y, int *z) { wait_for_block_before<0, true>(x, y, z); }
