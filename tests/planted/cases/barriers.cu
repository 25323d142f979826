// Barriers of the block.

// note (barriers: partial_barrier): some threads have ended
__global__ void early_return(const int *x, int *y, int *z)
{
    if (t >= 40)
        return;
    __syncthreads();
    y[i] = x[i];
}

// note (barriers: partial_barrier): under a condition that the last threads do not meet, which then end
__global__ void in_a_guard(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    if (t < 40) {
        tile[t] = x[i];
        __syncthreads();
        y[i] = tile[39 - t];
    }
}

// right: a loop with one count for all
__global__ void one_count(const int *x, int *y, int *z)
{
    for (int round = 0; round < 3; ++round)
        __syncthreads();
    y[i] = x[i];
}

// right: a condition of the block
__global__ void condition_of_block(const int *x, int *y, int *z)
{
    if (blockIdx.x == 0) __syncthreads(); else { __syncthreads(); __syncthreads(); }
    y[i] = x[i];
}

__device__ void meet()
{
    __syncthreads();
}

// right: barriers in a device function, called twice
__global__ void in_a_function(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    meet();
    const int other = tile[63 - t];
    meet();
    tile[t] = other;
    y[i] = tile[t];
}

// right: barriers that count predicates
__global__ void predicates(const int *x, int *y, int *z)
{
    const int count = __syncthreads_count(x[i] & 1);
    const int any = __syncthreads_or(x[i] == 3);
    y[i] = count + any + __syncthreads_and(x[i] >= 0);
}

// right: a loop until no thread goes on
__global__ void until_none_of_block(const int *x, int *y, int *z)
{
    int left = x[i] & 7, rounds = 0;
    while (__syncthreads_or(left > 0)) {
        left -= left > 0;
        ++rounds;
    }
    y[i] = rounds;
}

// right: the barrier of cooperative groups
__global__ void group_barrier(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    const auto block = cooperative_groups::this_thread_block();
    tile[t] = x[i];
    block.sync();
    y[i] = tile[63 - t];
}

// right: one warp works between two barriers
__global__ void one_warp_between(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    __syncthreads();
    if (t < 32) {
        const int other = tile[t + 32];
        __syncwarp();
        tile[t] += other;
    }
    __syncthreads();
    y[i] = tile[t / 2];
}

// note (barriers: other_barrier): under a condition that holds for a whole warp
__global__ void under_condition(const int *x, int *y, int *z)
{
    if (t < 32)
        __syncthreads();
    y[i] = x[i];
    __syncthreads();
}

// wrong (barriers: barrier): in both branches, on two lines
__global__ void both_branches(const int *x, int *y, int *z)
{
    if (t < 40)
        __syncthreads();
    else
        __syncthreads();
    y[i] = x[i];
}

// wrong (barriers: barrier): in both branches, on one line
__global__ void both_branches_on_one_line(const int *x, int *y, int *z)
{
    if (t < 40) __syncthreads(); else __syncthreads();
    y[i] = x[i];
}

// wrong (barriers: barrier): in both branches, of cooperative groups
__global__ void both_branches_of_groups(const int *x, int *y, int *z)
{
    const auto block = cooperative_groups::this_thread_block();
    if (t < 40) block.sync(); else block.sync();
    y[i] = x[i];
}

// wrong (barriers: barrier): in a function that both branches call
__global__ void both_branches_call(const int *x, int *y, int *z)
{
    if (t < 40)
        meet();
    else
        meet();
    y[i] = x[i];
}

// right: a condition of the thread before and after a barrier
__global__ void condition_around(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    const bool is_odd = x[i] & 1;
    tile[t] = 0;
    if (is_odd)
        tile[t] = x[i];
    __syncthreads();
    if (is_odd)
        y[i] = tile[63 - t];
    else
        y[i] = -1;
}

// right: an unrolled loop, in which warps do different work
__global__ void unrolled_loop(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
#pragma unroll
    for (int round = 0; round < 2; ++round) {
        if (t < 32)
            tile[t] += round;
        __syncthreads();
    }
    y[i] = tile[63 - t];
}

// right: a switch of the block, with the same barrier after it
__global__ void switch_of_block(const int *x, int *y, int *z)
{
    int value = x[i];
    switch (x[i] & 3) {
    case 0: value = 1; break;
    case 1: value = 7; break;
    default: value += 2;
    }
    const bool is_small = value < 5;
    __syncthreads();
    y[i] = is_small ? value : -value;
}

// note (barriers: other_barrier): more rounds in one warp
__global__ void different_counts(const int *x, int *y, int *z)
{
    for (int round = 0; round < 2 + (t < 32); ++round)
        __syncthreads();
    y[i] = x[i];
    __syncthreads();
}

// wrong (barriers: barrier): a thread leaves the loop before the barrier
__global__ void left_by_break(const int *x, int *y, int *z)
{
    for (int round = 0; round < 3; ++round) {
        if (round == 1 && t == 7)
            break;
        __syncthreads();
    }
    y[i] = x[i];
    __syncthreads();
}

// wrong (barriers: barrier): a vote of the block beside a barrier
__global__ void vote_beside_barrier(const int *x, int *y, int *z)
{
    int count = 0;
    if (t % 2 == 0)
        count = __syncthreads_count(1);
    else
        __syncthreads();
    y[i] = count;
}

// wrong (barriers: barrier): a lane waits for its warp, the others for the block
__global__ void warp_beside_block(const int *x, int *y, int *z)
{
    if (t % 32 == 3)
        __syncwarp();
    else
        __syncthreads();
    y[i] = x[i];
}
