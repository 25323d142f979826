// Clusters: as `last_block`, but eight blocks at a time, which run together on sm_90 and later, combine their values in
// the shared memory of the first of them, and only that one leaves a partial and counts itself in.
//
// An eighth of the partials and of the atomic operations in global memory, for a wait of the eight on each other.

#include <cooperative_groups.h>

#include "arrivals.cuh"
#include "block.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size) __cluster_dims__(8, 1, 1)
    clusters(const Element *data, Element *partials, unsigned *arrivals, Element *result, size_t array_size)
{
    constexpr unsigned cluster_size = 8;
    __shared__ Element block_results[cluster_size];
    const auto cluster = cooperative_groups::this_cluster();
    const unsigned clusters_in_grid = gridDim.x / cluster_size;

    cluster.barrier_arrive();
    Element value = combine_vectors<unroll, Operation>(data, array_size);
    value = reduce_block<Operation, block_size>(value);
    cluster.barrier_wait(); // All eight have begun, so that there is shared memory to write to.
    if (threadIdx.x == 0)
        cluster.map_shared_rank(block_results, 0)[cluster.block_rank()] = value;
    cluster.sync();
    if (cluster.block_rank() != 0)
        return;

    if (threadIdx.x == 0) {
        value = block_results[0];
        for (unsigned block = 1; block < cluster_size; ++block)
            value = Operation::combine(value, block_results[block]);
        partials[blockIdx.x / cluster_size] = value;
    }
    if (!arrives_last(arrivals, clusters_in_grid))
        return;
    value = combine_partials<Operation>(partials, clusters_in_grid);
    value = reduce_block<Operation, block_size>(value);
    if (threadIdx.x == 0)
        *result = value;
}
