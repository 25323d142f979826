// The mistakes of docs/found.md, in kernels of our own.

// wrong (bounds: out_of_bounds): a guard without the offset of the tile
__global__ void guard_without_offset(const int *x, int *y, int *z)
{
    const int *const tile = x + 192;
    if (i < 256)
        y[i] = tile[i];
}

// wrong (bounds: out_of_bounds): two elements a step, and a guard for one
__global__ void one_of_two_guarded(const int *x, int *y, int *z)
{
    int sum = 0;
    for (int j = i; j < 256; j += 256)
        sum += x[j] + x[j + 192];
    y[i] = sum;
}

// wrong (races: race): a value is overwritten that others still read
__global__ void storage_used_twice(const int *x, int *y, int *z)
{
    __shared__ int storage[2];
    const int largest = __reduce_max_sync(0xffffffffu, x[i]);
    if (t % 32 == 0)
        storage[t / 32] = largest;
    __syncthreads();
    if (t == 0)
        storage[0] = max(storage[0], storage[1]);
    __syncthreads();
    const int offset = storage[0];
    const int sum = __reduce_add_sync(0xffffffffu, x[i] - offset);
    if (t % 32 == 0)
        storage[t / 32] = sum;
    __syncthreads();
    y[i] = storage[0] + storage[1];
}

// wrong (races: race): the next tile's seed is stored while others add this one's
__global__ void seed_stored_early(const int *x, int *y, int *z)
{
    __shared__ int tile[64], seed;
    if (t == 0)
        seed = 0;
    for (int start = 0; start < 128; start += 64) {
        tile[t] = x[start + t];
        __syncthreads();
        const int sum = tile[t] + tile[t ^ 1] + seed;
        z[i] = sum;
        if (t == 63)
            seed = sum;
        __syncthreads();
    }
}

// wrong (uninitialised: inactive_lane): threads without an element end before their warp adds
__global__ void ended_before_the_sum(const int *x, int *y, int *z)
{
    if (t >= 40)
        return;
    int sum = x[i];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    y[i] = sum;
}

// wrong (races: race): each thread also takes the elements of its successors, by a step of one
__global__ void step_of_one(const int *x, int *y, int *z)
{
    for (int j = t; j < 40; ++j) {
        const int own = z[64 * blockIdx.x + j];
        z[64 * blockIdx.x + j] = own + x[i];
    }
}

// wrong (bounds: out_of_bounds): a guard compares a negative number as a large size
__global__ void guard_of_mixed_signs(const int *x, int *y, int *z)
{
    const size_t size = 4;
    const int before = i - 32;
    if ((before + 1) * size > 16)
        y[i] = x[before];
}

// wrong (bounds: out_of_bounds): the second array is read at the first one's offset
__global__ void offset_of_the_other(const int *x, int *y, int *z)
{
    __shared__ int first[64], second[16];
    first[t] = x[i];
    if (t < 16)
        second[t] = x[64 * blockIdx.x + t];
    __syncthreads();
    const int of_first = t;
    y[i] = first[of_first] * second[of_first];
}

// note (races: same_value): a barrier is made by a thread of each row
__global__ void barrier_of_each_row(const int *x, int *y, int *z)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (t % 16 == 0)
        init(&barrier, 64);
    __syncthreads();
    z[i] = x[i];
    barrier.arrive_and_wait();
    y[i] = z[i ^ 1];
}

// wrong (bounds: out_of_bounds): a neighbour is read before the border is tested for
__global__ void neighbour_before_the_border(const int *x, int *y, int *z)
{
    int left = x[i - 32];
    if (i < 32)
        left = x[i];
    y[i] = left;
}

// wrong (races: race): the next round's tile is stored while others read this one's
__global__ void tile_stored_early(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    int sum = 0;
    for (int start = 0; start < 256; start += 64) {
        tile[t] = x[start + t];
        __syncthreads();
        for (int j = 0; j < 64; ++j)
            sum += tile[j];
    }
    y[i] = sum;
}

// wrong (bounds: out_of_bounds): a warp reads an element per lane of an array with one per warp
__global__ void lane_of_no_warp(const int *x, int *y, int *z)
{
    __shared__ int sums[2];
    const int sum = __reduce_add_sync(0xffffffffu, x[i]);
    if (t % 32 == 0)
        sums[t / 32] = sum;
    __syncthreads();
    int total = 0;
    if (t < 32) {
        total = sums[t];
        total += __shfl_xor_sync(0xffffffffu, total, 1);
    }
    if (t == 0)
        y[blockIdx.x] = total;
}

// wrong (bounds: out_of_bounds): the last block has more threads than there are elements
__global__ void no_guard(const int *x, int *y, int *z) { y[2 * i] = x[2 * i + 1 + 4 * blockIdx.x]; }

// wrong (races: race): a thread goes by what others decide at the same time
__global__ void verdict_of_others(const int *x, int *y, int *z)
{
    z[i] = i == 0 || z[i - 1] != x[i];
}

// wrong (races: race): each block resets a total, also the block beside the one that adds it up
__global__ void total_reset_beside(const int *x, int *y, int *z)
{
    if (t == 0)
        y[blockIdx.x / 2] = 0;
    if (blockIdx.x % 2) {
        z[i] = x[i];
        return;
    }
    const int total = __syncthreads_count(x[i] % 2);
    if (t == 0)
        y[blockIdx.x / 2] = total;
}
