// Work counter: as `atomic_sum`, but a block takes its next piece of the array from a counter that all blocks share,
// instead of every gridDim.x-th: who reads faster reads more. One piece is `unroll` vectors for each of its threads.
//
// The hardware does the same for blocks of one piece each (`counted_sum` in a grid as large as the array), but then each
// piece ends with atomic operations on the sum. Here each costs one on the counter, whose answer comes while the piece
// before it is read.

#include "atomic_sums.cuh"
#include "block.cuh"
#include "operations.cuh"
#include "vectors.cuh"

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    work_counter(const Element *data, Element *, RunningSum<Element> *arrivals, Element *result, size_t array_size)
{
    constexpr unsigned piece_vectors = block_size * unroll;
    // By turns, so that one barrier a piece is enough.
    __shared__ unsigned taken[2];
    unsigned *const counter = reinterpret_cast<unsigned *>(arrivals) + 4; // Behind a running sum of any type.
    const ArrayParts<Element> parts = array_parts(data, array_size);
    Vector<Element> combined = identity_vector<Operation, Element>();
    Vector<Element> loaded[unroll];

    unsigned turn = 0;
    for (size_t first = size_t(blockIdx.x) * piece_vectors; first < parts.vectors; turn ^= 1) {
        unsigned next = 0;
        if (threadIdx.x == 0)
            next = atomicAdd(counter, 1u);
#pragma unroll
        for (unsigned number = 0; number < unroll; ++number) {
            const size_t vector = first + number * block_size + threadIdx.x;
            loaded[number] = vector < parts.vectors ? OrdinaryLoad::load(parts.first_vector + vector)
                                                    : identity_vector<Operation, Element>();
        }
#pragma unroll
        for (unsigned number = 0; number < unroll; ++number)
            combine_vector<Operation>(combined, loaded[number]);
        if (threadIdx.x == 0)
            taken[turn] = next;
        __syncthreads();
        first = (gridDim.x + size_t(taken[turn])) * piece_vectors;
    }

    Element value = combine_head_and_tail<Operation>(combine_elements<Operation>(combined), data, parts);
    value = reduce_block<Operation, block_size>(value);
    if (threadIdx.x == 0 && finish_by_atomic_sum(value, arrivals, result))
        *counter = 0;
}
