// Products of matrices of 8 by 8 elements, a block each, in tiles and stages.

// right: a tile of both, and a barrier before each change
__global__ void by_tiles(const int *x, int *y, int *z)
{
    __shared__ int a[8][4], b[4][8];
    const int row = t / 8, column = t % 8;
    int sum = 0;
    for (int first = 0; first < 8; first += 4) {
        if (column < 4)
            a[row][column] = x[row * 8 + first + column];
        if (row < 4)
            b[row][column] = x[64 + (first + row) * 8 + column];
        __syncthreads();
        for (int k = 0; k < 4; ++k)
            sum += a[row][k] * b[k][column];
        __syncthreads();
    }
    y[i] = sum;
}

// wrong (races: race): no barrier after the products
__global__ void next_tile_too_early(const int *x, int *y, int *z)
{
    __shared__ int a[8][4];
    const int row = t / 8, column = t % 8;
    int sum = 0;
    for (int first = 0; first < 8; first += 4) {
        if (column < 4)
            a[row][column] = x[row * 8 + first + column];
        __syncthreads();
        for (int k = 0; k < 4; ++k)
            sum += a[row][k];
    }
    y[i] = sum;
}

// right: two tiles in turn, with one barrier a step
__global__ void two_tiles_in_turn(const int *x, int *y, int *z)
{
    __shared__ int a[2][64];
    int sum = 0;
    a[0][t] = x[t];
    for (int step = 0; step < 3; ++step) {
        __syncthreads();
        if (step < 2)
            a[(step + 1) % 2][t] = x[64 * (step + 1) + t];
        sum += a[step % 2][63 - t];
    }
    y[i] = sum;
}

// wrong (races: race): two tiles in turn, and the next one is stored into the one that is read
__global__ void one_tile_in_turn(const int *x, int *y, int *z)
{
    __shared__ int a[2][64];
    int sum = 0;
    a[0][t] = x[t];
    for (int step = 0; step < 3; ++step) {
        __syncthreads();
        sum += a[step % 2][63 - t];
        if (step < 2)
            a[step % 2][t] = x[64 * (step + 1) + t];
    }
    y[i] = sum;
}

// right: copies that run ahead by one stage
__global__ void stages(const int *x, int *y, int *z)
{
    __shared__ int a[2][64];
    int sum = 0;
    __pipeline_memcpy_async(&a[0][t], &x[t], 4);
    __pipeline_commit();
    for (int step = 0; step < 3; ++step) {
        if (step < 2)
            __pipeline_memcpy_async(&a[(step + 1) % 2][t], &x[64 * (step + 1) + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += a[step % 2][63 - t];
        __syncthreads();
    }
    y[i] = sum;
}

// wrong (races: race): the wait leaves one copy too many on its way
__global__ void stage_not_awaited(const int *x, int *y, int *z)
{
    __shared__ int a[2][64];
    int sum = 0;
    __pipeline_memcpy_async(&a[0][t], &x[t], 4);
    __pipeline_commit();
    for (int step = 0; step < 3; ++step) {
        if (step < 2) {
            __pipeline_memcpy_async(&a[(step + 1) % 2][t], &x[64 * (step + 1) + t], 4);
            __pipeline_commit();
        }
        __pipeline_wait_prior(1); // in the last step, too
        __syncthreads();
        sum += a[step % 2][63 - t];
        __syncthreads();
    }
    y[i] = sum;
}

// wrong (races: race): each thread waits for its own copies, and reads another one's
__global__ void stage_of_others(const int *x, int *y, int *z)
{
    __shared__ int a[64];
    __pipeline_memcpy_async(&a[t], &x[i], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[i] = a[63 - t];
}

// wrong (races: race): a stage is refilled while slower warps read it
__global__ void stage_refilled(const int *x, int *y, int *z)
{
    __shared__ int a[2][64];
    int sum = 0;
    for (int step = 0; step < 4; ++step) {
        __pipeline_memcpy_async(&a[0][t], &x[64 * step + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += a[0][63 - t];
    }
    y[i] = sum;
}

// wrong (uninitialised: uninitialised): only the full tiles are stored, and the ragged one is read
__global__ void ragged_tile(const int *x, int *y, int *z)
{
    __shared__ int a[64];
    const int columns = 60;
    if (t < columns)
        a[t] = x[i];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 8; ++k)
        sum += a[t / 8 * 8 + k];
    y[i] = sum;
}

// wrong (bounds: out_of_bounds): a matrix of 17 rows in an array of 16
__global__ void row_too_many(const int *x, int *y, int *z)
{
    for (int row = t / 16; row <= 16; row += 4)
        y[row * 16 + t % 16] = x[(row * 16 + t % 16) % 256];
}

// wrong (races: race): split sums of k, added without atomic functions
__global__ void split_sums(const int *x, int *y, int *z)
{
    z[t] += x[i] * x[128 + i];
}

// right: split sums of k, added by atomic functions
__global__ void split_sums_atomic(const int *x, int *y, int *z)
{
    atomicAdd(&z[t], x[i] * x[128 + i]);
}

// right: the tile of a warp, and nobody else's
__global__ void tile_of_a_warp(const int *x, int *y, int *z)
{
    __shared__ int tiles[2][4][8];
    int(*const own)[8] = tiles[t / 32];
    const int lane = t % 32;
    own[lane / 8][lane % 8] = x[i];
    __syncwarp();
    int sum = 0;
    for (int k = 0; k < 4; ++k)
        sum += own[k][lane % 8];
    y[i] = sum;
}

// wrong (races: race): the tile of a warp, read by the warp beside it
__global__ void tile_of_the_next_warp(const int *x, int *y, int *z)
{
    __shared__ int tiles[2][32];
    tiles[t / 32][t % 32] = x[i];
    __syncwarp();
    y[i] = tiles[1 - t / 32][t % 32];
}
