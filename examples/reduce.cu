// Sums arrays of several sizes with the header that `snakemake header` makes from a sweep. It checks each sum against the
// host's and prints its time beside the bandwidth that the sweep measured.
//
//     uv run --extra gpu snakemake --cores 1 header
//     nvcc -std=c++17 -arch=native -I results/nvidia-h200/best -o reduce examples/reduce.cu
//     ./reduce
//
// Exits with status 1 if a sum is wrong.

#include "reduce.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

static void check(cudaError_t error)
{
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
        std::exit(2);
    }
}

// The median time of one sum in microseconds. Before each sample, a fill of `flushed_bytes` evicts the array from the cache.
static float median_us(const int *data, std::size_t count, int *result, void *workspace, void *flushed,
                       std::size_t flushed_bytes)
{
    constexpr int samples = 21;
    cudaEvent_t before;
    cudaEvent_t after;
    check(cudaEventCreate(&before));
    check(cudaEventCreate(&after));
    std::vector<float> times_us;
    for (int sample = 0; sample < samples; ++sample) {
        float time_ms = 0;
        check(cudaMemsetAsync(flushed, sample, flushed_bytes));
        check(cudaEventRecord(before));
        check(kernelsweep::reduce<kernelsweep::Sum>(data, count, result, workspace));
        check(cudaEventRecord(after));
        check(cudaEventSynchronize(after));
        check(cudaEventElapsedTime(&time_ms, before, after));
        times_us.push_back(1000 * time_ms);
    }
    check(cudaEventDestroy(before));
    check(cudaEventDestroy(after));
    std::sort(times_us.begin(), times_us.end());
    return times_us[samples / 2];
}

int main()
{
    constexpr std::size_t largest = std::size_t(1) << 28;
    std::mt19937 generator(2026);
    std::vector<int> elements(largest);
    for (int &element : elements)
        element = int(generator() % 256);

    int l2_bytes = 0;
    check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0));
    const std::size_t flushed_bytes = std::max<std::size_t>(2 * std::size_t(l2_bytes), 1 << 20);
    std::size_t workspace_bytes = 0;
    check(kernelsweep::workspace_bytes(&workspace_bytes));
    int *data;
    int *result;
    void *workspace;
    void *flushed;
    check(cudaMalloc(&data, largest * sizeof(int)));
    check(cudaMalloc(&result, sizeof(int)));
    check(cudaMalloc(&workspace, workspace_bytes));
    check(cudaMalloc(&flushed, flushed_bytes));
    check(cudaMemcpy(data, elements.data(), largest * sizeof(int), cudaMemcpyHostToDevice));
    check(kernelsweep::initialise(workspace));

    bool all_right = true;
    std::printf("%11s %12s %9s %9s   %s\n", "elements", "time in us", "GB/s", "in sweep", "by");
    for (const std::size_t count : {std::size_t(0), std::size_t(1), std::size_t(1000), std::size_t(1) << 16,
                                    (std::size_t(1) << 20) + 3, std::size_t(1) << 22, std::size_t(1) << 24,
                                    (std::size_t(1) << 26) - 1, largest}) {
        const float time_us = median_us(data, count, result, workspace, flushed, flushed_bytes);
        int found = 0;
        check(cudaMemcpy(&found, result, sizeof(int), cudaMemcpyDeviceToHost));
        unsigned expected = 0; // modulo 2^32
        for (std::size_t element = 0; element < count; ++element)
            expected += unsigned(elements[element]);

        const kernelsweep::Configuration &chosen = kernelsweep::configuration<int, kernelsweep::Sum>(count);
        const double gbs = double(count) * sizeof(int) / time_us / 1e3;
        std::printf("%11zu %12.2f %9.1f %9.1f   %s, %u threads x %u%s\n", count, time_us, gbs, chosen.measured_gbs,
                    chosen.kernel, chosen.block_size, chosen.unroll, unsigned(found) == expected ? "" : "  WRONG");
        all_right &= unsigned(found) == expected;
    }
    check(cudaFree(flushed));
    check(cudaFree(workspace));
    check(cudaFree(result));
    check(cudaFree(data));
    return all_right ? 0 : 1;
}
