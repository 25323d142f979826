// Butterfly swap: as `butterfly_array`, but one element a thread changes place: the lower thread of a pair gives its
// element `first` and gets its partner's element `second`, the higher the other way round.
//
// One shuffle does it, since each lane chooses what it gives; the choice is between registers known to the compiler.

#include "lanes.cuh"
#include "thread_elements.cuh"

template <typename Element, unsigned width, unsigned lane_mask, unsigned first, unsigned second>
__global__ void butterfly_swap(const Element *input, Element *output, size_t array_size)
{
    static_assert(first < 4 && second < 4, "a thread holds the elements 0 to 3");
    const size_t first_element = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
    Element values[4];
    load_elements(values, input, first_element, array_size);

    const unsigned lane = threadIdx.x % 32;
    const bool is_lower = lane < (lane ^ lane_mask);
    const Element given = is_lower ? values[first] : values[second];
    const Element received = __shfl_xor_sync(existing_lanes(), given, lane_mask, width);
    if (is_lower)
        values[first] = received;
    else
        values[second] = received;

    store_elements(values, output, first_element, array_size);
}
