// Any block size, step 4: as `staged_shared`, but the tree starts from the next power of two and each step makes sure
// that the partner exists.
//
// The second launch is one block with a thread for each partial result, and so any grid from 256 to 512 blocks needs it:
// 270 blocks leave a block of 270 threads, which is no power of two. The price is one more comparison a step.

#include "loads.cuh"
#include "operations.cuh"
#include "shared_array.cuh"

template <typename Element, typename Operation>
__global__ void staged_any_block(const Element *data, Element *partials, size_t count)
{
    Element *shared = dynamic_shared<Element>();
    const unsigned thread = threadIdx.x;

    shared[thread] = combine_grid_stride<Operation>(data, count);
    __syncthreads();

    const unsigned power_of_two = 1u << (32 - __clz(int(blockDim.x - 1)));
    for (unsigned stride = power_of_two / 2; stride > 0; stride /= 2) {
        if (thread < stride && thread + stride < blockDim.x)
            shared[thread] = Operation::combine(shared[thread], shared[thread + stride]);
        __syncthreads();
    }

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
