// Shift up: every thread gets the value of the lane `delta` below its own, so values move to higher lanes.
//
// Unlike in `broadcast`, every lane names another source. Nothing wraps around: the first `delta` lanes of a segment of
// `width` keep their own value.

#include "lanes.cuh"

template <typename Element, unsigned width, unsigned delta>
__global__ void shift_up(const Element *input, Element *output, size_t array_size)
{
    const size_t element = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const Element value = element < array_size ? input[element] : Element(0);

    const Element received = __shfl_up_sync(existing_lanes(), value, delta, width);

    if (element < array_size)
        output[element] = received;
}
