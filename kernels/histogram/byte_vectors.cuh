// Bytes read in vectors of 16, the most that a thread loads by one instruction.
#pragma once

// Calls count(bytes) with each whole vector of the array, as four words of four bytes, and count_byte(byte) with each byte
// after the last of them. Each vector and each byte goes to one thread of the grid. The array begins at a multiple of 16.
template <typename Count, typename CountByte>
__device__ void for_each_vector(const unsigned char *data, size_t array_size, Count count, CountByte count_byte)
{
    const uint4 *const vectors = reinterpret_cast<const uint4 *>(data);
    const size_t all_vectors = array_size / 16;
    const size_t first = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const size_t all_threads = size_t(gridDim.x) * blockDim.x;
    for (size_t vector = first; vector < all_vectors; vector += all_threads)
        count(vectors[vector]);
    for (size_t byte = 16 * all_vectors + first; byte < array_size; byte += all_threads)
        count_byte(data[byte]);
}
