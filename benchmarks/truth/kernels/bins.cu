// Counts: histograms, sums by key, and the largest of all.

// right: a histogram a warp, and their sum
__global__ void bins_of_warps(const int *x, int *y, int *z)
{
    __shared__ int bins[2][16];
    if (t < 32)
        bins[t / 16][t % 16] = 0;
    __syncthreads();
    atomicAdd(&bins[t / 32][x[i] % 16], 1);
    __syncthreads();
    if (t < 16)
        atomicAdd(&z[t], bins[0][t] + bins[1][t]);
}

// wrong (uninitialised: uninitialised): the bins of the second half are never cleared
__global__ void bins_half_cleared(const int *x, int *y, int *z)
{
    __shared__ int bins[128];
    bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[x[i] + 20], 1);
    __syncthreads();
    atomicAdd(&z[t], bins[t] + bins[64 + t]);
}

// wrong (races: race): nobody waits until the bins are clear
__global__ void bins_not_clear(const int *x, int *y, int *z)
{
    __shared__ int bins[16];
    if (t < 16)
        bins[t] = 0;
    atomicAdd(&bins[x[i] % 16], 1);
    __syncthreads();
    if (t < 16)
        atomicAdd(&z[t], bins[t]);
}

// wrong (races: race): nobody waits until all have counted
__global__ void bins_not_full(const int *x, int *y, int *z)
{
    __shared__ int bins[64];
    bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[x[i] % 16], 1);
    atomicAdd(&z[t], bins[t]);
}

// wrong (races: race): the blocks' bins are added by a load and a store
__global__ void bins_added_plainly(const int *x, int *y, int *z)
{
    __shared__ int bins[16];
    if (t < 16)
        bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[x[i] % 16], 1);
    __syncthreads();
    if (t < 16)
        z[t] += bins[t];
}

// right: lanes with one key add once, by the first of them
__global__ void once_for_a_key(const int *x, int *y, int *z)
{
    const int key = x[i] % 8;
    const unsigned peers = __match_any_sync(~0u, key);
    if (__ffs(peers) - 1 == t % 32)
        atomicAdd(&z[key], __popc(peers));
}

// wrong (races: race): the first of the lanes with one key adds without an atomic function
__global__ void once_for_a_key_plainly(const int *x, int *y, int *z)
{
    const int key = x[i] % 8;
    const unsigned peers = __match_any_sync(~0u, key);
    if (__ffs(peers) - 1 == t % 32)
        z[key] += __popc(peers);
}

// wrong (bounds: out_of_bounds): a key that has no bin
__global__ void key_without_bin(const int *x, int *y, int *z)
{
    __shared__ int bins[64];
    bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[x[i]], 1);
    __syncthreads();
    y[i] = bins[t];
}

// wrong (bounds: out_of_bounds): a negative key has a bin before the first
__global__ void negative_key(const int *x, int *y, int *z)
{
    atomicAdd(&z[(x[i] - 50) % 16], 1);
}

// right: the place of the largest, as a pair in 64 bits
__global__ void largest_as_pair(const int *x, int *y, int *z)
{
    unsigned long long *const best = reinterpret_cast<unsigned long long *>(z);
    atomicMax(best, (unsigned long long)(x[i]) << 32 | unsigned(i));
}

// wrong (races: race): the largest by an atomic function, and its place by a store
__global__ void largest_and_place(const int *x, int *y, int *z)
{
    if (atomicMax(&z[0], x[i] + 1) < x[i] + 1)
        z[1] = i;
}

// wrong (races: race): the largest, if it is larger than what is there
__global__ void largest_by_look(const int *x, int *y, int *z)
{
    if (x[i] > z[0])
        z[0] = x[i];
}

// right: floats, by compare and swap on their bits
__global__ void least_of_floats(const int *x, int *y, int *z)
{
    int old = atomicAdd(&z[0], 0);
    while (__int_as_float(old) > -x[i] && old != __float_as_int(-x[i])) {
        const int seen = atomicCAS(&z[0], old, __float_as_int(-x[i]));
        if (seen == old)
            break;
        old = seen;
    }
}

// right: means of columns, a column a thread, and blocks apart
__global__ void means_of_columns(const int *x, int *y, int *z)
{
    int sum = 0;
    for (int row = 0; row < 2; ++row)
        sum += x[row * 128 + i];
    y[i] = sum / 2;
}

// note (races: same_value): all threads that find one set a flag to 1
__global__ void any_found(const int *x, int *y, int *z)
{
    if (x[i] > 10)
        z[0] = 1;
}

// wrong (races: race): a flag is set by those that find one, and cleared by those that don't
__global__ void any_or_none(const int *x, int *y, int *z)
{
    z[0] = x[i] > 50;
}

// wrong (races: race): counts of 16 bits, two in a word, added by words with no atomic function
__global__ void packed_counts(const int *x, int *y, int *z)
{
    unsigned short *const counts = reinterpret_cast<unsigned short *>(z);
    counts[x[i] % 32] = counts[x[i] % 32] + 1;
}

// right: counts of 16 bits, two in a word, added by atomic functions on words
__global__ void packed_counts_atomic(const int *x, int *y, int *z)
{
    atomicAdd(&z[x[i] % 32 / 2], x[i] % 2 ? 1 << 16 : 1);
}
