// Broadcast: every thread of a segment of `width` lanes gets the value of that segment's lane `source_lane`.
//
// The plainest shuffle: __shfl_sync reads the register of the lane that is named, counted from the segment's start.

#include "lanes.cuh"

template <typename Element, unsigned width, unsigned source_lane>
__global__ void broadcast(const Element *input, Element *output, size_t array_size)
{
    const size_t element = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const Element value = element < array_size ? input[element] : Element(0);

    const Element received = __shfl_sync(existing_lanes(), value, source_lane, width);

    if (element < array_size)
        output[element] = received;
}
