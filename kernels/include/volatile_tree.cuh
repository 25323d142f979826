// The end of a tree as it was written before Volta: through a volatile pointer, with nothing to order one lane's write
// against another lane's read. That counts on the lanes of a warp running in lockstep. tree.cuh has the synchronised form.
#pragma once

// The last six steps of a tree, in a straight line, by the threads of the first warp of a block of 64 threads or more.
template <typename Operation, typename Element>
__device__ void reduce_last_warp_volatile(volatile Element *block_data)
{
    const unsigned lane = threadIdx.x;
#pragma unroll
    for (unsigned stride = 32; stride > 0; stride /= 2)
        block_data[lane] = Operation::template combine<Element>(block_data[lane], block_data[lane + stride]);
}
