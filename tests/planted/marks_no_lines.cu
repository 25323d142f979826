// It reads each element once, without a hint: marks_lines_to_stay is compared with it.

#include "loaded_once.cuh"
#include "operations.cuh"

template <typename Element, typename Operation, unsigned unroll>
__global__ void marks_no_lines(const Element *data, Element *partials, size_t array_size)
{
    combine_loaded<Operation, unroll>(data, partials, array_size, [](const Element *place) { return *place; });
}
