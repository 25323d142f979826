// Producers and consumers in a block: cuda::barrier, cuda::pipeline, groups and copies.

using Barrier = cuda::barrier<cuda::thread_scope_block>;

// right: a warp fills, a warp uses, by two barriers
__global__ void filled_and_used(const int *x, int *y, int *z)
{
    __shared__ Barrier full, empty;
    __shared__ int values[32];
    if (t == 0) {
        init(&full, 64);
        init(&empty, 64);
    }
    __syncthreads();
    for (int round = 0; round < 3; ++round) {
        if (t < 32) {
            values[t] = x[32 * round + t];
            (void)full.arrive();
            empty.arrive_and_wait();
        } else {
            full.arrive_and_wait();
            y[blockIdx.x * 96 + 32 * round + t - 32] = values[63 - t];
            (void)empty.arrive();
        }
    }
}

// wrong (races: race): the warp that fills does not wait until all is used
__global__ void filled_again(const int *x, int *y, int *z)
{
    __shared__ Barrier full;
    __shared__ int values[32];
    if (t == 0)
        init(&full, 64);
    __syncthreads();
    for (int round = 0; round < 3; ++round) {
        if (t < 32) {
            values[t] = x[32 * round + t];
            (void)full.arrive();
        } else {
            full.arrive_and_wait();
            y[blockIdx.x * 96 + 32 * round + t - 32] = values[63 - t];
        }
    }
}

// wrong (barriers: barrier): the barrier expects the block, and one warp comes
__global__ void expects_the_block(const int *x, int *y, int *z)
{
    __shared__ Barrier full;
    if (t == 0)
        init(&full, 64);
    __syncthreads();
    if (t < 32)
        full.arrive_and_wait();
    y[i] = x[i];
}

// wrong (races: race): the barrier is used before it is set up
__global__ void not_set_up(const int *x, int *y, int *z)
{
    __shared__ Barrier full;
    __shared__ int values[64];
    if (t == 0)
        init(&full, 64);
    values[t] = x[i];
    full.arrive_and_wait();
    y[i] = values[63 - t];
}

// right: a group's copy, and its wait
__global__ void copy_of_the_block(const int *x, int *y, int *z)
{
    __shared__ int values[64];
    const auto block = cooperative_groups::this_thread_block();
    cooperative_groups::memcpy_async(block, values, x + 64 * blockIdx.x, sizeof values);
    cooperative_groups::wait(block);
    y[i] = values[63 - t];
}

// wrong (races: race): the group's copy, with a barrier in place of its wait
__global__ void copy_without_wait(const int *x, int *y, int *z)
{
    __shared__ int values[64];
    const auto block = cooperative_groups::this_thread_block();
    cooperative_groups::memcpy_async(block, values, x + 64 * blockIdx.x, sizeof values);
    block.sync();
    y[i] = values[63 - t];
}

// wrong (bounds: out_of_bounds): the group's copy, in elements for bytes
__global__ void copy_too_long(const int *x, int *y, int *z)
{
    __shared__ int values[64];
    const auto block = cooperative_groups::this_thread_block();
    cooperative_groups::memcpy_async(block, values, x + 64 * blockIdx.x, 2 * sizeof values);
    cooperative_groups::wait(block);
    y[i] = values[63 - t];
}

// right: a pipeline of a thread, two stages deep
__global__ void pipeline_of_a_thread(const int *x, int *y, int *z)
{
    __shared__ int values[2][64];
    auto pipeline = cuda::make_pipeline();
    for (int stage = 0; stage < 2; ++stage) {
        pipeline.producer_acquire();
        cuda::memcpy_async(&values[stage][t], &x[stage * 64 + t], sizeof(int), pipeline);
        pipeline.producer_commit();
    }
    int sum = 0;
    for (int step = 0; step < 2; ++step) {
        pipeline.consumer_wait();
        sum += values[step][t];
        pipeline.consumer_release();
    }
    y[i] = sum;
}

// wrong (races: race): a pipeline of a thread, read by the block
__global__ void pipeline_of_another(const int *x, int *y, int *z)
{
    __shared__ int values[64];
    auto pipeline = cuda::make_pipeline();
    pipeline.producer_acquire();
    cuda::memcpy_async(&values[t], &x[i], sizeof(int), pipeline);
    pipeline.producer_commit();
    pipeline.consumer_wait();
    y[i] = values[63 - t];
    pipeline.consumer_release();
}

// wrong (races: race): the source is changed while it is copied
__global__ void source_changed(const int *x, int *y, int *z)
{
    __shared__ int values[64];
    __pipeline_memcpy_async(&values[t], &z[i], 4);
    z[i] = x[i];
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[i] = values[t];
}

// wrong (races: race): the copy is read before the wait
__global__ void read_before_wait(const int *x, int *y, int *z)
{
    __shared__ int values[64];
    __pipeline_memcpy_async(&values[t], &x[i], 4);
    __pipeline_commit();
    const int early = values[t];
    __pipeline_wait_prior(0);
    y[i] = early + values[t];
}

// wrong (bounds: misaligned): a copy of 16 bytes to a multiple of four
__global__ void copy_misaligned(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int values[68];
    if (t < 16)
        __pipeline_memcpy_async(&values[4 * t + 1], &x[4 * t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[i] = values[t + 1];
}

// right: copies bound to a barrier
__global__ void copies_of_a_barrier(const int *x, int *y, int *z)
{
    __shared__ Barrier full;
    __shared__ int values[64];
    if (t == 0)
        init(&full, 64);
    __syncthreads();
    cuda::memcpy_async(&values[t], &x[i], sizeof(int), full);
    full.arrive_and_wait();
    y[i] = values[63 - t];
}

// right: half of the block drops out of the barrier
__global__ void dropped(const int *x, int *y, int *z)
{
    __shared__ Barrier steps;
    __shared__ int values[64];
    if (t == 0)
        init(&steps, 64);
    __syncthreads();
    values[t] = x[i];
    if (t >= 32) {
        steps.arrive_and_drop();
        return;
    }
    steps.arrive_and_wait();
    const int own = values[t + 32];
    steps.arrive_and_wait();
    y[i] = own;
}

// wrong (barriers: barrier): half of the block returns, and the barrier still expects it
__global__ void returned(const int *x, int *y, int *z)
{
    __shared__ Barrier steps;
    if (t == 0)
        init(&steps, 64);
    __syncthreads();
    steps.arrive_and_wait();
    if (t >= 32)
        return;
    steps.arrive_and_wait();
    y[i] = x[i];
}
