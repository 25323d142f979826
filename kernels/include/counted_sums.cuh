// Sums of blocks' values by one atomic operation each, in a block's thread 0: a word of 64 bits holds both the sum and the
// count, so the block that finds all others counted has their sum in the same answer. No fence, since there is no second
// place in memory. The last block leaves zero for the next launch, by a plain store as in atomic_sums.cuh.
#pragma once

#include "vectors.cuh"

// To be made once the block has read its part of the array, before it combines what its threads have.
template <typename Element>
struct CountedSum;

// The upper half of the word is the sum, whose carries fall off the top, as they should modulo 2^32.
template <>
struct CountedSum<int> {
    using Word = unsigned long long;

    __device__ CountedSum(const int *, size_t) {}

    __device__ void finish(int value, void *arrivals, int *result) const
    {
        Word *const counted = static_cast<Word *>(arrivals);
        const Word own = Word(unsigned(value)) << 32 | 1u;
        const Word before = atomicAdd(counted, own);
        if (unsigned(before) != gridDim.x - 1)
            return;
        *result = int(unsigned(before >> 32) + unsigned(value));
        *counted = 0;
    }
};

// Half a word can't hold a sum of floats whose size nobody knows. But their size is known roughly from the array's first
// elements, the same for every block, so that all can add their values as whole numbers of one power of two: exactly, and
// the order doesn't matter. What is no whole number of it goes onto a sum of its own, the remainder of a value that is too
// small for its last bits to count, or all of one that is too large or not finite; and a bit of the word says that there
// is such a sum.
//
// The word, from its lowest bit: that bit, the count of blocks, and a signed sum as wide as they leave room for. A
// long accumulator (U. Kulisch and W. Miranker, Computer Arithmetic in Theory and Practice, 1981) has all powers of two.
template <>
struct CountedSum<float> {
    using Word = unsigned long long;

    static constexpr unsigned sampled_vectors = 2;
    Vector<float> sample[sampled_vectors];
    int block_elements_exponent; // of the smallest power of two that no block's share exceeds
    unsigned count_bits;         // for one block fewer than there are

    // Loads only, which come while the block combines its threads' values.
    __device__ CountedSum(const float *data, size_t count)
    {
        if (threadIdx.x != 0)
            return;
        const ArrayParts<float> parts = array_parts(data, count);
#pragma unroll
        for (unsigned number = 0; number < sampled_vectors; ++number)
            sample[number] =
                number < parts.vectors ? OrdinaryLoad::load(parts.first_vector + number) : Vector<float>{};
        count_bits = 32 - __clz(int(gridDim.x - 1));
        block_elements_exponent = 64 - __clzll((long long)(count - 1)) - (31 - __clz(int(gridDim.x)));
    }

    // That of the smallest power of two above all of the sample.
    __device__ int largest_exponent() const
    {
        unsigned largest = 0;
#pragma unroll
        for (unsigned number = 0; number < sampled_vectors; ++number) {
#pragma unroll
            for (unsigned element = 0; element < Vector<float>::elements; ++element) {
                const unsigned bits = reinterpret_cast<const unsigned &>(sample[number].at[element]) & 0x7fffffffu;
                largest = bits > largest ? bits : largest;
            }
        }
        return int(largest >> 23) - 126;
    }

    // For exponents of normal numbers.
    static __device__ float power_of_two(int exponent)
    {
        const unsigned bits = unsigned(exponent + 127) << 23;
        return reinterpret_cast<const float &>(bits);
    }

    __device__ void finish(float value, void *arrivals, float *result) const
    {
        Word *const counted = static_cast<Word *>(arrivals);
        float *const others = reinterpret_cast<float *>(counted + 1);

        // As multiples of 2^-exponent, and fewer than 2^limit_exponent of them, the blocks' values fit in the word's sum.
        const int limit_exponent = 62 - 2 * int(count_bits);
        const int exponent = limit_exponent - block_elements_exponent - largest_exponent();
        const bool has_unit = -126 <= exponent && exponent <= 126;
        const float unit = has_unit ? power_of_two(-exponent) : 0.0f;
        const float units = has_unit ? value * power_of_two(exponent) : 0.0f;
        const bool is_within = has_unit && fabsf(units) < power_of_two(limit_exponent);
        const long long whole = is_within ? (long long)(units) : 0;
        // From 2^23 on, floats are whole numbers.
        const bool is_whole = (is_within && fabsf(units) >= 8388608.0f) || value == 0.0f;
        if (!is_whole) {
            atomicAdd(others, value - float(whole) * unit);
            __threadfence();
            atomicOr(counted, Word(1));
        }
        const Word own = (Word(whole) << (count_bits + 1)) + 2;
        const Word before = atomicAdd(counted, own);
        if ((before >> 1 & ((Word(1) << count_bits) - 1)) != gridDim.x - 1)
            return;
        const long long whole_before = (long long)(before) >> (count_bits + 1);
        float sum = float(whole_before + whole) * unit;
        if (!is_whole || before & 1) {
            __threadfence();
            sum += __ldcg(others);
            *others = 0;
        }
        *result = sum;
        *counted = 0;
    }
};
