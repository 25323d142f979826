// Two passes: the first launch filters the rows into a second image, the second launch filters that image's columns.
//
// The filter is the product of a row and a column, so 2 * (2 * RADIUS + 1) multiplications do what `direct` does with
// (2 * RADIUS + 1)^2. The price is one more image to write and to read.

#include "weights.cuh"

__global__ void filter_rows(float *target, const float *source, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
#pragma unroll
    for (int offset = -RADIUS; offset <= RADIUS; ++offset)
        if (x + offset >= 0 && x + offset < width)
            sum += weights[RADIUS + offset] * source[size_t(y) * width + x + offset];
    target[size_t(y) * width + x] = sum;
}

__global__ void filter_columns(float *target, const float *source, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
#pragma unroll
    for (int offset = -RADIUS; offset <= RADIUS; ++offset)
        if (y + offset >= 0 && y + offset < height)
            sum += weights[RADIUS + offset] * source[size_t(y + offset) * width + x];
    target[size_t(y) * width + x] = sum;
}
