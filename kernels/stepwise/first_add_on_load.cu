// Step 4, first add on load: as `sequential_addressing`, but each thread adds two elements, a block size apart, while
// loading. Half as many blocks do the same work.
//
// Half of the threads were idle from the tree's first step on; now that step is done before anything is stored.

#include "loads.cuh"
#include "operations.cuh"
#include "shared_array.cuh"

template <typename Element, typename Operation>
__global__ void first_add_on_load(const Element *data, Element *partials, size_t count)
{
    Element *shared = dynamic_shared<Element>();
    const unsigned thread = threadIdx.x;
    const size_t element = size_t(blockIdx.x) * blockDim.x * 2 + thread;

    shared[thread] = Operation::combine(element_or_identity<Operation>(data, element, count),
                                        element_or_identity<Operation>(data, element + blockDim.x, count));
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (thread < stride)
            shared[thread] = Operation::combine(shared[thread], shared[thread + stride]);
        __syncthreads();
    }

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
