// CUB's DeviceHistogram as a plain function, for ctypes: bytes in 256 bins, one for each value.
//
// As in cub.cu: the caller provides temporary storage, and called with none, the function only says how many bytes it
// needs. CUB's count of samples has 32 bits.
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cub/device/device_histogram.cuh>

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

extern "C" const char *cub_error_text(int error) { return cudaGetErrorString(cudaError_t(error)); }
