// It reads each element once, without a hint: marks_lines_to_stay is compared with it.
//
// kernelsweep:
//   unroll: [16]

#include "operations.cuh"

template <typename Element, typename Operation, unsigned unroll>
__global__ void marks_no_lines(const Element *data, Element *partials, size_t array_size)
{
    __shared__ Element elements[1024];
    static_assert(sizeof(Element) == 4);
    Element loaded[unroll];
#pragma unroll
    for (unsigned step = 0; step < unroll; ++step) {
        const size_t i = (size_t(blockIdx.x) * unroll + step) * blockDim.x + threadIdx.x;
        loaded[step] = Operation::template identity<Element>();
        if (i >= array_size)
            continue;
        loaded[step] = data[i];
    }
    Element element = loaded[0];
#pragma unroll
    for (unsigned step = 1; step < unroll; ++step)
        element = Operation::combine(element, loaded[step]);
    elements[threadIdx.x] = element;
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride)
            elements[threadIdx.x] = Operation::combine(elements[threadIdx.x], elements[threadIdx.x + stride]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partials[blockIdx.x] = elements[0];
}
