// Products of small matrices by a warp, as tensor cores compute them: nvcuda::wmma of <mma.h>, and PTX's mma.sync and ldmatrix.
//
// Products of elements are exact. Their sum with the accumulator is computed in double, and rounded once to the result's
// type; a tensor core's order and roundings are not documented. Of a tf32 number the lower 13 bits are left out.
#pragma once

#include "small_floats.hpp"

namespace emulator {

struct Tf32 {
    float value;
};

inline double number_of(Tf32 element) { return with_bits_of<float>(with_bits_of<uint32_t>(element.value) & ~0x1fffu); }
template <typename Element> double number_of(Element element) { return double(element); }
template <typename Element>
Element element_of(double number)
{
    if constexpr (std::is_same_v<Element, int>)
        return int(uint32_t(int64_t(number))); // wraps
    else
        return Element(number);
}

struct Place {
    unsigned row, column;
};

// Where the elements of a wmma fragment lie, of which CUDA says nothing: each lane has as many, in order.
struct InOrder {
    template <unsigned rows, unsigned columns>
    static Place of_c(unsigned lane, unsigned at)
    {
        const unsigned index = lane * (rows * columns / lanes_of_a_warp) + at;
        return {index / columns, index % columns};
    }
    template <unsigned m, unsigned k, unsigned> static Place of_a(unsigned lane, unsigned at) { return of_c<m, k>(lane, at); }
    template <unsigned k, unsigned n, unsigned> static Place of_b(unsigned lane, unsigned at) { return of_c<k, n>(lane, at); }
};

// Where they lie in the registers of mma.sync with 16 x 8 results: PTX ISA, "Matrix Fragments for mma.m16n8k...".
struct InRegisters {
    template <unsigned, unsigned, unsigned size>
    static Place of_a(unsigned lane, unsigned at)
    {
        constexpr unsigned per = 4 / size; // elements of a register
        const unsigned number = at / per;
        return {lane / 4 + number % 2 * 8, (lane % 4 + number / 2 * 4) * per + at % per};
    }
    template <unsigned, unsigned, unsigned size>
    static Place of_b(unsigned lane, unsigned at)
    {
        constexpr unsigned per = 4 / size;
        return {(lane % 4 + at / per * 4) * per + at % per, lane / 4};
    }
    template <unsigned, unsigned>
    static Place of_c(unsigned lane, unsigned at)
    {
        return {lane / 4 + at / 2 * 8, lane % 4 * 2 + at % 2};
    }
};

// What the lanes bring: their parts of the matrices, and where the result goes.
struct Multiplied {
    const void *a, *b, *c;
    void *result;
};

// A of m x k times B of k x n plus C. `Layout` says where each lane's elements lie.
template <typename Layout, typename A, typename B, typename C, typename Result, unsigned m, unsigned n, unsigned k>
void multiply_matrices(Thread *warp, Lanes)
{
    double a[m][k], b[k][n], c[m][n];
    const auto each = [&](unsigned size, auto use) {
        for (unsigned lane = 0; lane < lanes_of_a_warp; ++lane)
            for (unsigned at = 0; at < size / lanes_of_a_warp; ++at)
                use(*reinterpret_cast<const Multiplied *>(warp[lane].value), lane, at);
    };
    each(m * k, [&](const Multiplied &of, unsigned lane, unsigned at) {
        const Place place = Layout::template of_a<m, k, sizeof(A)>(lane, at);
        a[place.row][place.column] = number_of(static_cast<const A *>(of.a)[at]);
    });
    each(k * n, [&](const Multiplied &of, unsigned lane, unsigned at) {
        const Place place = Layout::template of_b<k, n, sizeof(B)>(lane, at);
        b[place.row][place.column] = number_of(static_cast<const B *>(of.b)[at]);
    });
    each(m * n, [&](const Multiplied &of, unsigned lane, unsigned at) {
        const Place place = Layout::template of_c<m, n>(lane, at);
        c[place.row][place.column] = number_of(static_cast<const C *>(of.c)[at]);
    });
    each(m * n, [&](const Multiplied &of, unsigned lane, unsigned at) {
        const Place place = Layout::template of_c<m, n>(lane, at);
        double sum = c[place.row][place.column];
        for (unsigned inner = 0; inner < k; ++inner)
            sum += a[place.row][inner] * b[inner][place.column];
        static_cast<Result *>(of.result)[at] = element_of<Result>(sum);
    });
}

// An operation of all lanes of a warp, none of which may have ended.
template <const WarpOperation &operation>
EMULATOR_APART void with_whole_warp(uint64_t value, Site site)
{
    Worker &worker = this_worker();
    if (worker.live_lanes_of(worker.current->index / lanes_of_a_warp) != all_lanes)
        fail(worker, Failure::barrier, "%s calls %s at %s:%d, which takes all 32 threads of a warp",
             ThreadName(worker, *worker.current).text, operation.name, site.file, site.line);
    exchange_in_warp(operation, all_lanes, value, 0, site);
}

template <typename Layout, typename A, typename B, typename C, typename Result, unsigned m, unsigned n, unsigned k>
inline constexpr WarpOperation multiplication{"mma", multiply_matrices<Layout, A, B, C, Result, m, n, k>};

} // namespace emulator
