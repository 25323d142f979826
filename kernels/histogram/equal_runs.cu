// Equal runs: as `vector_loads`, but a thread adds up equal bytes that follow each other, and counts them at once.
//
// Where all bytes are equal, one atomic operation counts 16 of them. Where none are, each byte costs a comparison more.

#include "bins.cuh"
#include "byte_vectors.cuh"

template <unsigned copies>
__global__ void equal_runs(unsigned *counts, const unsigned char *data, size_t array_size)
{
    __shared__ unsigned private_counts[bins * copies];
    clear_counts(private_counts, copies);

    unsigned *const own_counts = private_counts + threadIdx.x % copies;
    const auto count_run = [&](unsigned byte, unsigned length) { atomicAdd(&own_counts[byte * copies], length); };
    const auto count = [&](uint4 bytes) {
        const unsigned words[] = {bytes.x, bytes.y, bytes.z, bytes.w};
        unsigned last = bytes.x & 255;
        unsigned length = 1;
#pragma unroll
        for (unsigned number = 1; number < 16; ++number) {
            const unsigned byte = words[number / 4] >> number % 4 * 8 & 255;
            if (byte != last) {
                count_run(last, length);
                length = 0;
            }
            last = byte;
            ++length;
        }
        count_run(last, length);
    };
    for_each_vector(data, array_size, count, [&](unsigned byte) { count_run(byte, 1); });

    add_counts(counts, private_counts, copies);
}
