// Bulk copies: as `last_block`, but the vectors come through shared memory, where the copy engine of sm_90 puts them
// while the threads combine what came before: four stages, each of `unroll` vectors a thread, one copy a stage.
//
// What is under way costs no registers, so that blocks may have more of it, and no thread computes addresses.
//
// kernelsweep:
//   plan: single_launch
//   block_size: multiple_of_32
//   largest_block_size: 512
//   unroll: [1, 2, 4]
//   shared_elements: 4 * block_size * unroll * (2 + 2 * (dtype in ['int32', 'float32']))
//   summation_depth: >-
//     ceil(array_size / (2 * grid_size * block_size)) + unroll + 7 + ceil(log2(block_size))
//     + ceil(grid_size / block_size) + ceil(log2(block_size))
//   smallest_architecture: sm_90
//   gpu_only: the emulator has no bulk copy engine

#include "arrivals.cuh"
#include "block.cuh"
#include "bulk_copy.cuh"
#include "operations.cuh"
#include "shared_array.cuh"
#include "vectors.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    bulk_copies(const Element *data, Element *partials, unsigned *arrivals, Element *result, size_t array_size)
{
    constexpr unsigned stages = 4;
    constexpr unsigned stage_vectors = block_size * unroll;
    __shared__ CopyBarrier barriers[stages];
    Vector<Element> *const shared = dynamic_shared<Vector<Element>>();
    const ArrayParts<Element> parts = array_parts(data, array_size);
    // In pieces of one stage. This block's are every gridDim.x-th.
    const size_t pieces = parts.vectors / stage_vectors;
    const auto start = [&](size_t piece, unsigned stage) {
        if (piece < pieces)
            start_copy(shared + stage * stage_vectors, parts.first_vector + piece * stage_vectors, stage_vectors * 16,
                       barriers + stage);
    };

    if (threadIdx.x == 0)
        for (unsigned stage = 0; stage < stages; ++stage)
            initialise(barriers + stage);
    __syncthreads();
    if (threadIdx.x == 0)
        for (unsigned stage = 0; stage < stages; ++stage)
            start(blockIdx.x + size_t(stage) * gridDim.x, stage);

    Vector<Element> combined = identity_vector<Operation, Element>();
    unsigned stage = 0;
    unsigned parity = 0;
    for (size_t piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
        wait_for_copy(barriers + stage, parity);
#pragma unroll
        for (unsigned number = 0; number < unroll; ++number)
            combine_vector<Operation>(combined, shared[stage * stage_vectors + number * block_size + threadIdx.x]);
        __syncthreads(); // All have read it.
        if (threadIdx.x == 0)
            start(piece + size_t(stages) * gridDim.x, stage);
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
    // Vectors that make no whole piece.
    for (size_t vector = pieces * stage_vectors + size_t(blockIdx.x) * block_size + threadIdx.x; vector < parts.vectors;
         vector += size_t(gridDim.x) * block_size)
        combine_vector<Operation>(combined, OrdinaryLoad::load(parts.first_vector + vector));

    Element value = combine_head_and_tail<Operation>(combine_elements<Operation>(combined), data, parts);
    value = reduce_block<Operation, block_size>(value);
    if (threadIdx.x == 0)
        partials[blockIdx.x] = value;
    if (!arrives_last(arrivals, gridDim.x))
        return;
    value = combine_partials<Operation>(partials, gridDim.x);
    value = reduce_block<Operation, block_size>(value);
    if (threadIdx.x == 0)
        *result = value;
}
