// An array read in vectors of 16 bytes, the most that a thread loads by one instruction, wherever the array begins.
//
// A vector load must be aligned to its size. So the elements before the array's first 16-byte boundary (its head) and
// those after its last whole vector (its tail), fewer than a vector each, are loaded one by one, in the same launch.
#pragma once

template <typename Element>
struct alignas(16) Vector {
    static constexpr unsigned elements = 16 / sizeof(Element);
    Element at[elements];
};

// How a vector comes from memory: by an ordinary load ...
struct OrdinaryLoad {
    template <typename Element>
    static __device__ Vector<Element> load(const Vector<Element> *address)
    {
        const uint4 bits = *reinterpret_cast<const uint4 *>(address);
        return reinterpret_cast<const Vector<Element> &>(bits);
    }
};

// ... or by one that says that nobody reads it again, so that the caches give it up first.
struct StreamingLoad {
    template <typename Element>
    static __device__ Vector<Element> load(const Vector<Element> *address)
    {
        const uint4 bits = __ldcs(reinterpret_cast<const uint4 *>(address));
        return reinterpret_cast<const Vector<Element> &>(bits);
    }
};

// The parts of an array. The tail follows the vectors.
template <typename Element>
struct ArrayParts {
    size_t head;
    const Vector<Element> *first_vector;
    size_t vectors;
    size_t tail;
};

template <typename Element>
__device__ ArrayParts<Element> array_parts(const Element *data, size_t count)
{
    const size_t before = (16 - size_t(data) % 16) % 16 / sizeof(Element);
    const size_t head = before < count ? before : count;
    const size_t vectors = (count - head) / Vector<Element>::elements;
    return {head, reinterpret_cast<const Vector<Element> *>(data + head), vectors,
            count - head - vectors * Vector<Element>::elements};
}

template <typename Operation, typename Element>
__device__ Vector<Element> identity_vector()
{
    Vector<Element> identity;
#pragma unroll
    for (unsigned element = 0; element < Vector<Element>::elements; ++element)
        identity.at[element] = Operation::template identity<Element>();
    return identity;
}

// Element by element, so that a vector's elements are chains of their own.
template <typename Operation, typename Element>
__device__ void combine_vector(Vector<Element> &combined, const Vector<Element> &other)
{
#pragma unroll
    for (unsigned element = 0; element < Vector<Element>::elements; ++element)
        combined.at[element] = Operation::combine(combined.at[element], other.at[element]);
}

template <typename Operation, typename Element>
__device__ Element combine_elements(const Vector<Element> &vector)
{
    Element combined = vector.at[0];
#pragma unroll
    for (unsigned element = 1; element < Vector<Element>::elements; ++element)
        combined = Operation::combine(combined, vector.at[element]);
    return combined;
}

// The head's and the tail's elements, one for each of the grid's first threads, combined with that thread's `value`.
template <typename Operation, typename Element>
__device__ Element combine_head_and_tail(Element value, const Element *data, const ArrayParts<Element> &parts)
{
    if (blockIdx.x != 0)
        return value;
    if (threadIdx.x < parts.head)
        value = Operation::combine(value, data[threadIdx.x]);
    const Element *tail = reinterpret_cast<const Element *>(parts.first_vector + parts.vectors);
    if (threadIdx.x < parts.tail)
        value = Operation::combine(value, tail[threadIdx.x]);
    return value;
}

// A grid-stride loop over an array's vectors, with `in_flight` of them loaded before the first of them is combined. A
// block's vectors of one round lie side by side: `in_flight` rows of blockDim.x. Right for every grid and every address
// of an element; blocks need 32 threads or more. The identity for a thread that has no element at all.
template <unsigned in_flight, typename Operation, typename Load = OrdinaryLoad, typename Element>
__device__ Element combine_vectors(const Element *data, size_t count)
{
    const ArrayParts<Element> parts = array_parts(data, count);
    const unsigned row = blockDim.x;
    const size_t round = size_t(gridDim.x) * row * in_flight;
    Vector<Element> combined = identity_vector<Operation, Element>();
    Vector<Element> loaded[in_flight];

    size_t vector = size_t(blockIdx.x) * row * in_flight + threadIdx.x;
    for (; vector + (in_flight - 1) * row < parts.vectors; vector += round) {
#pragma unroll
        for (unsigned number = 0; number < in_flight; ++number)
            loaded[number] = Load::load(parts.first_vector + vector + number * row);
#pragma unroll
        for (unsigned number = 0; number < in_flight; ++number)
            combine_vector<Operation>(combined, loaded[number]);
    }
    // What is left of a round that the array's end cuts short: all but the last row at most.
#pragma unroll
    for (unsigned number = 0; number + 1 < in_flight; ++number)
        loaded[number] = vector + number * row < parts.vectors
            ? Load::load(parts.first_vector + vector + number * row)
            : identity_vector<Operation, Element>();
#pragma unroll
    for (unsigned number = 0; number + 1 < in_flight; ++number)
        combine_vector<Operation>(combined, loaded[number]);
    return combine_head_and_tail<Operation>(combine_elements<Operation>(combined), data, parts);
}
