// Steps of the heat equation in a tile in shared memory with its surroundings, as in the benchmark hotspot.

extern "C" __global__ void __launch_bounds__(block_size_x *block_size_y)
    heat(float *after, const float *before, const float *power, int n)
{
    constexpr int steps = 4, width = block_size_x * tile_size_x, height = block_size_y * tile_size_y;
    constexpr int wide = width + 2 * steps, high = height + 2 * steps;
    __shared__ float tile[2][high][wide];
    __shared__ float source[keeps_power ? high : 1][keeps_power ? wide : 1];
    const int left = blockIdx.x * width - steps, top = blockIdx.y * height - steps;
    for (int y = threadIdx.y; y < high; y += block_size_y)
        for (int x = threadIdx.x; x < wide; x += block_size_x) {
            const int row = min(max(top + y, 0), n - 1), column = min(max(left + x, 0), n - 1);
            tile[0][y][x] = before[row * n + column];
            if (keeps_power)
                source[y][x] = power[row * n + column];
        }
    __syncthreads();
    constexpr int unrolled = unrolled_columns;
    for (int step = 1; step <= steps; ++step) {
        float(*from)[wide] = tile[(step - 1) % 2], (*to)[wide] = tile[step % 2];
        for (int y = threadIdx.y + step; y < high - step; y += block_size_y)
#pragma unroll unrolled
            for (int x = threadIdx.x + step; x < wide - step; x += block_size_x) {
                const int row = top + y, column = left + x;
                if (row < 0 || row >= n || column < 0 || column >= n)
                    continue;
                const float here = from[y][x];
                const float north = from[row > 0 ? y - 1 : y][x], south = from[row < n - 1 ? y + 1 : y][x];
                const float west = from[y][column > 0 ? x - 1 : x], east = from[y][column < n - 1 ? x + 1 : x];
                const float heated = keeps_power ? source[y][x] : power[row * n + column];
                to[y][x] = here + 0.1f * (north + south - 2 * here) + 0.05f * (west + east - 2 * here) +
                           0.01f * heated + 0.001f * (80.0f - here);
            }
        __syncthreads();
    }
    for (int y = threadIdx.y; y < height; y += block_size_y)
        for (int x = threadIdx.x; x < width; x += block_size_x) {
            const int row = blockIdx.y * height + y, column = blockIdx.x * width + x;
            if (row < n && column < n)
                after[row * n + column] = tile[steps % 2][y + steps][x + steps];
        }
}
