// The barrier of the grid. These launches are cooperative.

// right: blocks exchange their parts of an array
__global__ void blocks_exchange(const int *x, int *y, int *z)
{
    y[i] = x[i];
    cooperative_groups::this_grid().sync();
    z[i] = y[127 - i];
}

// right: shared memory and registers stay across two barriers, and each thread knows its place
__global__ void blocks_go_on(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    extern __shared__ int more[];
    const auto grid = cooperative_groups::this_grid();
    tile[t] = x[i];
    more[63 - t] = x[i];
    const int own = x[i];
    z[i] = own;
    grid.sync();
    y[i] = z[127 - i] + tile[63 - t] + more[t];
    grid.sync();
    z[int(grid.thread_rank())] = y[127 - i] + own + tile[t];
}

// right: warps that have not met since the barrier
__global__ void only_one_warp_goes_on(const int *x, int *y, int *z)
{
    y[i] = x[i];
    cooperative_groups::this_grid().sync();
    if (t < 32)
        z[i] = y[127 - i] + __shfl_xor_sync(~0u, x[i], 1);
}

// note (barriers: partial_barrier): some threads have ended
__global__ void others_of_block_have_ended(const int *x, int *y, int *z)
{
    if (t >= 40)
        return;
    y[i] = x[i];
    cooperative_groups::this_grid().sync();
    z[i] = y[i < 64 ? i + 64 : i - 64];
}

__device__ unsigned arrived, generation;

// A barrier of all blocks by hand, which may be used again.
template <bool publishes>
__device__ void wait_for_all()
{
    __syncthreads();
    if (t == 0) {
        const unsigned own = atomicAdd(&generation, 0);
        if (publishes)
            __threadfence();
        if (atomicAdd(&arrived, 1) == gridDim.x - 1) {
            atomicExch(&arrived, 0);
            __threadfence();
            atomicAdd(&generation, 1);
        } else {
            while (atomicAdd(&generation, 0) == own)
                ;
        }
        __threadfence();
    }
    __syncthreads();
}

// right: a barrier of all blocks by hand, three times
__global__ void barrier_by_hand(const int *x, int *y, int *z)
{
    y[i] = x[i];
    wait_for_all<true>();
    z[i] = y[127 - i];
    wait_for_all<true>();
    y[i] = z[127 - i] + 1;
    wait_for_all<true>();
    z[i] += y[127 - i];
}

// right: the first block waits in a loop for what the second one adds to a device buffer
__global__ void waits_for_next_block(const int *x, int *y, int *z)
{
    y[i] = x[i];
    __threadfence();
    __syncthreads();
    if (t == 0 && blockIdx.x == 1)
        atomicAdd(&z[128], 1);
    if (blockIdx.x == 1)
        return;
    if (t == 0) {
        while (atomicAdd(&z[128], 0) == 0)
            __nanosleep(20);
        __threadfence();
    }
    __syncthreads();
    z[i] = y[i] + y[64 + i];
}

// wrong (races: race): a barrier of all blocks by hand, without a fence before the arrival
__global__ void barrier_by_hand_unfenced(const int *x, int *y, int *z)
{
    y[i] = x[i];
    wait_for_all<false>();
    z[i] = y[127 - i];
}

// wrong (barriers: barrier): the last block does not arrive
__global__ void barrier_by_hand_left_out(const int *x, int *y, int *z)
{
    y[i] = x[i];
    if (blockIdx.x != 1)
        wait_for_all<true>();
}

// wrong (races: race): nothing orders what comes after the barrier
__global__ void exchange_after_barrier(const int *x, int *y, int *z)
{
    y[i] = x[i];
    cooperative_groups::this_grid().sync();
    z[i] = y[127 - i];
    y[i] = 0;
}

// wrong (races: race): the block's barrier is not the grid's
__global__ void barrier_of_block(const int *x, int *y, int *z)
{
    y[i] = x[i];
    cooperative_groups::this_thread_block().sync();
    z[i] = y[127 - i];
}

// wrong (uninitialised: uninitialised): part of shared memory is never written
__global__ void half_of_shared(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    if (t < 32)
        tile[t] = x[i];
    cooperative_groups::this_grid().sync();
    y[i] = tile[t];
}

// wrong (barriers: barrier): one block leaves without the others
__global__ void one_block_leaves(const int *x, int *y, int *z)
{
    y[i] = x[i];
    if (blockIdx.x != 0)
        cooperative_groups::this_grid().sync();
    z[i] = y[i];
}
