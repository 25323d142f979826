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
