// One pass: a block brings a tile with RADIUS more pixels on all sides into shared memory, filters its rows there, and then
// its columns, in one launch.
//
// No second image goes through global memory. The price is the rows above and below the tile, which the blocks above and
// below filter, too: the higher the tile, the fewer.

#include "weights.cuh"

template <int block_x, int block_y, int steps>
__global__ void __launch_bounds__(block_x *block_y) one_pass(float *result, const float *image, int width, int height)
{
    constexpr int tile_height = block_y * steps;
    __shared__ float tile[tile_height + 2 * RADIUS][block_x + 2 * RADIUS];
    __shared__ float filtered[tile_height + 2 * RADIUS][block_x];
    const int first_x = blockIdx.x * block_x;
    const int first_y = blockIdx.y * tile_height;

    for (int down = threadIdx.y; down < tile_height + 2 * RADIUS; down += block_y)
        for (int across = threadIdx.x; across < block_x + 2 * RADIUS; across += block_x) {
            const int x = first_x + across - RADIUS;
            const int y = first_y + down - RADIUS;
            const bool inside = x >= 0 && x < width && y >= 0 && y < height;
            tile[down][across] = inside ? image[size_t(y) * width + x] : 0;
        }
    __syncthreads();

    for (int down = threadIdx.y; down < tile_height + 2 * RADIUS; down += block_y) {
        float sum = 0;
#pragma unroll
        for (int number = 0; number <= 2 * RADIUS; ++number)
            sum += weights[number] * tile[down][threadIdx.x + number];
        filtered[down][threadIdx.x] = sum;
    }
    __syncthreads();

    const int x = first_x + threadIdx.x;
#pragma unroll
    for (int step = 0; step < steps; ++step) {
        const int down = threadIdx.y + step * block_y;
        float sum = 0;
#pragma unroll
        for (int number = 0; number <= 2 * RADIUS; ++number)
            sum += weights[number] * filtered[down + number][threadIdx.x];
        if (x < width && first_y + down < height)
            result[size_t(first_y + down) * width + x] = sum;
    }
}
