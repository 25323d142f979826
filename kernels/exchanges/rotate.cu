// Rotate: every thread gets the value of the lane `offset` above its own, or below it where `offset` is negative, and
// what leaves a segment of `width` lanes at one end comes in at the other.
//
// Unlike the shifts, this wraps around: it is `broadcast`'s __shfl_sync, which takes the source lane modulo the width,
// with another source for every lane.

#include "lanes.cuh"

template <typename Element, unsigned width, int offset>
__global__ void rotate(const Element *input, Element *output, size_t array_size)
{
    const size_t element = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const Element value = element < array_size ? input[element] : Element(0);

    const int source_lane = int(threadIdx.x % width) + offset;
    const Element received = __shfl_sync(existing_lanes(), value, source_lane, width);

    if (element < array_size)
        output[element] = received;
}
