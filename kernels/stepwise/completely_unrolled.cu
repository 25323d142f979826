// Step 6, completely unrolled: as `last_warp_unrolled`, but the block size is known to the compiler, so that the block's
// steps are written out too.
//
// No loop is left, and the shared array's size is fixed.

#include "loads.cuh"
#include "operations.cuh"
#include "tree.cuh"

template <typename Element, typename Operation, unsigned block_size>
__global__ void completely_unrolled(const Element *data, Element *partials, size_t count)
{
    __shared__ Element shared[block_size];
    const unsigned thread = threadIdx.x;
    const size_t element = size_t(blockIdx.x) * block_size * 2 + thread;

    shared[thread] = Operation::combine(element_or_identity<Operation>(data, element, count),
                                        element_or_identity<Operation>(data, element + block_size, count));
    __syncthreads();

    reduce_data_block<Operation, block_size>(shared);

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
