// CUB's sums by the interface that takes an execution environment and allocates temporary storage itself, as plain
// functions for ctypes with the arguments of cub.cu's. nvcc gets the name of the environment: -DENVIRONMENT=run_to_run.
//
// The storage comes from the device's default memory pool. As its users are told to, the pool keeps what it has got:
// otherwise each synchronisation gives the memory back, and the next call waits for the driver.
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cub/device/device_reduce.cuh>
#include <cuda/stream>

// The result is the same from run to run.
inline auto run_to_run(cudaStream_t stream)
{
    return cuda::std::execution::env{cuda::stream_ref{stream},
                                     cuda::execution::require(cuda::execution::determinism::run_to_run)};
}

// One launch, whose blocks add their sums by atomic operations.
inline auto not_guaranteed(cudaStream_t stream)
{
    return cuda::std::execution::env{cuda::stream_ref{stream},
                                     cuda::execution::require(cuda::execution::determinism::not_guaranteed)};
}

// The block size and the loads in flight of the study's kernels that were the fastest on an H200, 512 threads and eight
// 16-byte vectors a thread, in place of CUB's own for sm_90.
struct Tuned {
    __host__ __device__ constexpr cub::ReducePolicy operator()(cuda::compute_capability) const
    {
        constexpr int elements_a_vector = 4, vectors = 8;
        const cub::ReducePassPolicy pass{512, vectors * elements_a_vector, elements_a_vector,
                                         cub::BLOCK_REDUCE_WARP_REDUCTIONS, cub::LOAD_LDG};
        return {pass, pass};
    }
};

inline auto tuned(cudaStream_t stream)
{
    return cuda::std::execution::env{cuda::stream_ref{stream}, cuda::execution::tune(Tuned{})};
}

namespace {

cudaError_t keep_memory_in_pool()
{
    int device = 0;
    cudaMemPool_t pool = nullptr;
    std::uint64_t all = UINT64_MAX;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetDefaultMemPool(&pool, device);
    return status == cudaSuccess ? cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all) : status;
}

template <typename Element>
int sum(void *storage, std::size_t *bytes, const void *data, void *value, std::size_t count, void *stream)
{
    if (storage == nullptr) {  // The caller asks how much storage it has to provide: none.
        *bytes = 0;
        return keep_memory_in_pool();
    }
    const auto *elements = static_cast<const Element *>(data);
    auto *result = static_cast<Element *>(value);
    const auto here = ENVIRONMENT(static_cast<cudaStream_t>(stream));
    return count <= INT_MAX ? cub::DeviceReduce::Sum(elements, result, int(count), here)
                            : cub::DeviceReduce::Sum(elements, result, std::int64_t(count), here);
}

} // namespace

#define CUB_SUM(type, Element)                                                                                         \
    extern "C" int cub_sum_##type(void *storage, std::size_t *bytes, const void *data, void *value, std::size_t count, \
                                  void *stream)                                                                        \
    {                                                                                                                  \
        return sum<Element>(storage, bytes, data, value, count, stream);                                               \
    }

CUB_SUM(int32, std::int32_t)
CUB_SUM(int64, std::int64_t)
CUB_SUM(float32, float)
CUB_SUM(float64, double)

extern "C" const char *cub_error_text(int error) { return cudaGetErrorString(cudaError_t(error)); }
