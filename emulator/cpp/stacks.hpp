// One region of address space for the worker: the worker itself at its start, then the stack for its signal handlers,
// then the stacks of the threads of a block, with a guard below each.
//
// The region is aligned to its size, so any code that runs on one of its stacks finds its worker by masking the stack
// pointer. That takes no thread-local storage, and so leaves the library's thread-local storage to the kernels'
// __shared__ arrays, which may be large: a library with any variable of the initial-exec model has all of them placed
// in the few hundred bytes that the C library keeps for such libraries.
#pragma once

#include "coroutines.hpp"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

namespace emulator {

constexpr unsigned most_threads = 1024; // of a block, as in CUDA

constexpr unsigned lanes_of_a_warp = 32;

// A set of a warp's lanes: a bit for each.
using Lanes = uint32_t;
constexpr Lanes all_lanes = ~Lanes(0);

EMULATOR_UNCOUNTED_INLINE constexpr Lanes only_lane(unsigned lane) { return Lanes(1) << lane; }
EMULATOR_UNCOUNTED_INLINE constexpr unsigned first_of(Lanes lanes) { return unsigned(__builtin_ctz(lanes)); }
EMULATOR_UNCOUNTED_INLINE constexpr unsigned count_of(Lanes lanes) { return unsigned(__builtin_popcount(lanes)); }

constexpr size_t region_size = size_t(1) << 30;
constexpr size_t most_local_bytes = 512 * 1024; // of a thread, as in CUDA
constexpr size_t stack_size = most_local_bytes + 64 * 1024; // which has more than a GPU's local memory
constexpr size_t signal_stack_size = 64 * 1024;

// The threads' stacks begin at different cache lines of their pages. Beginning at the same one, the stacks of a block
// would compete for the same few sets of the cache.
constexpr size_t cache_line = 64;
constexpr unsigned stack_colours = 64;

inline size_t page_size() { return size_t(sysconf(_SC_PAGESIZE)); }

inline size_t whole_pages(size_t size) { return (size + page_size() - 1) / page_size() * page_size(); }

struct StackLayout {
    size_t guard;  // below each stack, no access
    size_t usable; // the stack, and what its colour takes
    size_t first;  // offset of the first guard in the region

    size_t stride() const { return guard + usable; }
};

inline StackLayout stack_layout(size_t worker_size)
{
    // A guard of 8 KiB makes the stride an odd number of 4 KiB pages, which spreads the stacks over the cache's sets.
    const size_t usable = whole_pages(stack_size + stack_colours * cache_line);
    return {whole_pages(8 * 1024), usable, whole_pages(worker_size) + whole_pages(signal_stack_size)};
}

// Address space for one worker, readable and writable in its first `open` bytes; null where there is none left.
inline unsigned char *map_region(size_t open)
{
    void *reserved = mmap(nullptr, 2 * region_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED)
        return nullptr;
    unsigned char *start = static_cast<unsigned char *>(reserved);
    const size_t before = (region_size - uintptr_t(start) % region_size) % region_size;
    if (before != 0)
        munmap(start, before);
    munmap(start + before + region_size, region_size - before);
    unsigned char *region = start + before;
    if (mprotect(region, open, PROT_READ | PROT_WRITE) != 0) {
        munmap(region, region_size);
        return nullptr;
    }
    return region;
}

} // namespace emulator
