// CUDA's nvcuda::wmma: matrices of a warp, each element in one of its lanes.
#pragma once

#include "../matrices.hpp"
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda::wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
} // namespace precision

// What a fragment keeps of a type, and what is multiplied.
template <typename Element> struct kept { using stored = Element; using multiplied = Element; };
template <> struct kept<precision::tf32> { using stored = float; using multiplied = ::emulator::Tf32; };

template <typename Use, int m, int n, int k, typename Element, typename Order = void>
class fragment {
    static constexpr bool is_tf32 = std::is_same_v<Element, precision::tf32>;
    static_assert((is_tf32 ? m == 16 && n == 16 && k == 8 : k == 16 && m * n == 256) || std::is_same_v<Use, accumulator>,
                  "a wmma::fragment of such sides" EMULATOR_NOT_SUPPLIED);

public:
    static constexpr unsigned rows = std::is_same_v<Use, matrix_b> ? k : m;
    static constexpr unsigned columns = std::is_same_v<Use, matrix_a> ? k : n;
    static constexpr int num_elements = rows * columns / 32;
    using element_type = typename kept<Element>::stored;
    using storage_element_type = element_type;
    element_type x[num_elements];
};

inline constexpr ::emulator::WarpOperation load_operation{"load_matrix_sync", ::emulator::only_wait};
inline constexpr ::emulator::WarpOperation store_operation{"store_matrix_sync", ::emulator::only_wait};

// Copies the lane's elements from memory, or to it; each is one access.
template <typename Fragment, bool is_store>
EMULATOR_APART void copy_elements(Fragment &fragment, const void *start, unsigned stride, bool by_columns, const void *caller,
                                  ::emulator::Site site)
{
    using Element = typename Fragment::element_type;
    ::emulator::Worker &worker = ::emulator::this_worker();
    // The guide asks for 32 bytes, but a step along rows of bytes has 16. The PTX ISA asks for a fragment's size.
    constexpr unsigned aligned = sizeof(Element) == 1 ? sizeof fragment.x : 32;
    if (uintptr_t(start) % aligned != 0 || stride * sizeof(Element) % 16 != 0)
        ::emulator::fail_misaligned(worker, "a matrix, whose rows take a multiple of 16 bytes,", aligned, site);
    for (int at = 0; at < Fragment::num_elements; ++at) {
        const ::emulator::Place place = ::emulator::InOrder::of_c<Fragment::rows, Fragment::columns>(
            worker.current->index % ::emulator::lanes_of_a_warp, unsigned(at));
        const size_t index = by_columns ? size_t(place.column) * stride + place.row : size_t(place.row) * stride + place.column;
        const Element *const element = static_cast<const Element *>(start) + index;
        ::emulator::counting::observe_word(element, sizeof(Element), is_store, caller);
        if constexpr (is_store)
            const_cast<Element &>(*element) = ::emulator::with_bits_of<Element>(fragment.x[at]);
        else
            fragment.x[at] = ::emulator::with_bits_of<typename Fragment::storage_element_type>(*element);
    }
}

template <typename Use, int m, int n, int k, typename Element, typename Order>
EMULATOR_APART void load_matrix_sync(fragment<Use, m, n, k, Element, Order> &to,
                                     const typename kept<Element>::stored *from, unsigned stride, EMULATOR_SITE)
{
    ::emulator::with_whole_warp<load_operation>(0, site);
    const bool by_columns = std::is_same_v<Order, col_major>;
    copy_elements<fragment<Use, m, n, k, Element, Order>, false>(to, from, stride, by_columns, __builtin_return_address(0), site);
}
template <int m, int n, int k, typename Element>
EMULATOR_APART void load_matrix_sync(fragment<accumulator, m, n, k, Element> &to, const Element *from, unsigned stride,
                                     layout_t layout, EMULATOR_SITE)
{
    ::emulator::with_whole_warp<load_operation>(0, site);
    copy_elements<fragment<accumulator, m, n, k, Element>, false>(to, from, stride, layout == mem_col_major,
                                                                  __builtin_return_address(0), site);
}
template <int m, int n, int k, typename Element>
EMULATOR_APART void store_matrix_sync(Element *to, const fragment<accumulator, m, n, k, Element> &from, unsigned stride,
                                      layout_t layout, EMULATOR_SITE)
{
    ::emulator::with_whole_warp<store_operation>(0, site);
    copy_elements<const fragment<accumulator, m, n, k, Element>, true>(from, to, stride, layout == mem_col_major,
                                                                       __builtin_return_address(0), site);
}

template <typename Fragment, typename Value>
void fill_fragment(Fragment &fragment, const Value &value)
{
    for (auto &element : fragment.x)
        element = typename Fragment::element_type(value);
}

template <int m, int n, int k, typename A, typename OrderA, typename B, typename OrderB, typename Result, typename C>
EMULATOR_APART void mma_sync(fragment<accumulator, m, n, k, Result> &result, const fragment<matrix_a, m, n, k, A, OrderA> &a,
                             const fragment<matrix_b, m, n, k, B, OrderB> &b, const fragment<accumulator, m, n, k, C> &c,
                             bool = false, EMULATOR_SITE)
{
    const ::emulator::Multiplied given = {a.x, b.x, c.x, result.x};
    ::emulator::with_whole_warp<::emulator::multiplication<::emulator::InOrder, typename kept<A>::multiplied,
                                                           typename kept<B>::multiplied, C, Result, m, n, k>>(
        uint64_t(&given), site);
}

// To nearest, ties away from zero, as cvt.rna.tf32.f32.
inline float __float_to_tf32(float value)
{
    const uint32_t bits = ::emulator::with_bits_of<uint32_t>(value);
    const bool is_finite = (bits >> 23 & 0xff) != 0xff;
    return ::emulator::with_bits_of<float>((is_finite ? bits + 0x1000 : bits) & ~0x1fffu);
}

} // namespace nvcuda::wmma
