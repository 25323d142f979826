// What the lanes of a warp do together: shuffles, votes, tiles, and memory in between.

// right: a sum by shuffles in a loop that all lanes leave together
__global__ void loop_of_a_warp(const int *x, int *y, int *z)
{
    int own = x[i], rounds = 0;
    while (__any_sync(~0u, own > 10)) {
        own /= 2;
        ++rounds;
    }
    y[i] = own + rounds;
}

// wrong (barriers: barrier): a vote in a loop that each lane leaves at its own time
__global__ void loop_of_lanes(const int *x, int *y, int *z)
{
    int own = x[i], rounds = 0;
    while (own > 10) {
        own /= 2;
        rounds += __popc(__ballot_sync(~0u, own > 5));
    }
    __syncthreads();
    y[i] = rounds;
}

// right: lanes that are there, by a ballot before the branch
__global__ void mask_before_branch(const int *x, int *y, int *z)
{
    const unsigned large = __ballot_sync(~0u, x[i] > 50);
    int own = 0;
    if (x[i] > 50)
        own = __shfl_sync(large, x[i], __ffs(large) - 1);
    y[i] = own;
}

// wrong (uninitialised: inactive_lane): the value of a lane that has taken the other branch
__global__ void lane_of_other_branch(const int *x, int *y, int *z)
{
    const unsigned large = __ballot_sync(~0u, x[i] > 50);
    int own = 0;
    if (x[i] > 50)
        own = __shfl_sync(large, x[i], __ffs(~large) - 1);
    y[i] = own;
}

// right: lanes exchange by shared memory, in step by __syncwarp
__global__ void exchanged(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    int own = x[i];
    for (int distance = 1; distance < 32; distance *= 2) {
        tile[t] = own;
        __syncwarp();
        own += tile[t ^ distance];
        __syncwarp();
    }
    y[i] = own;
}

// wrong (races: race): the second __syncwarp is missing
__global__ void exchanged_once(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    int own = x[i];
    for (int distance = 1; distance < 32; distance *= 2) {
        tile[t] = own;
        __syncwarp();
        own += tile[t ^ distance];
    }
    y[i] = own;
}

// wrong (races: race): a vote in place of __syncwarp
__global__ void ordered_by_vote(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    if (__all_sync(~0u, tile[t] >= 0))
        y[i] = tile[t ^ 1];
}

// wrong (races: race): halves of a warp, each in step with itself
__global__ void halves_in_step(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    __syncwarp(t % 32 < 16 ? 0xffffu : 0xffff0000u);
    y[i] = tile[t ^ 16];
}

// right: halves of a warp, each with its own part
__global__ void halves_apart(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    __syncwarp(t % 32 < 16 ? 0xffffu : 0xffff0000u);
    y[i] = tile[t ^ 15];
}

// right: tiles of eight lanes
__global__ void tiles_of_eight(const int *x, int *y, int *z)
{
    const auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
    __shared__ int sums[8];
    const int sum = cooperative_groups::reduce(tile, x[i], cooperative_groups::plus<int>());
    if (tile.thread_rank() == 0)
        sums[tile.meta_group_rank()] = sum;
    __syncthreads();
    y[i] = sums[t / 8];
}

// wrong (races: race): a tile's sync for what the tile beside it has stored
__global__ void tile_beside(const int *x, int *y, int *z)
{
    const auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
    __shared__ int values[64];
    values[t] = x[i];
    tile.sync();
    y[i] = values[t ^ 8];
}

// right: one lane works for its warp, and tells the result by a shuffle
__global__ void first_lane(const int *x, int *y, int *z)
{
    int place = 0;
    if (t % 32 == 0)
        place = atomicAdd(&z[0], 32);
    y[__shfl_sync(~0u, place, 0) + t % 32] = x[i];
}

// wrong (races: race): one lane works for its warp, and tells the result by memory
__global__ void first_lane_by_memory(const int *x, int *y, int *z)
{
    __shared__ int places[2];
    if (t % 32 == 0)
        places[t / 32] = atomicAdd(&z[0], 32);
    y[places[t / 32] + t % 32] = x[i];
}

// wrong (barriers: barrier): half of the block has returned, and the rest names it in a mask of its warp's half
__global__ void mask_of_odd_lanes(const int *x, int *y, int *z)
{
    if (t % 2 == 0)
        y[i] = __shfl_xor_sync(0x55555554u, x[i], 2);
}

// right: the last warp of a ragged block, by the lanes that are there
__global__ void ragged_warp(const int *x, int *y, int *z)
{
    const unsigned there = __ballot_sync(~0u, t < 50);
    if (t >= 50)
        return;
    int sum = x[i];
    for (int lane = 0; lane < __popc(there); ++lane)
        sum = max(sum, __shfl_sync(there, x[i], lane));
    y[i] = sum;
}
