// How a thread comes by the elements it starts from, whatever the array's size.
#pragma once

// One element, or the identity past the array's end, which changes no result.
template <typename Operation, typename Element>
__device__ Element element_or_identity(const Element *data, size_t index, size_t count)
{
    return index < count ? data[index] : Operation::template identity<Element>();
}

// A grid-stride loop: the elements at this thread's index in the grid and at every multiple of the grid's threads beyond
// it, combined. Right for every grid; the identity for a thread that has no element at all.
template <typename Operation, typename Element>
__device__ Element combine_grid_stride(const Element *data, size_t count)
{
    const size_t first = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const size_t all_threads = size_t(gridDim.x) * blockDim.x;
    Element combined = Operation::template identity<Element>();
    for (size_t element = first; element < count; element += all_threads)
        combined = Operation::combine(combined, data[element]);
    return combined;
}

// The same, added up in the place where the result is wanted, such as a thread's own place in shared memory.
template <typename Operation, typename Element>
__device__ void accumulate_grid_stride(Element &place, const Element *data, size_t count)
{
    const size_t first = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const size_t all_threads = size_t(gridDim.x) * blockDim.x;
    place = Operation::template identity<Element>();
    for (size_t element = first; element < count; element += all_threads)
        place = Operation::combine(place, data[element]);
}
