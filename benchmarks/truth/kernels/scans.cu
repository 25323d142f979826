// Scans, compaction and sorting.

// right: up and down a tree
__global__ void blelloch(const int *x, int *y, int *z)
{
    __shared__ int sums[64];
    sums[t] = x[i];
    for (int step = 1; step < 64; step *= 2) {
        __syncthreads();
        const int at = (t + 1) * 2 * step - 1;
        if (at < 64)
            sums[at] += sums[at - step];
    }
    if (t == 0)
        sums[63] = 0;
    for (int step = 32; step > 0; step /= 2) {
        __syncthreads();
        const int at = (t + 1) * 2 * step - 1;
        if (at < 64) {
            const int left = sums[at - step];
            sums[at - step] = sums[at];
            sums[at] += left;
        }
    }
    __syncthreads();
    y[i] = sums[t];
}

// wrong (races: race): the top is set to 0 by another thread than the one that has stored it
__global__ void top_set_by_another(const int *x, int *y, int *z)
{
    __shared__ int sums[64];
    sums[t] = x[i];
    for (int step = 1; step < 64; step *= 2) {
        __syncthreads();
        const int at = (t + 1) * 2 * step - 1;
        if (at < 64)
            sums[at] += sums[at - step];
    }
    if (t == 63)
        sums[63] = 0;
    __syncthreads();
    y[i] = sums[t];
}

// right: lanes by shuffles, warps by shared memory
__global__ void scan_by_warps(const int *x, int *y, int *z)
{
    __shared__ int ends[2];
    int sum = x[i];
    for (int distance = 1; distance < 32; distance *= 2) {
        const int before = __shfl_up_sync(~0u, sum, distance);
        sum += t % 32 >= distance ? before : 0;
    }
    if (t % 32 == 31)
        ends[t / 32] = sum;
    __syncthreads();
    y[i] = sum + (t >= 32 ? ends[0] : 0);
}

// wrong (uninitialised: inactive_lane): the shuffle stands under the condition of its result
__global__ void shuffle_under_condition(const int *x, int *y, int *z)
{
    int sum = x[i];
    for (int distance = 1; distance < 32; distance *= 2)
        if (t % 32 >= distance)
            sum += __shfl_up_sync(__activemask(), sum, distance);
    y[i] = sum;
}

// wrong (barriers: barrier): the same with the whole warp's mask
__global__ void shuffle_of_part(const int *x, int *y, int *z)
{
    int sum = x[i];
    if (t % 32 >= 16)
        sum += __shfl_up_sync(~0u, sum, 16);
    __syncthreads();
    y[i] = sum;
}

// right: kept elements in order, their places by a ballot
__global__ void compact_by_ballot(const int *x, int *y, int *z)
{
    __shared__ int counts[2];
    const bool keeps = x[i] > 50;
    const unsigned kept = __ballot_sync(~0u, keeps);
    if (t % 32 == 0)
        counts[t / 32] = __popc(kept);
    __syncthreads();
    const int place = (t >= 32 ? counts[0] : 0) + __popc(kept & ((1u << t % 32) - 1));
    if (keeps)
        y[blockIdx.x * 64 + place] = x[i];
}

// right: kept elements in any order, one atomic function a warp
__global__ void compact_by_warps(const int *x, int *y, int *z)
{
    if (x[i] > 50) {
        const auto active = cooperative_groups::coalesced_threads();
        int first = 0;
        if (active.thread_rank() == 0)
            first = atomicAdd(&z[0], int(active.size()));
        y[active.shfl(first, 0) + active.thread_rank()] = x[i];
    }
}

// wrong (races: race): the counter is read, and then raised
__global__ void compact_by_counter(const int *x, int *y, int *z)
{
    if (x[i] > 50) {
        const int place = z[0];
        y[place] = x[i];
        atomicAdd(&z[0], 1);
    }
}

// right: a bitonic sort, with a barrier for all in each step
__global__ void bitonic(const int *x, int *y, int *z)
{
    __shared__ int keys[64];
    keys[t] = x[i];
    for (int size = 2; size <= 64; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2) {
            __syncthreads();
            const int other = t ^ distance;
            if (other > t && (keys[t] > keys[other]) == ((t & size) == 0)) {
                const int kept = keys[t];
                keys[t] = keys[other];
                keys[other] = kept;
            }
        }
    __syncthreads();
    y[i] = keys[t];
}

// wrong (barriers: barrier): the barrier stands within the condition
__global__ void bitonic_barrier_inside(const int *x, int *y, int *z)
{
    __shared__ int keys[64];
    keys[t] = x[i];
    __syncthreads();
    for (int distance = 32; distance > 0; distance /= 2) {
        const int other = t ^ distance;
        if (other > t) {
            const int least = min(keys[t], keys[other]), most = max(keys[t], keys[other]);
            keys[t] = least;
            keys[other] = most;
            __syncthreads();
        }
    }
    y[i] = keys[t];
    __syncthreads();
}

// wrong (races: race): small distances without barriers, since all is in one warp
__global__ void bitonic_in_step(const int *x, int *y, int *z)
{
    __shared__ int keys[64];
    keys[t] = x[i];
    __syncthreads();
    for (int distance = 16; distance > 0; distance /= 2) {
        const int other = t ^ distance;
        if (other > t && keys[t] > keys[other]) {
            const int kept = keys[t];
            keys[t] = keys[other];
            keys[other] = kept;
        }
    }
    __syncthreads();
    y[i] = keys[t];
}

// wrong (races: race): odd and even pairs overlap by one
__global__ void odd_even(const int *x, int *y, int *z)
{
    __shared__ int keys[65];
    keys[t] = x[i];
    if (t == 0)
        keys[64] = 1000;
    __syncthreads();
    for (int round = 0; round < 64; ++round) {
        if (keys[t] > keys[t + 1]) {
            const int kept = keys[t];
            keys[t] = keys[t + 1];
            keys[t + 1] = kept;
        }
        __syncthreads();
    }
    y[i] = keys[t];
}

// right: a stable place by digit, counted by the threads before
__global__ void radix_places(const int *x, int *y, int *z)
{
    __shared__ int digits[64];
    digits[t] = x[i] & 3;
    __syncthreads();
    int place = 0;
    for (int at = 0; at < 64; ++at)
        place += digits[at] < digits[t] || (digits[at] == digits[t] && at < t);
    y[blockIdx.x * 64 + place] = x[i];
}

// wrong (races: race): keys of one digit get one place
__global__ void radix_same_place(const int *x, int *y, int *z)
{
    __shared__ int digits[64];
    digits[t] = x[i] & 3;
    __syncthreads();
    int place = 0;
    for (int at = 0; at < 64; ++at)
        place += digits[at] < digits[t];
    y[blockIdx.x * 64 + place] = x[i];
}

// right: merge by ranks, each key's by a search
__global__ void merge_by_rank(const int *x, int *y, int *z)
{
    __shared__ int keys[64];
    keys[t] = t < 32 ? 2 * t : 2 * (t - 32) + 1;
    __syncthreads();
    const int *const other = keys + (t < 32 ? 32 : 0);
    int low = 0, high = 32;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (other[middle] < keys[t])
            low = middle + 1;
        else
            high = middle;
    }
    y[blockIdx.x * 64 + t % 32 + low] = keys[t];
}

// wrong (bounds: out_of_bounds): a search that may look one element past the end
__global__ void search_past_end(const int *x, int *y, int *z)
{
    int low = 0, high = 256;
    while (low <= high) {
        const int middle = (low + high) / 2;
        if (x[middle] < 1000)
            low = middle + 1;
        else
            high = middle - 1;
    }
    y[i] = low;
}
