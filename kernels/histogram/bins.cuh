// A block's private histograms in shared memory: `copies` of them, the counters of one bin side by side, so that
// different copies of a bin lie in different banks.
#pragma once

constexpr unsigned bins = 256;

// Begins with zeros. All threads of the block must take part, and may count afterwards.
__device__ inline void clear_counts(unsigned *private_counts, unsigned copies)
{
    for (unsigned counter = threadIdx.x; counter < bins * copies; counter += blockDim.x)
        private_counts[counter] = 0;
    __syncthreads();
}

// Adds the sum of the copies to the histogram in global memory, when all threads of the block have counted. Neighbouring
// threads begin with different copies, so that those of a warp read from 32 banks.
__device__ inline void add_counts(unsigned *counts, const unsigned *private_counts, unsigned copies)
{
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        unsigned sum = 0;
        for (unsigned copy = 0; copy < copies; ++copy)
            sum += private_counts[bin * copies + (copy + bin * copies / 32) % copies];
        if (sum != 0)
            atomicAdd(&counts[bin], sum);
    }
}
