// The place of a thread among the threads_m x threads_n threads of a block whose warps are rectangles of 4 x 8 threads.
#pragma once

template <int threads_m, int threads_n>
__device__ int row_of_thread()
{
    static_assert(threads_m % 4 == 0 && threads_n % 8 == 0, "a block is whole rectangles of 4 x 8 threads");
    return threadIdx.x / 32 / (threads_n / 8) * 4 + threadIdx.x % 32 / 8;
}

template <int threads_n>
__device__ int column_of_thread()
{
    return threadIdx.x / 32 % (threads_n / 8) * 8 + threadIdx.x % 8;
}
