// The newest CUB's sum without a guarantee that its result is the same from run to run: one launch, whose blocks add
// their sums by atomic operations.
#include <cub/device/device_reduce.cuh>
#include <cuda/stream>

static auto environment(cudaStream_t stream)
{
    return cuda::std::execution::env{cuda::stream_ref{stream},
                                     cuda::execution::require(cuda::execution::determinism::not_guaranteed)};
}

#include "cub_environment.cuh"
