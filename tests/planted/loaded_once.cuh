// Each element is loaded once, by a function that gets its address; a block's elements are combined in shared memory.
#pragma once

template <typename Operation, unsigned unroll, typename Element, typename Load>
__device__ void combine_loaded(const Element *data, Element *partials, size_t array_size, Load load)
{
    __shared__ Element elements[1024];
    Element loaded[unroll];
#pragma unroll
    for (unsigned step = 0; step < unroll; ++step) {
        const size_t i = (size_t(blockIdx.x) * unroll + step) * blockDim.x + threadIdx.x;
        loaded[step] = i < array_size ? load(data + i) : Operation::template identity<Element>();
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
