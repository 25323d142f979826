// How the blocks of one launch find out which of them comes last, and leave everything ready for the next launch.
#pragma once

#include "block.cuh"

// Whether this block is the last of `expected` to call this, known to all its threads. What thread 0 of any block wrote
// before, all threads of the last block see afterwards. The counter must be 0 before the first block arrives and is 0
// again after the last: atomicInc wraps around.
__device__ inline bool arrives_last(unsigned *counter, unsigned expected)
{
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicInc(counter, expected - 1) == expected - 1;
        if (is_last)
            __threadfence();
    }
    __syncthreads();
    return is_last;
}

// The partials of `count` blocks combined, a thread's in order of their index, so that floats round the same way in
// every run. Not from the L1 cache, which doesn't follow what other multiprocessors write.
template <typename Operation, typename Element>
__device__ Element combine_partials(const Element *partials, unsigned count)
{
    Element combined = Operation::template identity<Element>();
    for (unsigned block = threadIdx.x; block < count; block += blockDim.x)
        combined = Operation::combine(combined, __ldcg(partials + block));
    return combined;
}

// The blocks' values, each in its thread 0, to one result: every block leaves its partial and counts itself in, and the
// one that comes last combines them by `reduce`, as reduce_block_by does. All threads of all blocks must take part.
template <typename Operation, unsigned block_size, typename Element, typename Reduce>
__device__ void finish_by_last_block(Element value, Element *partials, unsigned *arrivals, Element *result, Reduce reduce)
{
    if (threadIdx.x == 0)
        partials[blockIdx.x] = value;
    if (!arrives_last(arrivals, gridDim.x))
        return;
    value = combine_partials<Operation>(partials, gridDim.x);
    value = reduce_block_by<Operation, block_size>(value, reduce);
    if (threadIdx.x == 0)
        *result = value;
}

// The same by shuffles.
template <typename Operation, unsigned block_size, typename Element>
__device__ void finish_by_last_block(Element value, Element *partials, unsigned *arrivals, Element *result)
{
    finish_by_last_block<Operation, block_size>(value, partials, arrivals, result,
                                                [](Element own) { return reduce_warp<Operation>(own); });
}
