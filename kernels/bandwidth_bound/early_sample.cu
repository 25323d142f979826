// Early sample: as `streaming_sum`, but the array's first elements, which tell how large a sum of floats may become, are
// asked for before the block's own part of the array instead of after it.
//
// Those elements come from memory while the block waits for its own anyway, so that the block's end need not wait for them.
//
// kernelsweep:
//   plan: single_launch
//   block_size: multiple_of_32
//   unroll: [1, 2, 4, 8]
//   dtypes: [float32]
//   operations: [sum]
//   summation_depth: >-
//     ceil(array_size / (2 * grid_size * block_size)) + unroll + 6 + ceil(log2(block_size)) + grid_size
//   smallest_architecture: sm_80

#include "block.cuh"
#include "counted_sums.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    early_sample(const Element *data, Element *, void *arrivals, Element *result, size_t array_size)
{
    const CountedSum<Element> counted_sum(data, array_size);
    Element value = combine_vectors<unroll, Operation, StreamingLoad>(data, array_size);
    value = reduce_block<Operation, block_size>(value);
    if (threadIdx.x == 0)
        counted_sum.finish(value, arrivals, result);
}
