// Warp instruction: as `last_block`, but a warp's 32 values are combined by one instruction (`__reduce_add_sync` and
// its kin) instead of five shuffles and five additions.
//
// Of 32-bit integers only, on GPUs since sm_80.

#include "arrivals.cuh"
#include "block.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Operation>
__device__ int reduce_warp_at_once(int value)
{
    if constexpr (std::is_same_v<Operation, Minimum>)
        return __reduce_min_sync(all_lanes, value);
    else if constexpr (std::is_same_v<Operation, Maximum>)
        return __reduce_max_sync(all_lanes, value);
    else
        return __reduce_add_sync(all_lanes, value);
}

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    warp_instruction(const Element *data, Element *partials, unsigned *arrivals, Element *result, size_t array_size)
{
    const auto reduce = [](Element value) { return reduce_warp_at_once<Operation>(value); };
    Element value = combine_vectors<unroll, Operation>(data, array_size);
    value = reduce_block_by<Operation, block_size>(value, reduce);
    finish_by_last_block<Operation, block_size>(value, partials, arrivals, result, reduce);
}
