// Step 1, the baseline: each thread brings one element into shared memory; in steps of stride 1, 2, 4, ... the threads
// whose index is a multiple of 2 * stride add the element at that distance.
//
// The active threads are scattered over all warps: in the first five steps, every warp runs, for 16 of its lanes down to
// one; each later step leaves half as many warps. The test costs a remainder.

#include "loads.cuh"
#include "operations.cuh"
#include "shared_array.cuh"

template <typename Element, typename Operation>
__global__ void modulo_baseline(const Element *data, Element *partials, size_t count)
{
    Element *shared = dynamic_shared<Element>();
    const unsigned thread = threadIdx.x;
    const size_t element = size_t(blockIdx.x) * blockDim.x + thread;

    shared[thread] = element_or_identity<Operation>(data, element, count);
    __syncthreads();

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (thread % (2 * stride) == 0)
            shared[thread] = Operation::combine(shared[thread], shared[thread + stride]);
        __syncthreads();
    }

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
