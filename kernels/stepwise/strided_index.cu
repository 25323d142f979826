// Step 2, strided indices: the same pairs as in `modulo_baseline`, but thread t works on element 2 * stride * t, so that
// the active threads are the first of the block.
//
// Warps are whole or idle, except the last active one. But a warp's lanes now access elements 2 * stride apart, which fall
// into few of the shared memory's banks: conflicts.

#include "loads.cuh"
#include "operations.cuh"
#include "shared_array.cuh"

template <typename Element, typename Operation>
__global__ void strided_index(const Element *data, Element *partials, size_t count)
{
    Element *shared = dynamic_shared<Element>();
    const unsigned thread = threadIdx.x;
    const size_t element = size_t(blockIdx.x) * blockDim.x + thread;

    shared[thread] = element_or_identity<Operation>(data, element, count);
    __syncthreads();

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        const unsigned index = 2 * stride * thread;
        if (index < blockDim.x)
            shared[index] = Operation::combine(shared[index], shared[index + stride]);
        __syncthreads();
    }

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
