// Tensor maps, and the bulk copies of libcu++ that use them: tiles of an array of one to five dimensions, with zeros
// outside of it. What they compute: CUDA C++ Programming Guide, "Using TMA to transfer multi-dimensional arrays".
#pragma once

#include "barriers.hpp"

// The host fills it; a GPU's has as many bytes.
struct alignas(64) CUtensorMap {
    unsigned char *array;
    uint32_t element, rank; // bytes of an element, number of dimensions
    uint64_t sides[5];      // the array's elements, the innermost dimension first
    uint32_t box[5];        // the tile's
    uint32_t swizzle;       // bytes of a row in which the tile's parts of 16 bytes change places, or 0
};
static_assert(sizeof(CUtensorMap) == 128, "as the host has it");

namespace emulator {

constexpr unsigned bulk_bytes = 16; // each bulk copy is a multiple of them

// The phase of a barrier that runs waits for fewer or more bytes.
EMULATOR_APART void expect_bytes(Phases &phases, ptrdiff_t bytes, const void *caller, Site site)
{
    observe_word(&phases, "a barrier", false, caller, site);
    phases.bytes += int32_t(bytes);
    end_phase(phases, site);
}

EMULATOR_APART void copy_bulk(void *target, const void *source, size_t size, Phases *phases, const void *caller, Site site)
{
    if (size % bulk_bytes != 0 || !are_multiples(target, source, bulk_bytes))
        fail_copy(site, "has a size or an address that is no multiple of 16 bytes");
    for (size_t byte = 0; byte < size; byte += bulk_bytes)
        counting::start_copy(static_cast<char *>(target) + byte, static_cast<const char *>(source) + byte, bulk_bytes,
                             0, caller, phases == nullptr ? 0 : phases->flag(phases->over), true);
    if (phases != nullptr)
        expect_bytes(*phases, -ptrdiff_t(size), caller, site);
}

// Where a swizzled tile has what is at an address of one that is not. Rows of 32, 64 or 128 bytes have 2, 4 or 8 parts; in
// the n-th row of 128 bytes of shared memory, part k is at the place k ^ n.
EMULATOR_APART unsigned char *swizzled(unsigned char *address, uint32_t row)
{
    const uintptr_t parts = row < 2 * bulk_bytes ? 1 : row / bulk_bytes;
    return reinterpret_cast<unsigned char *>(uintptr_t(address) ^ (uintptr_t(address) / 128 % parts) * bulk_bytes);
}

// Copies a tile, whose first element is at `corner`, to shared memory where a barrier is given, else from there.
template <unsigned rank>
EMULATOR_UNCOUNTED void copy_tile(const CUtensorMap &map, const int (&corner)[rank], void *tile, Phases *phases,
                                  const void *caller, Site site)
{
    if (map.rank != rank)
        fail_copy(site, "has another number of dimensions than its tensor map");
    if (!counting::is_shared(tile) || uintptr_t(tile) % 128 != 0)
        fail_copy(site, "has a tile that is not in shared memory at a multiple of 128 bytes");
    size_t count = 1;
    for (unsigned side = 0; side < rank; ++side)
        count *= map.box[side];
    // The element's address in the array; null outside of it.
    const auto address_of = [&](size_t element) EMULATOR_UNCOUNTED {
        size_t offset = 0, stride = 1;
        for (unsigned side = 0; side < rank; ++side) {
            const int64_t at = corner[side] + int64_t(element % map.box[side]);
            if (at < 0 || at >= int64_t(map.sides[side]))
                return static_cast<unsigned char *>(nullptr);
            element /= map.box[side];
            offset += size_t(at) * stride;
            stride *= map.sides[side];
        }
        return map.array + offset * map.element;
    };
    const unsigned together = bulk_bytes / map.element;
    for (size_t first = 0; first < count; first += together) {
        const bool is_whole = (address_of(first) == nullptr) == (address_of(first + together - 1) == nullptr) &&
                              (address_of(first) != nullptr || map.sides[0] >= together);
        const unsigned step = is_whole ? together : 1, size = step * map.element;
        for (size_t element = first; element < first + together; element += step) {
            unsigned char *const outside = address_of(element);
            unsigned char *const inside = swizzled(static_cast<unsigned char *>(tile) + element * map.element, map.swizzle);
            if (phases != nullptr)
                counting::start_copy(inside, outside, size, outside == nullptr ? size : 0, caller,
                                     phases->flag(phases->over), true);
            else if (outside != nullptr)
                counting::start_copy(outside, inside, size, 0, caller, 0, true);
        }
    }
    if (phases != nullptr)
        expect_bytes(*phases, -ptrdiff_t(count * map.element), caller, site);
}

} // namespace emulator

namespace cuda::device {

using block_barrier = barrier<thread_scope_block>;

EMULATOR_APART void barrier_expect_tx(block_barrier &self, ptrdiff_t bytes, EMULATOR_SITE)
{
    ::emulator::expect_bytes(self.phases_, bytes, __builtin_return_address(0), site);
}

EMULATOR_APART block_barrier::arrival_token barrier_arrive_tx(block_barrier &self, ptrdiff_t count,
                                                                     ptrdiff_t bytes, EMULATOR_SITE)
{
    const void *const caller = __builtin_return_address(0);
    ::emulator::expect_bytes(self.phases_, bytes, caller, site);
    return ::emulator::arrive(self.phases_, size_t(count), 0, caller, site);
}

template <typename Element, size_t alignment>
EMULATOR_APART void memcpy_async_tx(Element *target, const Element *source, aligned_size_t<alignment> bytes,
                                    block_barrier &landing, EMULATOR_SITE)
{
    ::emulator::copy_bulk(target, source, bytes, &landing.phases_, __builtin_return_address(0), site);
}

namespace experimental {

EMULATOR_APART void cp_async_bulk_global_to_shared(void *target, const void *source, uint32_t bytes,
                                                          block_barrier &landing, EMULATOR_SITE)
{
    ::emulator::copy_bulk(target, source, bytes, &landing.phases_, __builtin_return_address(0), site);
}

EMULATOR_APART void cp_async_bulk_shared_to_global(void *target, const void *source, uint32_t bytes, EMULATOR_SITE)
{
    ::emulator::copy_bulk(target, source, bytes, nullptr, __builtin_return_address(0), site);
}

#define EMULATOR_LIST(...) __VA_ARGS__
#define EMULATOR_TENSOR(rank, coordinates, corner)                                                                     \
    EMULATOR_APART void cp_async_bulk_tensor_##rank##d_global_to_shared(                                               \
        void *tile, const CUtensorMap *map, EMULATOR_LIST coordinates, block_barrier &landing, EMULATOR_SITE)          \
    {                                                                                                                  \
        ::emulator::copy_tile<rank>(*map, {EMULATOR_LIST corner}, tile, &landing.phases_,                              \
                                    __builtin_return_address(0), site);                                                \
    }                                                                                                                  \
    EMULATOR_APART void cp_async_bulk_tensor_##rank##d_shared_to_global(                                               \
        const CUtensorMap *map, EMULATOR_LIST coordinates, const void *tile, EMULATOR_SITE)                            \
    {                                                                                                                  \
        ::emulator::copy_tile<rank>(*map, {EMULATOR_LIST corner}, const_cast<void *>(tile), nullptr,                   \
                                    __builtin_return_address(0), site);                                                \
    }
EMULATOR_TENSOR(1, (int a), (a))
EMULATOR_TENSOR(2, (int a, int b), (a, b))
EMULATOR_TENSOR(3, (int a, int b, int c), (a, b, c))
EMULATOR_TENSOR(4, (int a, int b, int c, int d), (a, b, c, d))
EMULATOR_TENSOR(5, (int a, int b, int c, int d, int e), (a, b, c, d, e))
#undef EMULATOR_TENSOR
#undef EMULATOR_LIST

EMULATOR_APART void fence_proxy_async_shared_cta() { ::emulator::counting::observe_proxy_fence(true, false); }

EMULATOR_APART void cp_async_bulk_commit_group() { ::emulator::counting::commit_copies(true); }

template <int groups>
EMULATOR_APART void cp_async_bulk_wait_group_read()
{
    ::emulator::counting::wait_for_copies(groups, true);
}

} // namespace experimental
} // namespace cuda::device
