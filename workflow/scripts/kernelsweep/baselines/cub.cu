// CUB's functions as plain functions, for ctypes. nvcc is told which: CUB's DeviceReduce, a type and an operation each
// (cub_sum_int32 and its kin); with -DENVIRONMENT=tuned or the like, its sums by the interface that takes an execution
// environment; with -DHISTOGRAM, its DeviceHistogram.
//
// As a user of CUB would call it: its own sum, minimum and maximum, a count of 32 bits where that suffices (its kernels
// are a little faster for it), and temporary storage that the caller provides: called with none, a function only says
// how many bytes it needs.
#include <climits>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#ifdef HISTOGRAM
#include <cub/device/device_histogram.cuh>
#else
#include <cub/device/device_reduce.cuh>
#endif

extern "C" const char *cub_error_text(int error) { return cudaGetErrorString(cudaError_t(error)); }

#if defined(HISTOGRAM)

// Bytes in 256 bins, one for each value. CUB's count of samples has 32 bits.
extern "C" int cub_histogram(void *storage, std::size_t *bytes, const void *data, void *counts, std::size_t count,
                             void *stream)
{
    constexpr int levels = 257, lowest = 0, end = 256;
    if (count > INT_MAX)
        return cudaErrorInvalidValue;
    return cub::DeviceHistogram::HistogramEven(storage, *bytes, static_cast<const std::uint8_t *>(data),
                                               static_cast<unsigned *>(counts), levels, lowest, end, int(count),
                                               static_cast<cudaStream_t>(stream));
}

#else

#ifdef ENVIRONMENT

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

// The storage comes from the device's default memory pool. As its users are told to, the pool keeps what it has got:
// otherwise each synchronisation gives the memory back, and the next call waits for the driver.
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

struct SumOf {
    template <typename Element, typename Count>
    static cudaError_t reduce(void *storage, std::size_t &bytes, const Element *data, Element *value, Count count,
                              cudaStream_t stream)
    {
        if (storage == nullptr) { // The caller asks how much storage it has to provide: none.
            bytes = 0;
            return keep_memory_in_pool();
        }
        return cub::DeviceReduce::Sum(data, value, count, ENVIRONMENT(stream));
    }
};

} // namespace

#else

namespace {

// A product; integers are multiplied modulo 2^bits.
struct Product {
    template <typename Element>
    __device__ Element operator()(Element a, Element b) const
    {
        if constexpr (std::is_integral_v<Element>) {
            using Unsigned = std::make_unsigned_t<Element>;
            return Element(Unsigned(a) * Unsigned(b));
        } else {
            return a * b;
        }
    }
};

struct SumOf {
    template <typename... Arguments>
    static cudaError_t reduce(Arguments &&...arguments) { return cub::DeviceReduce::Sum(arguments...); }
};
struct MinimumOf {
    template <typename... Arguments>
    static cudaError_t reduce(Arguments &&...arguments) { return cub::DeviceReduce::Min(arguments...); }
};
struct MaximumOf {
    template <typename... Arguments>
    static cudaError_t reduce(Arguments &&...arguments) { return cub::DeviceReduce::Max(arguments...); }
};
struct ProductOf {
    template <typename Element, typename Count>
    static cudaError_t reduce(void *storage, std::size_t &bytes, const Element *data, Element *value, Count count,
                              cudaStream_t stream)
    {
        return cub::DeviceReduce::Reduce(storage, bytes, data, value, count, Product{}, Element(1), stream);
    }
};

} // namespace

#endif

namespace {

template <typename Operation, typename Element>
int reduce(void *storage, std::size_t *bytes, const void *data, void *value, std::size_t count, void *stream)
{
    const auto *elements = static_cast<const Element *>(data);
    auto *result = static_cast<Element *>(value);
    const auto on = static_cast<cudaStream_t>(stream);
    return count <= INT_MAX ? Operation::reduce(storage, *bytes, elements, result, int(count), on)
                            : Operation::reduce(storage, *bytes, elements, result, std::int64_t(count), on);
}

} // namespace

#define CUB_FUNCTION(name, Operation, Element)                                                                         \
    extern "C" int cub_##name(void *storage, std::size_t *bytes, const void *data, void *value, std::size_t count,     \
                              void *stream)                                                                            \
    {                                                                                                                  \
        return reduce<Operation, Element>(storage, bytes, data, value, count, stream);                                 \
    }
#ifdef ENVIRONMENT
#define CUB_FUNCTIONS(type, Element) CUB_FUNCTION(sum_##type, SumOf, Element)
#else
#define CUB_FUNCTIONS(type, Element)                                                                                   \
    CUB_FUNCTION(sum_##type, SumOf, Element)                                                                           \
    CUB_FUNCTION(product_##type, ProductOf, Element)                                                                   \
    CUB_FUNCTION(minimum_##type, MinimumOf, Element)                                                                   \
    CUB_FUNCTION(maximum_##type, MaximumOf, Element)
#endif

CUB_FUNCTIONS(int32, std::int32_t)
CUB_FUNCTIONS(int64, std::int64_t)
CUB_FUNCTIONS(float32, float)
CUB_FUNCTIONS(float64, double)

#endif
