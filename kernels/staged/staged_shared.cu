// Stages in shared memory, step 3: unlike in `staged_global`, a block's threads go on together, by a tree in shared
// memory, and leave one partial result. Two launches: the grid over the array, one block over the grid's partials.
//
// The values between launches shrink from one a thread to one a block, and the input stays as it was. The listing adds up
// its loop's elements in shared memory; nvcc keeps the sum in a register until the loop ends, which is written here.

#include "loads.cuh"
#include "operations.cuh"
#include "shared_array.cuh"

template <typename Element, typename Operation>
__global__ void staged_shared(const Element *data, Element *partials, size_t count)
{
    Element *shared = dynamic_shared<Element>();
    const unsigned thread = threadIdx.x;

    shared[thread] = combine_grid_stride<Operation>(data, count);
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (thread < stride)
            shared[thread] = Operation::combine(shared[thread], shared[thread + stride]);
        __syncthreads();
    }

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
