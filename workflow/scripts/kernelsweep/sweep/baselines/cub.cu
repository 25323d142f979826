// CUB's functions as plain functions, for ctypes. nvcc is told which: CUB's DeviceReduce, a type and an operation each
// (cub_sum_int32 and its kin); with -DHISTOGRAM, its DeviceHistogram.
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
#define CUB_FUNCTIONS(type, Element)                                                                                   \
    CUB_FUNCTION(sum_##type, SumOf, Element)                                                                           \
    CUB_FUNCTION(product_##type, ProductOf, Element)                                                                   \
    CUB_FUNCTION(minimum_##type, MinimumOf, Element)                                                                   \
    CUB_FUNCTION(maximum_##type, MaximumOf, Element)

CUB_FUNCTIONS(int32, std::int32_t)
CUB_FUNCTIONS(int64, std::int64_t)
CUB_FUNCTIONS(float32, float)
CUB_FUNCTIONS(float64, double)

#endif
