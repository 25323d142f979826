// Shift down: every thread gets the value of the lane `delta` above its own, so values move to lower lanes.
//
// The mirror image of `shift_up`: the last `delta` lanes of a segment of `width` keep their own value.

#include "lanes.cuh"

template <typename Element, unsigned width, unsigned delta>
__global__ void shift_down(const Element *input, Element *output, size_t array_size)
{
    const size_t element = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const Element value = element < array_size ? input[element] : Element(0);

    const Element received = __shfl_down_sync(existing_lanes(), value, delta, width);

    if (element < array_size)
        output[element] = received;
}
