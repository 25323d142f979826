// Interleaved pairs: strides B/2, B/4, ... 1. The threads below the stride add the element at that distance.
//
// Neighbouring threads now read and write neighbouring elements, so a warp's accesses fill whole sectors.
//
// kernelsweep:
//   plan: block_partials
//   block_size: power_of_two
//   unroll: [1]

#include "data_blocks.cuh"
#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void interleaved(Element *data, Element *partials, size_t array_size)
{
    const unsigned thread = threadIdx.x;
    const size_t block_start = size_t(blockIdx.x) * blockDim.x;
    const unsigned count = elements_in_data_block(array_size - block_start);
    Element *block_data = data + block_start;

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (thread < stride && thread + stride < count)
            block_data[thread] = Operation::combine(block_data[thread], block_data[thread + stride]);
        __syncthreads();
    }

    if (thread == 0)
        partials[blockIdx.x] = block_data[0];
}
