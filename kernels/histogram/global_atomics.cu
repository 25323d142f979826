// Global atomics: each thread reads bytes and adds one to their bins in global memory.
//
// All threads of the GPU add to the same 256 counters in the L2 cache, and those that meet in one wait for each other.

__global__ void global_atomics(unsigned *counts, const unsigned char *data, size_t array_size)
{
    const size_t all_threads = size_t(gridDim.x) * blockDim.x;
    for (size_t byte = size_t(blockIdx.x) * blockDim.x + threadIdx.x; byte < array_size; byte += all_threads)
        atomicAdd(&counts[data[byte]], 1u);
}
