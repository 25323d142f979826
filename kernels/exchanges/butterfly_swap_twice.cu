// Butterfly swap as it was published: the same exchange as `butterfly_swap`. The lower thread of a pair first swaps its own
// two elements, then every thread shuffles its element `second`, and the lower thread swaps back.
//
// Two swaps in registers take the place of the choice. The lower threads are those in the even groups of `lane_mask`
// lanes, which is right for powers of two alone.

#include "lanes.cuh"
#include "thread_elements.cuh"

template <typename Element, unsigned first, unsigned second>
__device__ void swap_elements(Element (&values)[4])
{
    const Element kept = values[first];
    values[first] = values[second];
    values[second] = kept;
}

template <typename Element, unsigned width, unsigned lane_mask, unsigned first, unsigned second>
__global__ void butterfly_swap_twice(const Element *input, Element *output, size_t array_size)
{
    static_assert(first < 4 && second < 4, "a thread holds the elements 0 to 3");
    static_assert((lane_mask & (lane_mask - 1)) == 0, "the lower lanes of other masks form no groups");
    const size_t first_element = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
    Element values[4];
    load_elements(values, input, first_element, array_size);

    const bool is_lower = threadIdx.x % 32 / lane_mask % 2 == 0;
    if (is_lower)
        swap_elements<Element, first, second>(values);
    values[second] = __shfl_xor_sync(existing_lanes(), values[second], lane_mask, width);
    if (is_lower)
        swap_elements<Element, first, second>(values);

    store_elements(values, output, first_element, array_size);
}
