// Blocks that rely on one another: flags, counters, look-back.

// right: the second block waits for the first one's sum
__global__ void look_back(const int *x, int *y, int *z)
{
    __shared__ int before;
    const int sum = __reduce_add_sync(~0u, t < 32 ? x[i] : 0);
    if (t == 0) {
        before = 0;
        if (blockIdx.x > 0) {
            while (atomicAdd(&z[blockIdx.x - 1], 0) == 0) {}
            __threadfence();
            before = z[100 + blockIdx.x - 1];
        }
        z[100 + blockIdx.x] = before + sum;
        __threadfence();
        atomicExch(&z[blockIdx.x], 1);
    }
    __syncthreads();
    y[i] = before + x[i];
}

// wrong (races: race): the flag is set before the sum is published
__global__ void look_back_unfenced(const int *x, int *y, int *z)
{
    if (t == 0) {
        int before = 0;
        if (blockIdx.x > 0) {
            while (atomicAdd(&z[blockIdx.x - 1], 0) == 0) {}
            __threadfence();
            before = z[100 + blockIdx.x - 1];
        }
        z[100 + blockIdx.x] = before + x[i];
        atomicExch(&z[blockIdx.x], 1);
    }
}

// wrong (races: race): the sum is read before the flag has been passed
__global__ void look_back_too_early(const int *x, int *y, int *z)
{
    if (t == 0) {
        int before = 0;
        if (blockIdx.x > 0) {
            before = z[100 + blockIdx.x - 1];
            while (atomicAdd(&z[blockIdx.x - 1], 0) == 0) {}
            __threadfence();
        }
        z[100 + blockIdx.x] = before + x[i];
        __threadfence();
        atomicExch(&z[blockIdx.x], 1);
    }
}

// right: the flag and the sum in one word of 64 bits
__global__ void look_back_in_one_word(const int *x, int *y, int *z)
{
    unsigned long long *const state = reinterpret_cast<unsigned long long *>(z);
    if (t == 0) {
        unsigned before = 0;
        if (blockIdx.x > 0)
            for (unsigned long long seen = 0; seen >> 32 == 0; before = unsigned(seen))
                seen = atomicAdd(&state[blockIdx.x - 1], 0);
        atomicExch(&state[blockIdx.x], 1ull << 32 | (before + unsigned(x[i])));
        y[blockIdx.x] = int(before);
    }
}

// wrong (races: race): a flag that is read by a plain load, though volatile
__global__ void volatile_flag(const int *x, int *y, int *z)
{
    volatile int *const flag = z;
    if (t == 0) {
        if (blockIdx.x > 0) {
            while (flag[blockIdx.x - 1] == 0) {}
            y[1] = z[100];
        }
        z[100 + blockIdx.x] = x[i];
        __threadfence();
        flag[blockIdx.x] = 1;
    }
}

// right: release and acquire
__global__ void released(const int *x, int *y, int *z)
{
    if (t == 0) {
        if (blockIdx.x > 0) {
            cuda::atomic_ref<int, cuda::thread_scope_device> before(z[blockIdx.x - 1]);
            while (before.load(cuda::std::memory_order_acquire) == 0) {}
            y[1] = z[100];
        }
        z[100 + blockIdx.x] = x[i];
        cuda::atomic_ref<int, cuda::thread_scope_device>(z[blockIdx.x]).store(1, cuda::std::memory_order_release);
    }
}

// wrong (races: race): release, and a relaxed load
__global__ void relaxed_load(const int *x, int *y, int *z)
{
    if (t == 0) {
        if (blockIdx.x > 0) {
            cuda::atomic_ref<int, cuda::thread_scope_device> before(z[blockIdx.x - 1]);
            while (before.load(cuda::std::memory_order_relaxed) == 0) {}
            y[1] = z[100];
        }
        z[100 + blockIdx.x] = x[i];
        cuda::atomic_ref<int, cuda::thread_scope_device>(z[blockIdx.x]).store(1, cuda::std::memory_order_release);
    }
}

// wrong (races: race): the scope of a block, between blocks
__global__ void released_to_the_block(const int *x, int *y, int *z)
{
    if (t == 0) {
        if (blockIdx.x > 0) {
            cuda::atomic_ref<int, cuda::thread_scope_block> before(z[blockIdx.x - 1]);
            while (before.load(cuda::std::memory_order_acquire) == 0) {}
            y[1] = z[100];
        }
        z[100 + blockIdx.x] = x[i];
        cuda::atomic_ref<int, cuda::thread_scope_block>(z[blockIdx.x]).store(1, cuda::std::memory_order_release);
    }
}

// wrong (barriers: barrier): the first block waits for the second, which may not run yet
__global__ void waits_for_later_block(const int *x, int *y, int *z)
{
    if (t == 0 && blockIdx.x == 0)
        while (atomicAdd(&z[0], 0) == 0) {}
    if (t == 0 && blockIdx.x == 1)
        atomicExch(&z[0], 1);
    y[i] = x[i];
}

// wrong (races: race): the last block is found, and its other threads read what none of them has awaited
__global__ void last_block_not_told(const int *x, int *y, int *z)
{
    __shared__ bool is_last;
    z[100 + i] = x[i];
    __threadfence();
    if (t == 0)
        is_last = atomicAdd(&z[0], 1) == int(gridDim.x) - 1;
    __syncthreads();
    if (is_last)
        y[t] = z[100 + t] + z[164 + t];
}

// right: the last block is found once all threads of each have stored
__global__ void last_block(const int *x, int *y, int *z)
{
    __shared__ bool is_last;
    z[100 + i] = x[i];
    __threadfence();
    __syncthreads();
    if (t == 0)
        is_last = atomicAdd(&z[0], 1) == int(gridDim.x) - 1;
    __syncthreads();
    __threadfence();
    if (is_last)
        y[t] = z[100 + t] + z[164 + t];
}

// right: tiles by a counter that each block raises
__global__ void dynamic_tiles(const int *x, int *y, int *z)
{
    __shared__ int tile;
    if (t == 0)
        tile = atomicAdd(&z[0], 1);
    __syncthreads();
    y[64 * tile + t] = x[64 * tile + t];
}

// wrong (races: race): a sum of all blocks, read by each as soon as it has added its own
__global__ void total_of_all(const int *x, int *y, int *z)
{
    __shared__ int total;
    if (t == 0) {
        z[1] += x[i];
        __threadfence();
        atomicAdd(&z[0], 1);
        total = z[1];
    }
    __syncthreads();
    y[i] = x[i] * 100 / (total + 1);
}

__device__ int of_the_program[4];

// wrong (races: race): a race on a variable of the program
__global__ void variable_of_program(const int *x, int *y, int *z)
{
    of_the_program[t % 4] = x[i];
    y[i] = of_the_program[(t + 1) % 4];
}

__device__ int arrivals;

// right: a counter of the program, which the last block sets back
__global__ void counter_of_program(const int *x, int *y, int *z)
{
    __shared__ bool is_last;
    z[i] = x[i];
    __threadfence();
    __syncthreads();
    if (t == 0)
        is_last = atomicAdd(&arrivals, 1) == int(gridDim.x) - 1;
    __syncthreads();
    if (is_last) {
        __threadfence();
        y[t] = z[t] + z[64 + t];
        if (t == 0)
            arrivals = 0;
    }
}
