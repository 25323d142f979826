// Shared copies: as `shared_atomics`, but a block has several private histograms, and neighbouring threads count in
// different ones.
//
// Where many bytes are equal, the lanes of a warp meet in one counter, and their additions happen one after the other. With
// 8 copies, only every eighth lane shares a counter.

#include "bins.cuh"

template <unsigned copies>
__global__ void shared_copies(unsigned *counts, const unsigned char *data, size_t array_size)
{
    __shared__ unsigned private_counts[bins * copies];
    clear_counts(private_counts, copies);

    const unsigned copy = threadIdx.x % copies;
    const size_t all_threads = size_t(gridDim.x) * blockDim.x;
    for (size_t byte = size_t(blockIdx.x) * blockDim.x + threadIdx.x; byte < array_size; byte += all_threads)
        atomicAdd(&private_counts[data[byte] * copies + copy], 1u);

    add_counts(counts, private_counts, copies);
}
