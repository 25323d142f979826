// Butterfly: the threads exchange values in pairs, each with the lane whose number differs in the bits of `lane_mask`.
//
// Unlike in a shift or a rotation, what one thread gives and what it gets go to and come from the same partner. A lane
// whose partner lies in a later segment of `width` lanes keeps its own value; into an earlier one it may reach.

#include "lanes.cuh"

template <typename Element, unsigned width, unsigned lane_mask>
__global__ void butterfly(const Element *input, Element *output, size_t array_size)
{
    const size_t element = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const Element value = element < array_size ? input[element] : Element(0);

    const Element received = __shfl_xor_sync(existing_lanes(), value, lane_mask, width);

    if (element < array_size)
        output[element] = received;
}
