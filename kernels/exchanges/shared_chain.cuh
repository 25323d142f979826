// A chain of rotations inside groups of `width` lanes, through shared memory, in a block of two dimensions.
#pragma once

#include "shared_array.cuh"

// Every second value lies in the other half of shared memory. So one wait a turn is enough: who stores into a half again
// has waited since the others loaded from it.
template <typename Order, typename Element, unsigned width, int offset, unsigned times>
__device__ void rotate_through_shared(const Element *input, Element *output, size_t array_size)
{
    static_assert((width & (width - 1)) == 0, "lanes form groups of a power of two");
    const unsigned threads = blockDim.x * blockDim.y;
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    const unsigned source = thread / width * width + (thread + unsigned(offset)) % width;
    const size_t element = size_t(blockIdx.x) * threads + thread;
    Element *half = dynamic_shared<Element>(), *other_half = half + threads;
    Element value = element < array_size ? input[element] : Element(0);

    for (unsigned count = 0; count < times; ++count) {
        half[thread] = value;
        Order::wait();
        value = half[source];
        Element *const last = half;
        half = other_half;
        other_half = last;
    }

    if (element < array_size)
        output[element] = value;
}
