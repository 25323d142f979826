// Mailboxes: as `last_block`, but a block hands over its partial in one word that also says that it is there, and the
// block that began last empties the others' boxes as they fill, in order of their index.
//
// One trip to memory and back where the fence, the count and reading the partials made three. Whoever began last waits
// for blocks that are running, never for one that could not begin before it ends. For elements of 32 bits.

#include "block.cuh"
#include "operations.cuh"
#include "vectors.cuh"

// A box is empty while it is 0.
using Mailbox = unsigned long long;

template <typename Element>
__device__ void post(Mailbox *box, Element value)
{
    atomicExch(box, Mailbox(1) << 32 | reinterpret_cast<const unsigned &>(value));
}

// Waits for the box to be filled, and leaves it empty for the next launch.
template <typename Element>
__device__ Element take_when_there(Mailbox *box)
{
    Mailbox mail = 0;
    while (mail == 0)
        mail = atomicExch(box, 0ull);
    const unsigned bits = unsigned(mail);
    return reinterpret_cast<const Element &>(bits);
}

template <typename Element, typename Operation, unsigned block_size, unsigned unroll>
__global__ void __launch_bounds__(block_size)
    mailboxes(const Element *data, Element *, unsigned *arrivals, Element *result, size_t array_size)
{
    __shared__ bool began_last;
    __shared__ Element own_result;
    Mailbox *const boxes = reinterpret_cast<Mailbox *>(arrivals) + 2;
    unsigned began_before = 0;
    if (threadIdx.x == 0)
        began_before = atomicInc(arrivals, gridDim.x - 1); // Its answer comes while the array is read.

    Element value = combine_vectors<unroll, Operation>(data, array_size);
    value = reduce_block<Operation, block_size>(value);
    if (threadIdx.x == 0) {
        began_last = began_before == gridDim.x - 1;
        own_result = value;
        if (!began_last)
            post(boxes + blockIdx.x, value);
    }
    __syncthreads();
    if (!began_last)
        return;
    value = Operation::template identity<Element>();
    for (unsigned block = threadIdx.x; block < gridDim.x; block += block_size)
        value = Operation::combine(value, block == blockIdx.x ? own_result : take_when_there<Element>(boxes + block));
    value = reduce_block<Operation, block_size>(value);
    if (threadIdx.x == 0)
        *result = value;
}
