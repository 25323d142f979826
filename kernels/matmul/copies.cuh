// Copies from global to shared memory that pass no register and that no thread waits for, since sm_80.
#pragma once

#include <cuda_pipeline_primitives.h>

// Starts to copy four floats of a row-major matrix of rows x columns, from (row, column) on, to shared memory; 0 for those
// outside. Without `whole_vectors` they are copied one by one.
template <bool whole_vectors>
__device__ void copy_vector(float *shared, const float *matrix, int row, int column, int rows, int columns)
{
    constexpr int length = whole_vectors ? 4 : 1; // floats a copy
#pragma unroll
    for (int first = 0; first < 4; first += length) {
        const bool inside = row < rows && column + first < columns;
        const float *source = matrix + (inside ? size_t(row) * columns + column + first : 0);
        __pipeline_memcpy_async(shared + first, source, 4 * length, inside ? 0 : 4 * length);
    }
}

// Starts to copy a tile of height x width floats, which begins at (first_row, first_column), by `threads` threads. Its
// rows are `pitch` floats apart in shared memory.
template <int height, int width, int pitch, int threads, bool whole_vectors>
__device__ void copy_tile(float *shared, const float *matrix, int first_row, int first_column, int rows, int columns)
{
    static_assert(height * width % (4 * threads) == 0, "whole vectors for each thread");
#pragma unroll
    for (int number = 0; number < height * width / 4 / threads; ++number) {
        const int vector = threadIdx.x + number * threads;
        const int row = vector / (width / 4);
        const int column = vector % (width / 4) * 4;
        copy_vector<whole_vectors>(shared + row * pitch + column, matrix, first_row + row, first_column + column, rows,
                                   columns);
    }
}
