// Streaming sum: what helps most, put together. Loads as in `streaming_loads`, and the shortest end that the type allows:
// for elements of 32 bits one atomic operation a block (`counted_sum`), after a warp's sum by one instruction if they are
// integers (`warp_instruction`), for others that of `atomic_sum`.

#include "atomic_sums.cuh"
#include "block.cuh"
#include "counted_sums.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Operation, typename Element>
__device__ Element sum_warp(Element value)
{
    if constexpr (std::is_same_v<Element, int>)
        return __reduce_add_sync(~0u, value);
    else
        return reduce_warp<Operation>(value);
}

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    streaming_sum(const Element *data, Element *, void *arrivals, Element *result, size_t array_size)
{
    const auto reduce = [](Element own) { return sum_warp<Operation>(own); };
    if constexpr (sizeof(Element) == 4) {
        Element value = combine_vectors<unroll, Operation, StreamingLoad>(data, array_size);
        const CountedSum<Element> counted_sum(data, array_size);
        value = reduce_block_by<Operation, block_size>(value, reduce);
        if (threadIdx.x == 0)
            counted_sum.finish(value, arrivals, result);
    } else {
        Element value = combine_vectors<unroll, Operation, StreamingLoad>(data, array_size);
        value = reduce_block_by<Operation, block_size>(value, reduce);
        if (threadIdx.x == 0)
            finish_by_atomic_sum(value, static_cast<RunningSum<Element> *>(arrivals), result);
    }
}
