// Masks of warp-level operations.

// right: a sum over the warp
__global__ void warp_sum(const int *x, int *y, int *z)
{
    int sum = x[i];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (t % 32 == 0)
        y[i / 32] = sum;
}

// right: half a warp, by width
__global__ void half_by_width(const int *x, int *y, int *z)
{
    int sum = x[i];
    if (t % 32 < 16)
        for (int distance = 8; distance > 0; distance /= 2)
            sum += __shfl_down_sync(0xffffu, sum, distance, 16);
    y[i] = sum;
}

// right: named masks in both branches
__global__ void named_branches(const int *x, int *y, int *z)
{
    const bool is_odd = x[i] & 1;
    const unsigned odd = __ballot_sync(0xffffffffu, is_odd);
    int count;
    if (is_odd)
        count = __popc(__ballot_sync(odd, x[i] > 0));
    else
        count = __popc(__ballot_sync(~odd, x[i] > 0));
    y[i] = count;
}

// right: groups of equal values
__global__ void matched(const int *x, int *y, int *z)
{
    const unsigned peers = __match_any_sync(0xffffffffu, x[i] & 3);
    const int leader = __ffs(int(peers)) - 1;
    y[i] = __shfl_sync(peers, x[i], leader);
}

// right: a scan that takes only what is there
__global__ void scan(const int *x, int *y, int *z)
{
    int sum = x[i];
    for (int distance = 1; distance < 32; distance *= 2) {
        const int below = __shfl_up_sync(0xffffffffu, sum, distance);
        if (t % 32 >= distance)
            sum += below;
    }
    y[i] = sum;
}

// right: a mask that names lanes that have ended
__global__ void ended_lanes(const int *x, int *y, int *z)
{
    if (t % 32 >= 20)
        return;
    __syncwarp();
    y[i] = __reduce_add_sync(0xffffffffu, x[i] & 7);
}

// right: a loop until no lane goes on
__global__ void until_none(const int *x, int *y, int *z)
{
    int left = x[i] & 7, rounds = 0;
    while (__any_sync(0xffffffffu, left > 0)) {
        left -= left > 0;
        ++rounds;
    }
    y[i] = rounds;
}

// right: tiles of cooperative groups
__global__ void tiles(const int *x, int *y, int *z)
{
    namespace cg = cooperative_groups;
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    y[i] = cg::reduce(tile, x[i] & 15, cg::plus<int>());
}

// right: coalesced threads of a branch
__global__ void coalesced(const int *x, int *y, int *z)
{
    int rank = -1;
    if (x[i] & 1) {
        const auto group = cooperative_groups::coalesced_threads();
        rank = group.shfl(x[i], 0) + int(group.thread_rank());
        const auto alike = cooperative_groups::labeled_partition(group, x[i] & 6);
        const auto large = cooperative_groups::binary_partition(alike, x[i] > 50);
        for (int member = 0; member < int(large.size()); ++member) // Each has the same label, and is as large.
            rank += (large.shfl(x[i], member) ^ x[i]) & 7 ? 1000 : (large.shfl(x[i], member) > 50) != (x[i] > 50);
    }
    y[i] = rank;
}

// note (uninitialised: indifferent_read): half a warp whose upper sums nothing uses
__global__ void half_by_mask(const int *x, int *y, int *z)
{
    int sum = x[i];
    if (t % 32 < 16)
        for (int distance = 8; distance > 0; distance /= 2)
            sum += __shfl_down_sync(0xffffu, sum, distance);
    if (t % 32 == 0)
        y[i / 32] = sum;
}

// wrong (barriers: barrier): a lane that its own mask does not name
__global__ void caller_not_named(const int *x, int *y, int *z)
{
    y[i] = __shfl_sync(0xfffeu, x[i], 1);
}

// wrong (barriers: barrier): a vote by a lane that its own mask does not name
__global__ void voter_not_named(const int *x, int *y, int *z)
{
    y[i] = t % 32 < 20 ? int(__ballot_sync(0xffffu, x[i] > 0)) : 0;
}

// wrong (barriers: barrier): the whole warp is named in half of it
__global__ void whole_mask_in_half(const int *x, int *y, int *z)
{
    int sum = x[i];
    if (t % 32 < 16)
        sum += __shfl_down_sync(0xffffffffu, sum, 1);
    __syncthreads();
    y[i] = sum;
}

// wrong (barriers: barrier): lanes with different masks
__global__ void different_masks(const int *x, int *y, int *z)
{
    __syncwarp(t % 32 < 4 ? 0xffffu : 0xffffffffu);
    y[i] = x[i];
}

// wrong (barriers: barrier): lanes in different operations
__global__ void different_operations(const int *x, int *y, int *z)
{
    if (t % 2 == 0)
        y[i] = __shfl_xor_sync(0xffffffffu, x[i], 2);
    else
        y[i] = __shfl_down_sync(0xffffffffu, x[i], 2);
}

// wrong (result: launch_failed): a width that is no power of two
__global__ void width_of_five(const int *x, int *y, int *z)
{
    y[i] = __shfl_down_sync(0xffffffffu, x[i], 1, 5);
}

// wrong (barriers: barrier): a vote in a branch, with the whole mask
__global__ void vote_in_branch(const int *x, int *y, int *z)
{
    int votes = 0;
    if (t % 2 == 0)
        votes = int(__ballot_sync(0xffffffffu, x[i] > 0));
    __syncthreads();
    y[i] = votes;
}

// wrong (uninitialised: inactive_lane): a shuffle from a living lane that the mask does not name
__global__ void source_not_named(const int *x, int *y, int *z)
{
    int value = x[i];
    if (t % 32 < 16)
        value = __shfl_down_sync(0xffffu, value, 1);
    y[i] = value;
}

// wrong (uninitialised: inactive_lane): an exchange with lanes that the mask does not name
__global__ void exchange_not_named(const int *x, int *y, int *z)
{
    const unsigned half = t % 32 < 16 ? 0xffffu : 0xffff0000u;
    y[i] = __shfl_xor_sync(half, x[i], 16);
}

// wrong (uninitialised: inactive_lane): a shuffle from a lane that has ended
__global__ void source_ended(const int *x, int *y, int *z)
{
    if (t % 32 >= 20)
        return;
    y[i] = __shfl_down_sync(0xffffffffu, x[i], 4);
}

// wrong (uninitialised: inactive_lane): a sum over as many lanes as a vote has found
__global__ void ragged_sum(const int *x, int *y, int *z)
{
    const unsigned mask = __ballot_sync(0xffffffffu, t % 32 < 20);
    int sum = x[i];
    if (t % 32 < 20)
        for (int distance = 16; distance > 0; distance /= 2)
            sum += __shfl_down_sync(mask, sum, distance);
    if (t % 32 == 0)
        y[i / 32] = sum;
}
