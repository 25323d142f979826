// It reads each element once, without a hint: marks_lines_to_stay is compared with it.
//
// kernelsweep:
//   unroll: [1]

#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void marks_no_lines(const Element *data, Element *partials, size_t array_size)
{
    __shared__ Element elements[1024];
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    Element element = Operation::template identity<Element>();
    if (i < array_size) {
        element = data[i];
    }
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
