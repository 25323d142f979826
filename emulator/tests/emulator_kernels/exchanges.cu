// One warp-level exchange or vote a kernel: every thread leaves what it got.

template <typename Element>
__global__ void shuffle_down(const Element *values, const int *sources, Element *results, int width)
{
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    results[thread] = __shfl_down_sync(0xffffffffu, values[thread], sources[thread], width);
}

__global__ void reductions(const int *values, int *results)
{
    const unsigned all = 0xffffffffu;
    const unsigned thread = threadIdx.x;
    const int value = values[thread];
    const unsigned bits = unsigned(value);
    int *own = results + thread * 12;
    own[0] = __reduce_add_sync(all, value);
    own[1] = __reduce_min_sync(all, value);
    own[2] = __reduce_max_sync(all, value);
    own[3] = int(__reduce_min_sync(all, bits));
    own[4] = int(__reduce_max_sync(all, bits));
    own[5] = int(__reduce_and_sync(all, bits));
    own[6] = int(__reduce_or_sync(all, bits));
    own[7] = int(__reduce_xor_sync(all, bits));
    own[8] = int(__ballot_sync(all, value < 0));
    own[9] = __any_sync(all, value == 7);
    own[10] = __all_sync(all, value < 100);
    own[11] = int(__match_any_sync(all, value & 1));
}

__global__ void counts(const int *values, int *results)
{
    const unsigned thread = threadIdx.x;
    const int positive = values[thread] > 0;
    const int count = __syncthreads_count(positive);
    const int every = __syncthreads_and(positive);
    const int some = __syncthreads_or(positive);
    results[thread] = count * 4 + every * 2 + some;
}
