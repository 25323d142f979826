// Products of two arrays, and the sum of each block's products. The tests plant mistakes in it, one at a time.

#include <cuda_fp16.h>

extern "C" __global__ void right(float *products, float *partials, const float *first, const float *second, int array_size)
{
    __shared__ float shared[side];
    const int thread = threadIdx.x;
    const int place = blockIdx.x * side + thread;

    shared[thread] = place < array_size ? first[place] * second[place] : 0;
    if (place < array_size)
        products[place] = shared[thread];
    __syncthreads();
    for (int distance = side / 2; distance >= 32; distance /= 2) {
        if (thread < distance)
            shared[thread] += shared[thread + distance];
        __syncthreads();
    }
    for (int distance = 16; thread < 32 && distance > 0; distance /= 2) {
        const float other = shared[thread + distance];
        __syncwarp();
        shared[thread] += other;
        __syncwarp();
    }
    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
