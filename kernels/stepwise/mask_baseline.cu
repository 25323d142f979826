// No remainder: as `modulo_baseline`, but the test for a multiple of 2 * stride, a power of two, is one AND.
//
// The same threads are active in the same steps, so that what is saved is the remainder's instructions alone.

#include "loads.cuh"
#include "operations.cuh"
#include "shared_array.cuh"

template <typename Element, typename Operation>
__global__ void mask_baseline(const Element *data, Element *partials, size_t count)
{
    Element *shared = dynamic_shared<Element>();
    const unsigned thread = threadIdx.x;
    const size_t element = size_t(blockIdx.x) * blockDim.x + thread;

    shared[thread] = element_or_identity<Operation>(data, element, count);
    __syncthreads();

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if ((thread & (2 * stride - 1)) == 0)
            shared[thread] = Operation::combine(shared[thread], shared[thread + stride]);
        __syncthreads();
    }

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
