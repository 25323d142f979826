// Direct: each thread computes one pixel from the (2 * RADIUS + 1)^2 pixels around it, in global memory.
//
// Threads load each pixel (2 * RADIUS + 1)^2 times: about once from memory, else from a cache. The work grows alike.

#include "weights.cuh"

__global__ void direct(float *result, const float *image, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int down = -RADIUS; down <= RADIUS; ++down) {
        if (y + down < 0 || y + down >= height)
            continue;
        float of_row = 0;
        for (int across = -RADIUS; across <= RADIUS; ++across)
            if (x + across >= 0 && x + across < width)
                of_row += weights[RADIUS + across] * image[size_t(y + down) * width + x + across];
        sum += weights[RADIUS + down] * of_row;
    }
    result[size_t(y) * width + x] = sum;
}
