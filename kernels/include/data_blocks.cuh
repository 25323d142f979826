// How an array is dealt out: a thread block reduces `unroll` neighbouring data blocks of blockDim.x elements each. In the
// array's last thread block some or all of these may be cut short; that block goes its own way, so that the others are
// spared every test of the array's end.
#pragma once

// Whether all of a thread block's data blocks lie inside the array; `remaining` is the number of elements from the first
// one's start to the array's end. The grid is no larger than the array needs, so only the last thread block can be cut
// short, and the others are spared the 64-bit comparison.
template <unsigned unroll>
__device__ bool data_blocks_are_whole(size_t remaining)
{
    return blockIdx.x + 1 < gridDim.x || remaining >= size_t(blockDim.x) * unroll;
}

// This thread's element of each of `unroll` whole data blocks (distance blockDim.x), combined.
template <unsigned unroll, typename Operation, typename Element>
__device__ Element combine_data_blocks(const Element *first_data_block)
{
    Element combined = first_data_block[threadIdx.x];
#pragma unroll
    for (unsigned block = 1; block < unroll; ++block)
        combined = Operation::combine(combined, first_data_block[threadIdx.x + block * blockDim.x]);
    return combined;
}

// The same where the data blocks are cut short: the identity for a thread that has no element at all.
template <typename Operation, typename Element>
__device__ Element combine_cut_data_blocks(const Element *first_data_block, size_t remaining)
{
    Element combined = Operation::template identity<Element>();
    for (size_t element = threadIdx.x; element < remaining; element += blockDim.x)
        combined = Operation::combine(combined, first_data_block[element]);
    return combined;
}

// All of a thread block's work where its data blocks are cut short: reduce them in place, whatever the block size, and
// leave the result in `partial`.
template <typename Operation, typename Element>
__device__ void reduce_cut_data_blocks(Element *block_data, size_t remaining, Element *partial)
{
    const unsigned thread = threadIdx.x;
    const Element combined = combine_cut_data_blocks<Operation>(block_data, remaining);
    if (thread < remaining)
        block_data[thread] = combined;
    __syncthreads();

    unsigned count = remaining < blockDim.x ? unsigned(remaining) : blockDim.x;
    while (count > 1) {
        const unsigned half = (count + 1) / 2;
        if (thread + half < count)
            block_data[thread] = Operation::combine(block_data[thread], block_data[thread + half]);
        count = half;
        __syncthreads();
    }
    if (thread == 0)
        *partial = block_data[0];
}
