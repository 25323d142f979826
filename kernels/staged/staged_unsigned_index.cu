// An unsigned index, a step back from `staged_shared`: the same loop over elements, but its index is a `size_t`, the type
// of the array's size, where the listing has an `int`.
//
// An unsigned index may wrap around, so the compiler can't count the turns and doesn't unroll the loop: a thread waits for
// each of its loads before it starts the next.

#include "loads.cuh"
#include "operations.cuh"
#include "shared_array.cuh"

template <typename Element, typename Operation>
__global__ void staged_unsigned_index(const Element *data, Element *partials, size_t count)
{
    Element *shared = dynamic_shared<Element>();
    const unsigned thread = threadIdx.x;

    shared[thread] = combine_every_grid_stride<size_t, Operation>(data, count);
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (thread < stride)
            shared[thread] = Operation::combine(shared[thread], shared[thread + stride]);
        __syncthreads();
    }

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
