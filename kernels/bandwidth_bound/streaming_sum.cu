// Streaming sum: what helps most, put together. Loads as in `streaming_loads`, and the shortest end that the type allows:
// for 32-bit integers a warp's sum by one instruction and one atomic operation a block (`warp_instruction`,
// `counted_sum`), for the others that of `atomic_sum`.
//
// kernelsweep:
//   plan: single_launch
//   block_size: multiple_of_32
//   unroll: [1, 2, 4, 8]
//   operations: [sum]
//   summation_depth: >-
//     ceil(array_size / (2 * grid_size * block_size)) + unroll + 6 + ceil(log2(block_size)) + grid_size
//   smallest_architecture: sm_80

#include "atomic_sums.cuh"
#include "block.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    streaming_sum(const Element *data, Element *, void *arrivals, Element *result, size_t array_size)
{
    Element value = combine_vectors<unroll, Operation, StreamingLoad>(data, array_size);
    if constexpr (std::is_same_v<Element, int>) {
        value = reduce_block_by<Operation, block_size>(value, [](int own) { return __reduce_add_sync(~0u, own); });
        if (threadIdx.x == 0)
            finish_by_counted_sum(value, static_cast<unsigned long long *>(arrivals), result);
    } else {
        value = reduce_block<Operation, block_size>(value);
        if (threadIdx.x == 0)
            finish_by_atomic_sum(value, static_cast<RunningSum<Element> *>(arrivals), result);
    }
}
