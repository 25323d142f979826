// Images of 16 by 16 pixels: filters, halos, resizing. A block has 8 by 8 pixels of the upper half.

#define column (t % 8 + 8 * int(blockIdx.x))
#define row (t / 8)

// right: a box of three by three, cut off at the border
__global__ void box(const int *x, int *y, int *z)
{
    int sum = 0, count = 0;
    for (int up = -1; up <= 1; ++up)
        for (int left = -1; left <= 1; ++left)
            if (row + up >= 0 && column + left >= 0 && column + left < 16) {
                sum += x[(row + up) * 16 + column + left];
                ++count;
            }
    y[row * 16 + column] = sum / count;
}

// wrong (bounds: out_of_bounds): above the first row
__global__ void box_above(const int *x, int *y, int *z)
{
    y[row * 16 + column] = (x[(row - 1) * 16 + column] + x[(row + 1) * 16 + column]) / 2;
}

// wrong (bounds: out_of_bounds): the width for the height
__global__ void width_for_height(const int *x, int *y, int *z)
{
    const int width = 32, height = 8;
    for (int at = t; at < width; at += 64)
        for (int down = 0; down < height; ++down)
            y[at * width + down] = x[down * width + at];
}

// right: a tile with its halo, the corners too
__global__ void tile_with_halo(const int *x, int *y, int *z)
{
    __shared__ int tile[10][10];
    for (int at = t; at < 100; at += 64) {
        const int from_row = min(max(at / 10 - 1, 0), 15), from = min(max(at % 10 - 1 + 8 * int(blockIdx.x), 0), 15);
        tile[at / 10][at % 10] = x[from_row * 16 + from];
    }
    __syncthreads();
    int sum = 0;
    for (int at = 0; at < 9; ++at)
        sum += tile[t / 8 + at / 3][t % 8 + at % 3];
    y[row * 16 + column] = sum / 9;
}

// wrong (uninitialised: uninitialised): a tile with its halo, and no corners
__global__ void tile_without_corners(const int *x, int *y, int *z)
{
    __shared__ int tile[10][10];
    tile[t / 8 + 1][t % 8 + 1] = x[i];
    if (t < 8) {
        tile[0][t + 1] = x[t];
        tile[9][t + 1] = x[t + 8];
        tile[t + 1][0] = x[t + 16];
        tile[t + 1][9] = x[t + 24];
    }
    __syncthreads();
    int sum = 0;
    for (int at = 0; at < 9; ++at)
        sum += tile[t / 8 + at / 3][t % 8 + at % 3];
    y[row * 16 + column] = sum / 9;
}

// wrong (races: race): a filter in place
__global__ void filter_in_place(const int *x, int *y, int *z)
{
    const int left = column > 0 ? z[row * 16 + column - 1] : 0;
    z[row * 16 + column] = (left + x[i]) / 2;
}

// right: rows, then columns, of a block's own tile
__global__ void separable(const int *x, int *y, int *z)
{
    __shared__ int tile[8][8], half[8][8];
    const int up = t / 8, left = t % 8;
    tile[up][left] = x[i];
    __syncthreads();
    half[up][left] = tile[up][left] + tile[up][7 - left];
    __syncthreads();
    y[i] = half[up][left] + half[7 - up][left];
}

// wrong (races: race): rows, then columns, of one tile
__global__ void separable_in_place(const int *x, int *y, int *z)
{
    __shared__ int tile[8][8];
    const int up = t / 8, left = t % 8;
    tile[up][left] = x[i];
    __syncthreads();
    tile[up][left] += tile[up][7 - left];
    __syncthreads();
    y[i] = tile[up][left] + tile[7 - up][left];
}

// right: half the size, four pixels into one
__global__ void half_size(const int *x, int *y, int *z)
{
    if (t < 16) {
        const int up = t / 4, left = t % 4 + 4 * int(blockIdx.x);
        const int *const from = x + 2 * up * 16 + 2 * left;
        y[up * 8 + left] = (from[0] + from[1] + from[16] + from[17]) / 4;
    }
}

// wrong (races: race): twice the size, and each pixel's square reaches into the next
__global__ void twice_the_size(const int *x, int *y, int *z)
{
    for (int at = 0; at <= 2; ++at)
        z[2 * t + at] = x[i];
}

// right: a rolling window of rows, a thread a column
__global__ void rolling_rows(const int *x, int *y, int *z)
{
    int window[3] = {x[i % 16], x[16 + i % 16], 0};
    if (t < 8)
        for (int down = 2; down < 16; ++down) {
            window[down % 3] = x[down * 16 + column];
            y[down * 16 + column] = window[0] + window[1] + window[2];
        }
}

// wrong (bounds: out_of_bounds): a window of three rows has a fourth
__global__ void rolling_too_far(const int *x, int *y, int *z)
{
    int window[3] = {0, 0, 0};
    for (int down = 0; down < 16; ++down)
        window[down % (3 + x[i] % 2)] = x[down * 16 + column];
    y[i] = window[0] + window[1] + window[2];
}

// right: the threads of a block count what is bright, and one adds
__global__ void bright(const int *x, int *y, int *z)
{
    const int count = __syncthreads_count(x[i] > 50);
    if (t == 0)
        atomicAdd(&z[0], count);
}

// wrong (bounds: out_of_bounds): a guard by "or" in place of "and"
__global__ void guard_by_or(const int *x, int *y, int *z)
{
    const int down = t / 4, right = t % 4 + 4 * int(blockIdx.x) + 8;
    if (down < 16 || right < 16)
        y[(down + 8) * 16 + right] = x[down];
}

#undef column
#undef row
