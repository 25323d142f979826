// Warp copies: as `shared_copies`, but each warp has a private histogram of its own.
//
// Warps never meet in a counter, but the lanes of a warp do. So this helps less than copies for neighbouring lanes where
// many bytes are equal.

#include "bins.cuh"

template <unsigned block_size>
__global__ void __launch_bounds__(block_size)
    warp_copies(unsigned *counts, const unsigned char *data, size_t array_size)
{
    constexpr unsigned warps = block_size / 32;
    __shared__ unsigned private_counts[bins * warps];
    clear_counts(private_counts, warps);

    const unsigned warp = threadIdx.x / 32;
    const size_t all_threads = size_t(gridDim.x) * blockDim.x;
    for (size_t byte = size_t(blockIdx.x) * blockDim.x + threadIdx.x; byte < array_size; byte += all_threads)
        atomicAdd(&private_counts[data[byte] * warps + warp], 1u);

    add_counts(counts, private_counts, warps);
}
