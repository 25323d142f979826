// Any block size, step 4: as `staged_shared`, but the tree starts from the next power of two and each step makes sure
// that the partner exists.
//
// Blocks and grids can then follow the GPU, such as a grid of a multiple of its multiprocessors, at the price of one
// more comparison a step.
//
// kernelsweep:
//   plan: two_stages
//   block_size: any
//   shared_elements: block_size
//   summation_depth: >-
//     ceil(array_size / (grid_size * block_size)) + ceil(grid_size / block_size)
//     + launches * ceil(log2(block_size))

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

    unsigned power_of_two = 1;
    while (power_of_two < blockDim.x)
        power_of_two *= 2;
    for (unsigned stride = power_of_two / 2; stride > 0; stride /= 2) {
        if (thread < stride && thread + stride < blockDim.x)
            shared[thread] = Operation::combine(shared[thread], shared[thread + stride]);
        __syncthreads();
    }

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
