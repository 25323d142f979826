// Two passes through shared memory: as `two_passes`, but a block first brings its pixels, and RADIUS more on each side, into
// shared memory. Each thread computes `steps` pixels.
//
// A pixel is read once from global memory for all the 2 * RADIUS + 1 results that need it. More pixels a thread make the
// block's tile longer, so that the pixels on its sides are a smaller part of it.

#include "weights.cuh"

// Blocks are block_x wide and block_y high; a thread's pixels are block_x apart.
template <int block_x, int block_y, int steps>
__global__ void __launch_bounds__(block_x *block_y)
    filter_rows(float *target, const float *source, int width, int height)
{
    constexpr int tile_width = block_x * steps;
    __shared__ float tile[block_y][tile_width + 2 * RADIUS];
    const int first_x = blockIdx.x * tile_width;
    const int y = blockIdx.y * block_y + threadIdx.y;

    for (int place = threadIdx.x; place < tile_width + 2 * RADIUS; place += block_x) {
        const int x = first_x + place - RADIUS;
        tile[threadIdx.y][place] = x >= 0 && x < width && y < height ? source[size_t(y) * width + x] : 0;
    }
    __syncthreads();

#pragma unroll
    for (int step = 0; step < steps; ++step) {
        const int place = threadIdx.x + step * block_x;
        float sum = 0;
#pragma unroll
        for (int number = 0; number <= 2 * RADIUS; ++number)
            sum += weights[number] * tile[threadIdx.y][place + number];
        if (first_x + place < width && y < height)
            target[size_t(y) * width + first_x + place] = sum;
    }
}

// A thread's pixels are block_y apart.
template <int block_x, int block_y, int steps>
__global__ void __launch_bounds__(block_x *block_y)
    filter_columns(float *target, const float *source, int width, int height)
{
    constexpr int tile_height = block_y * steps;
    __shared__ float tile[tile_height + 2 * RADIUS][block_x];
    const int x = blockIdx.x * block_x + threadIdx.x;
    const int first_y = blockIdx.y * tile_height;

    for (int place = threadIdx.y; place < tile_height + 2 * RADIUS; place += block_y) {
        const int y = first_y + place - RADIUS;
        tile[place][threadIdx.x] = x < width && y >= 0 && y < height ? source[size_t(y) * width + x] : 0;
    }
    __syncthreads();

#pragma unroll
    for (int step = 0; step < steps; ++step) {
        const int place = threadIdx.y + step * block_y;
        float sum = 0;
#pragma unroll
        for (int number = 0; number <= 2 * RADIUS; ++number)
            sum += weights[number] * tile[place + number][threadIdx.x];
        if (x < width && first_y + place < height)
            target[size_t(first_y + place) * width + x] = sum;
    }
}
