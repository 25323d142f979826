// Matrices in global memory, read and written four floats at a time, wherever their sides end.
//
// A vector must begin at a multiple of 16 bytes, and rows do only if their length is a multiple of four. `whole_vectors`
// says so; without it, the four floats are read and written one by one.
#pragma once

// Four floats of a row-major matrix of rows x columns, from (row, column) on; 0 for those outside.
template <bool whole_vectors>
__device__ float4 load_vector(const float *matrix, int row, int column, int rows, int columns)
{
    const float *first = matrix + size_t(row) * columns + column;
    if (row >= rows || column >= columns)
        return make_float4(0, 0, 0, 0);
    if constexpr (whole_vectors)
        return *reinterpret_cast<const float4 *>(first);
    const int left = columns - column;
    return make_float4(first[0], left > 1 ? first[1] : 0, left > 2 ? first[2] : 0, left > 3 ? first[3] : 0);
}

template <bool whole_vectors>
__device__ void store_vector(float *matrix, int row, int column, int rows, int columns, float4 vector)
{
    float *first = matrix + size_t(row) * columns + column;
    if (row >= rows || column >= columns)
        return;
    if constexpr (whole_vectors) {
        *reinterpret_cast<float4 *>(first) = vector;
        return;
    }
    const int left = columns - column;
    first[0] = vector.x;
    if (left > 1)
        first[1] = vector.y;
    if (left > 2)
        first[2] = vector.z;
    if (left > 3)
        first[3] = vector.w;
}

// `count` floats of a row in shared memory, in vectors that are `spacing` floats apart.
template <int spacing, int count>
__device__ void load_fragment(float (&fragment)[count], const float *row)
{
#pragma unroll
    for (int vector = 0; vector < count / 4; ++vector) {
        const float4 loaded = *reinterpret_cast<const float4 *>(row + vector * spacing);
        fragment[4 * vector] = loaded.x;
        fragment[4 * vector + 1] = loaded.y;
        fragment[4 * vector + 2] = loaded.z;
        fragment[4 * vector + 3] = loaded.w;
    }
}

// A thread's row of sums to a row of C, in vectors that are `spacing` floats apart, the first at `column`.
template <bool whole_vectors, int spacing, int count>
__device__ void store_sums(float *C, int row, int column, int m, int n, const float (&sums)[count])
{
#pragma unroll
    for (int vector = 0; vector < count / 4; ++vector) {
        const float *from = sums + 4 * vector;
        store_vector<whole_vectors>(C, row, column + vector * spacing, m, n,
                                    make_float4(from[0], from[1], from[2], from[3]));
    }
}

// The products of a column of A and a row of B, onto the sums.
template <int thread_m, int thread_n>
__device__ void add_products(float (&sums)[thread_m][thread_n], const float (&a)[thread_m], const float (&b)[thread_n])
{
#pragma unroll
    for (int i = 0; i < thread_m; ++i)
#pragma unroll
        for (int j = 0; j < thread_n; ++j)
            sums[i][j] += a[i] * b[j];
}
