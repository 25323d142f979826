// Butterfly of arrays: as `butterfly`, but each thread holds four neighbouring elements and exchanges all of them.
//
// A shuffle moves one register, so an array takes one shuffle an element.

#include "lanes.cuh"
#include "thread_elements.cuh"

template <typename Element, unsigned width, unsigned lane_mask>
__global__ void butterfly_array(const Element *input, Element *output, size_t array_size)
{
    const size_t first_element = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
    Element values[4];
    load_elements(values, input, first_element, array_size);

#pragma unroll
    for (unsigned index = 0; index < 4; ++index)
        values[index] = __shfl_xor_sync(existing_lanes(), values[index], lane_mask, width);

    store_elements(values, output, first_element, array_size);
}
