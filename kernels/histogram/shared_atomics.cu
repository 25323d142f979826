// Shared atomics: each block counts its bytes in a private histogram in shared memory. Then it adds that to the one in
// global memory.
//
// Only the threads of a block wait for each other, and the multiprocessor's own memory is nearer than the L2 cache. Global
// memory sees 256 additions a block.

#include "bins.cuh"

__global__ void shared_atomics(unsigned *counts, const unsigned char *data, size_t array_size)
{
    __shared__ unsigned private_counts[bins];
    clear_counts(private_counts, 1);

    const size_t all_threads = size_t(gridDim.x) * blockDim.x;
    for (size_t byte = size_t(blockIdx.x) * blockDim.x + threadIdx.x; byte < array_size; byte += all_threads)
        atomicAdd(&private_counts[data[byte]], 1u);

    add_counts(counts, private_counts, 1);
}
