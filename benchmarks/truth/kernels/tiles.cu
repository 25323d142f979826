// Tiles of an image of 8 by 16 elements a block: transposes, stencils, histograms, scans.

// right: a transpose by a tile with a column to spare
__global__ void transpose(const int *x, int *y, int *z)
{
    __shared__ int tile[8][9];
    const int row = t / 8, column = t % 8;
    tile[row][column] = x[i];
    __syncthreads();
    y[i] = tile[column][row];
}

// right: a mean of neighbours, with a halo
__global__ void neighbours(const int *x, int *y, int *z)
{
    __shared__ int tile[66];
    tile[t + 1] = x[i];
    if (t == 0)
        tile[0] = i > 0 ? x[i - 1] : 0;
    if (t == 63)
        tile[65] = x[i + 1];
    __syncthreads();
    y[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / 3;
}

// right: a histogram in shared memory, added to that of all
__global__ void histogram(const int *x, int *y, int *z)
{
    __shared__ int bins[16];
    if (t < 16)
        bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[x[i] % 16], 1);
    __syncthreads();
    if (t < 16)
        atomicAdd(&z[t], bins[t]);
}

// right: a scan of a block in two arrays
__global__ void scan(const int *x, int *y, int *z)
{
    __shared__ int sums[2][64];
    int from = 0;
    sums[0][t] = x[i];
    __syncthreads();
    for (int distance = 1; distance < 64; distance *= 2, from = 1 - from) {
        sums[1 - from][t] = sums[from][t] + (t >= distance ? sums[from][t - distance] : 0);
        __syncthreads();
    }
    y[i] = sums[from][t];
}

// wrong (races: race): the tile is read before all have stored
__global__ void transpose_at_once(const int *x, int *y, int *z)
{
    __shared__ int tile[8][9];
    tile[t / 8][t % 8] = x[i];
    y[i] = tile[t % 8][t / 8];
}

// wrong (uninitialised: uninitialised): the halo's right end is missing
__global__ void halo_left_alone(const int *x, int *y, int *z)
{
    __shared__ int tile[66];
    tile[t + 1] = x[i];
    if (t == 0)
        tile[0] = i > 0 ? x[i - 1] : 0;
    __syncthreads();
    y[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / 3;
}

// wrong (bounds: out_of_bounds): the last thread reads behind the input
__global__ void halo_past_end(const int *x, int *y, int *z)
{
    y[i] = x[i + 192] + x[i + 193];
}

// wrong (races: race): counts without atomic functions
__global__ void plain_counts(const int *x, int *y, int *z)
{
    z[x[i] % 16] += 1;
}

// wrong (races: race): a scan in one array
__global__ void scan_in_place(const int *x, int *y, int *z)
{
    __shared__ int sums[64];
    sums[t] = x[i];
    __syncthreads();
    for (int distance = 1; distance < 64; distance *= 2) {
        if (t >= distance)
            sums[t] += sums[t - distance];
        __syncthreads();
    }
    y[i] = sums[t];
}

// wrong (races: race): in place across blocks
__global__ void smoothed_in_place(const int *x, int *y, int *z)
{
    z[i] = x[i] + z[i + 1];
}

// note (barriers: other_barrier): one warp waits in the loop, and the other behind it
__global__ void loop_of_some(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    for (int step = 0; step < (t < 32 ? 2 : 1); ++step)
        __syncthreads();
    y[i] = tile[63 - t];
    __syncthreads();
    y[i] += tile[t];
}
