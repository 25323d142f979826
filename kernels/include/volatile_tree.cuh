// The end of a tree as it was written before Volta: through a volatile pointer, with nothing to order one lane's write
// against another lane's read. That counts on the lanes of a warp running in lockstep. tree.cuh has the synchronised form.
#pragma once

#include "lanes.cuh"

// The last steps of a tree, in a straight line, by the threads of the first warp of a block of two warps or more.
template <typename Operation, typename Element>
__device__ void reduce_last_warp_volatile(volatile Element *block_data)
{
    const unsigned lane = threadIdx.x;
    const auto step = [=](unsigned stride) {
        block_data[lane] = Operation::template combine<Element>(block_data[lane], block_data[lane + stride]);
    };
    step(32);
    step(16);
    step(8);
    step(4);
    step(2);
    step(1);
}
