// How a thread comes by the elements it starts from, whatever the array's size.
#pragma once

#include <climits>
#include <cstddef>

// One element, or the identity past the array's end, which changes no result.
template <typename Operation, typename Element>
__device__ Element element_or_identity(const Element *data, size_t index, size_t count)
{
    return index < count ? data[index] : Operation::template identity<Element>();
}

// A grid-stride loop over the type of its index: the elements at this thread's index in the grid and at every multiple of
// the grid's threads beyond it, combined. Right for every grid; the identity for a thread that has no element at all.
//
// A signed index must not overflow, so a compiler may count the turns beforehand. nvcc does, and has four loads in flight
// in each turn of its own. An unsigned one may wrap around; then each load waits for the test of the one before.
template <typename Index, typename Operation, typename Element>
__device__ Element combine_every_grid_stride(const Element *data, Index count)
{
    const Index first = Index(blockIdx.x) * Index(blockDim.x) + Index(threadIdx.x);
    const Index all_threads = Index(gridDim.x) * Index(blockDim.x);
    Element combined = Operation::template identity<Element>();
    for (Index element = first; element < count; element += all_threads)
        combined = Operation::combine(combined, data[element]);
    return combined;
}

// The same with an index of 32 bits, as long as the last turn's fits, and else of 64.
template <typename Operation, typename Element>
__device__ Element combine_grid_stride(const Element *data, size_t count)
{
    if (count + size_t(gridDim.x) * blockDim.x <= INT_MAX)
        return combine_every_grid_stride<int, Operation>(data, int(count));
    return combine_every_grid_stride<ptrdiff_t, Operation>(data, ptrdiff_t(count));
}
