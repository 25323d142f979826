// Partial sums in shared memory. The tests plant mistakes in it, one at a time.

#include "operations.cuh"

#include <cuda_fp16.h>

template <typename Element, typename Operation>
__global__ void right(const Element *data, Element *partials, size_t array_size)
{
    __shared__ Element shared[1024];
    const unsigned thread = threadIdx.x;
    const size_t place = size_t(blockIdx.x) * blockDim.x + thread;

    shared[thread] = place < array_size ? data[place] : Element(0);
    __syncthreads();

    for (unsigned distance = blockDim.x / 2; distance >= 32; distance /= 2) {
        if (thread < distance)
            shared[thread] += shared[thread + distance];
        __syncthreads();
    }
    for (unsigned distance = 16; thread < 32 && distance > 0; distance /= 2) {
        const Element other = shared[thread + distance];
        __syncwarp();
        shared[thread] += other;
        __syncwarp();
    }
    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
