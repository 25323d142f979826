// The tiles of A and B that a block works on, on their way from global memory through registers to shared memory. A's
// tile is stored with its sides swapped, so that the elements that a thread needs together lie side by side.
#pragma once

#include "vectors.cuh"

template <int block_m, int block_n, int tile_k, int threads, bool whole_vectors>
struct Tiles {
    // Four floats more a row, so that the floats of a vector of A, which go to four rows, find other banks than those of
    // its neighbour.
    static constexpr int row_a = block_m + 4;
    static constexpr int row_b = block_n;
    static constexpr int size = tile_k * (row_a + row_b); // floats in shared memory
    static constexpr int vectors_a = block_m * tile_k / 4 / threads; // of a thread
    static constexpr int vectors_b = block_n * tile_k / 4 / threads;
    static_assert(block_m * tile_k % (4 * threads) == 0 && block_n * tile_k % (4 * threads) == 0, "whole vectors");

    float4 a[vectors_a];
    float4 b[vectors_b];

    // From global memory: the tiles of the block that begin at column (of A) and row (of B) first_k.
    __device__ void load(const float *A, const float *B, int first_row, int first_column, int first_k, int m, int n, int k)
    {
#pragma unroll
        for (int number = 0; number < vectors_a; ++number) {
            const int vector = threadIdx.x + number * threads;
            a[number] = load_vector<whole_vectors>(A, first_row + vector / (tile_k / 4),
                                                   first_k + vector % (tile_k / 4) * 4, m, k);
        }
#pragma unroll
        for (int number = 0; number < vectors_b; ++number) {
            const int vector = threadIdx.x + number * threads;
            b[number] = load_vector<whole_vectors>(B, first_k + vector / (block_n / 4),
                                                   first_column + vector % (block_n / 4) * 4, k, n);
        }
    }

    // To shared memory: tile_k rows of row_a floats, then as many of row_b.
    __device__ void store(float *shared) const
    {
#pragma unroll
        for (int number = 0; number < vectors_a; ++number) {
            const int vector = threadIdx.x + number * threads;
            float *first = shared + vector % (tile_k / 4) * 4 * row_a + vector / (tile_k / 4);
            first[0] = a[number].x;
            first[row_a] = a[number].y;
            first[2 * row_a] = a[number].z;
            first[3 * row_a] = a[number].w;
        }
        float4 *tile_b = reinterpret_cast<float4 *>(shared + tile_k * row_a);
#pragma unroll
        for (int number = 0; number < vectors_b; ++number)
            tile_b[threadIdx.x + number * threads] = b[number];
    }
};
