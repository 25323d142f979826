// Bulk copies: as `last_block`, but the vectors come through shared memory, where the copy engine of sm_90 puts them
// while the threads combine what came before: a pipeline for each warp, of two stages, each of `unroll` vectors a
// lane, one copy a stage.
//
// What is under way costs no registers, no thread computes addresses, and no warp waits for another.

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
    constexpr unsigned stages = 2;
    constexpr unsigned warps = block_size / 32;
    constexpr unsigned stage_vectors = 32 * unroll;
    __shared__ CopyBarrier all_barriers[warps * stages];
    const unsigned warp = threadIdx.x / 32;
    const unsigned lane = threadIdx.x % 32;
    Vector<Element> *const shared = dynamic_shared<Vector<Element>>() + warp * stages * stage_vectors;
    CopyBarrier *const barriers = all_barriers + warp * stages;
    const ArrayParts<Element> parts = array_parts(data, array_size);
    // In pieces of one stage, dealt to the grid's warps in turn.
    const size_t pieces = parts.vectors / stage_vectors;
    const size_t grid_warps = size_t(gridDim.x) * warps;
    const size_t first_piece = size_t(blockIdx.x) * warps + warp;
    const auto start = [&](size_t piece, unsigned stage) {
        if (piece < pieces)
            start_copy(shared + stage * stage_vectors, parts.first_vector + piece * stage_vectors, stage_vectors * 16,
                       barriers + stage);
    };

    if (lane == 0) {
        for (unsigned stage = 0; stage < stages; ++stage)
            initialise(barriers + stage);
        for (unsigned stage = 0; stage < stages; ++stage)
            start(first_piece + stage * grid_warps, stage);
    }
    __syncwarp();

    Vector<Element> combined = identity_vector<Operation, Element>();
    unsigned stage = 0;
    unsigned parity = 0;
    for (size_t piece = first_piece; piece < pieces; piece += grid_warps) {
        wait_for_copy(barriers + stage, parity);
#pragma unroll
        for (unsigned number = 0; number < unroll; ++number)
            combine_vector<Operation>(combined, shared[stage * stage_vectors + number * 32 + lane]);
        __syncwarp(); // All have read it.
        if (lane == 0)
            start(piece + stages * grid_warps, stage);
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
    finish_by_last_block<Operation, block_size>(value, partials, arrivals, result);
}
