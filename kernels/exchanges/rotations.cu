// Rotations in a two-dimensional block: as `rotate`, but `times` over, in a block of eight threads a row.
//
// Lanes count row by row: lane threadIdx.x + threadIdx.y * blockDim.x, modulo 32. Each shuffle waits for the one before,
// so a long chain takes the time of its shuffles' latencies.

#include <cuda_fp16.h>

#include "lanes.cuh"

template <typename Element, unsigned width, int offset, unsigned times>
__global__ void rotations(const Element *input, Element *output, size_t array_size)
{
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    const size_t element = size_t(blockIdx.x) * blockDim.x * blockDim.y + thread;
    Element value = element < array_size ? input[element] : Element(0);

    for (unsigned count = 0; count < times; ++count)
        value = __shfl_sync(all_lanes, value, int(thread % width) + offset, width);

    if (element < array_size)
        output[element] = value;
}
