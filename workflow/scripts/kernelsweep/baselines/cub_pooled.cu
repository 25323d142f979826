// The newest CUB's sum, whose result is the same from run to run, with storage from a memory pool.
#include <cub/device/device_reduce.cuh>
#include <cuda/stream>

static auto environment(cudaStream_t stream)
{
    return cuda::std::execution::env{cuda::stream_ref{stream},
                                     cuda::execution::require(cuda::execution::determinism::run_to_run)};
}

#include "cub_environment.cuh"
