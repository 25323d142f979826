// Vector loads: as `shared_copies`, but a thread reads 16 bytes at a time.
//
// One load instruction instead of 16, and 16 times as many bytes on their way from memory.

#include "bins.cuh"
#include "byte_vectors.cuh"

template <unsigned copies>
__global__ void vector_loads(unsigned *counts, const unsigned char *data, size_t array_size)
{
    __shared__ unsigned private_counts[bins * copies];
    clear_counts(private_counts, copies);

    unsigned *const own_counts = private_counts + threadIdx.x % copies;
    const auto count_byte = [&](unsigned byte) { atomicAdd(&own_counts[byte * copies], 1u); };
    const auto count = [&](uint4 bytes) {
        const unsigned words[] = {bytes.x, bytes.y, bytes.z, bytes.w};
#pragma unroll
        for (const unsigned word : words)
#pragma unroll
            for (unsigned shift = 0; shift < 32; shift += 8)
                count_byte(word >> shift & 255);
    };
    for_each_vector(data, array_size, count, count_byte);

    add_counts(counts, private_counts, copies);
}
