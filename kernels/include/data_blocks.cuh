// How an array is dealt out: a thread block reduces `unroll` neighbouring data blocks of blockDim.x elements each.
#pragma once

// How many of a data block's elements lie inside the array: fewer than blockDim.x in the array's last one.
__device__ inline unsigned elements_in_data_block(size_t remaining)
{
    return remaining < blockDim.x ? unsigned(remaining) : blockDim.x;
}

// This thread's element of each of `unroll` data blocks (distance blockDim.x), combined.
// `remaining` is the number of elements from the first data block's start to the array's end; where this thread has no
// element at all, the result is the identity.
template <unsigned unroll, typename Operation, typename Element>
__device__ Element combine_data_blocks(const Element *first_data_block, size_t remaining)
{
    const unsigned thread = threadIdx.x;
    if (remaining >= size_t(blockDim.x) * unroll) {
        Element combined = first_data_block[thread];
#pragma unroll
        for (unsigned block = 1; block < unroll; ++block)
            combined = Operation::combine(combined, first_data_block[thread + block * blockDim.x]);
        return combined;
    }
    Element combined = Operation::template identity<Element>();
    for (size_t element = thread; element < remaining; element += blockDim.x)
        combined = Operation::combine(combined, first_data_block[element]);
    return combined;
}
