// Where an address lies: in a device buffer that the host registered, in shared memory, of the block or of another one
// of its cluster, in a variable of the program, in the kernels' heap, or in none of these.
//
// Buffers lie between red zones of memory that nothing else uses, so that an access past an end is seen, and hits
// nothing. An access farther away ends the launch, as one to memory that isn't there does. Shared memory is the
// library's thread-local storage: its `__shared__` arrays, then the dynamic one, which is as long as the launch says and
// has the largest possible one's memory.
#pragma once

#include "../stacks.hpp"

#include <link.h>
#include <stdlib.h>
#include <string.h>

// Defined by the linking step, as all arrays of this form: its address is where dynamic shared memory begins.
extern thread_local unsigned char emulator_dynamic_shared[];

namespace emulator {
struct Worker;
}

namespace emulator::counting {

constexpr size_t red_zone = 256 * 1024; // on each side of a buffer
constexpr size_t word = 4;              // bytes: the unit of shadow memory, and of a bank
constexpr unsigned most_buffers = 256;
constexpr unsigned most_statics = 64; // variables in global memory, whose accesses are checked, and not counted
constexpr unsigned most_variables = 256;
constexpr unsigned heap_buffer = most_buffers + most_statics; // the kernels' heap
constexpr uint32_t heap_number = UINT32_MAX;

enum Space : unsigned char { global_memory, shared_memory };

struct Cell; // the remembered accesses to a word, in races.hpp

// The cells of a memory's words.
struct Shadow {
    Cell *cells;
    Cell *further; // where a word needs more than its own; null while none does
    size_t words;
    bool is_plain; // no word is other than most
    unsigned char most; // the bytes that are initialised of a word whose cell says nothing else: all, or 0
};

struct Buffer {
    uintptr_t start;
    size_t size;
    Shadow shadow;
    uint32_t number; // among all that were ever registered
};

struct Variable { // of shared memory
    size_t offset;
    size_t size;
};

struct Place {
    Space space;
    unsigned buffer;  // index; in shared memory of another block of the cluster its rank plus one, else 0
    ptrdiff_t offset; // from the buffer's start, or the start of shared memory
    bool inside;
};

// One of several blocks that take turns: its worker, its contents of shared memory, and what is remembered of these.
struct Resident {
    Worker *worker;
    unsigned char *shared;
    Shadow shadow;
    struct KeptOrder *order; // of its accesses, where it has waited in a loop
    bool has_ended;
    bool waits; // at the barrier of all
    bool is_visited;    // by another block, since it last waited for all
    const char *mapped; // where another one has last asked for its memory: file
    int mapped_line;
};

struct Spaces {
    Buffer buffers[most_buffers + most_statics + 1];
    unsigned buffer_count;
    unsigned static_count;
    uint32_t registered;
    unsigned last; // buffer that was hit

    uintptr_t library; // where it is loaded
    size_t library_size;
    uintptr_t code; // of its functions
    size_t code_place; // from the library's start
    size_t code_size;
    uintptr_t shared;
    size_t shared_size; // of static arrays and the largest dynamic one
    Shadow own_shadow;     // of shared memory
    Shadow *shared_shadow; // of the running block
    Variable variables[most_variables]; // of the launched kernel; the dynamic array is the last
    unsigned variable_count;
    size_t guards[most_variables]; // offsets of g++'s marks that an array's elements have been constructed
    unsigned guard_count;

    Resident *cluster; // the blocks of the running one
    unsigned cluster_blocks;
};

inline Spaces spaces;

constexpr size_t heap_size = 8 * 1024 * 1024; // CUDA's default
constexpr size_t granule = 16;
constexpr uint32_t granules = heap_size / granule;

// What malloc has given.
struct Allocation {
    uint32_t size;
    uint32_t granules; // one more than it needs
    uint32_t site;     // of the call
    uint32_t freed_by; // this thread plus one; 0: not freed
    uint32_t freed_run;
    uint32_t freed_site;
};

struct Heap {
    unsigned char before[red_zone];
    unsigned char memory[heap_size];
    unsigned char behind[red_zone];
    uint32_t owners[granules];        // by granule: the first one of its last allocation, plus one
    Allocation allocations[granules]; // by their first granule
    uint32_t next;                    // where to look for room
};

inline Heap *heap; // null before the first call

// What was last allocated at a granule, or null.
EMULATOR_UNCOUNTED inline Allocation *allocation_at(uint32_t at)
{
    const uint32_t owner = at < granules ? heap->owners[at] : 0;
    Allocation *const there = &heap->allocations[owner - 1];
    return owner != 0 && at - (owner - 1) < there->granules ? there : nullptr;
}

EMULATOR_UNCOUNTED inline ptrdiff_t start_of(const Allocation *allocation)
{
    return (allocation - heap->allocations) * ptrdiff_t(granule);
}

// The allocation at an offset in the heap, or the nearer one of its neighbours, up to a granule away; null if there is none.
EMULATOR_UNCOUNTED inline const Allocation *allocation_near(ptrdiff_t offset)
{
    const ptrdiff_t end = ptrdiff_t(granule);
    const Allocation *const there = offset < 0 ? nullptr : allocation_at(uint32_t(offset / end));
    const Allocation *const next = offset < -end ? nullptr : allocation_at(uint32_t((offset + end) / end));
    if (next == nullptr || next == there || (there != nullptr && offset - start_of(there) - there->size < end / 2))
        return there;
    return next;
}

EMULATOR_UNCOUNTED inline int find_library(dl_phdr_info *information, size_t, void *)
{
    const uintptr_t own = reinterpret_cast<uintptr_t>(&spaces);
    bool is_own = false;
    size_t thread_local_size = 0, size = 0, code_size = 0;
    uintptr_t code = 0;
    for (unsigned i = 0; i < information->dlpi_phnum; ++i) {
        const auto &segment = information->dlpi_phdr[i];
        const uintptr_t start = information->dlpi_addr + segment.p_vaddr;
        is_own = is_own || (segment.p_type == PT_LOAD && own - start < segment.p_memsz);
        if (segment.p_type == PT_LOAD)
            size = segment.p_vaddr + segment.p_memsz;
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
            code = start;
            code_size = segment.p_memsz;
        }
        if (segment.p_type == PT_TLS)
            thread_local_size = segment.p_memsz;
    }
    if (!is_own)
        return 0;
    spaces.library = information->dlpi_addr;
    spaces.library_size = size;
    spaces.code = code;
    spaces.code_place = code - information->dlpi_addr;
    spaces.code_size = code_size;
    spaces.shared = reinterpret_cast<uintptr_t>(information->dlpi_tls_data);
    spaces.shared_size = thread_local_size;
    return 1;
}

// Finds this thread's shared memory, before a launch.
EMULATOR_UNCOUNTED inline void find_shared_memory(size_t shared_bytes)
{
    unsigned char *dynamic = emulator_dynamic_shared; // The storage is there once it has been touched.
    asm volatile("" : "+r"(dynamic) : : "memory");
    dl_iterate_phdr(find_library, nullptr);
    if (spaces.variable_count == most_variables)
        --spaces.variable_count;
    spaces.variables[spaces.variable_count] = {reinterpret_cast<uintptr_t>(dynamic) - spaces.shared, shared_bytes};
}

// Whether an offset in shared memory is in a guard. A `__shared__` array of a type with constructors, such as half2, has
// one: to g++ it is a variable that the first thread constructs. On a GPU there is none.
EMULATOR_UNCOUNTED_INLINE bool is_guard(size_t offset)
{
    for (unsigned i = 0; i < spaces.guard_count; ++i)
        if (offset - spaces.guards[i] < sizeof(uint64_t))
            return true;
    return false;
}

EMULATOR_UNCOUNTED_INLINE bool is_in_variable(size_t offset, size_t size)
{
    for (unsigned i = 0; i <= spaces.variable_count; ++i)
        if (offset >= spaces.variables[i].offset &&
            offset + size <= spaces.variables[i].offset + spaces.variables[i].size)
            return true;
    return false;
}

// The place of an access, or false for one to neither device buffers nor shared memory nor a variable.
EMULATOR_UNCOUNTED_INLINE bool find_place(uintptr_t address, size_t size, Place &place)
{
    for (unsigned tried = 0, index = spaces.last; tried < spaces.buffer_count; ++tried, ++index) {
        if (index >= spaces.buffer_count)
            index = 0;
        const Buffer &buffer = spaces.buffers[index];
        if (address - (buffer.start - red_zone) >= buffer.size + 2 * red_zone)
            continue;
        spaces.last = index;
        const ptrdiff_t offset = ptrdiff_t(address - buffer.start);
        place = {global_memory, index, offset, offset >= 0 && size_t(offset) + size <= buffer.size};
        return true;
    }
    const size_t offset = address - spaces.shared;
    if (offset < spaces.shared_size && !is_guard(offset)) {
        place = {shared_memory, 0, ptrdiff_t(offset), is_in_variable(offset, size)};
        return true;
    }
    for (unsigned rank = 0; rank < spaces.cluster_blocks; ++rank) {
        const size_t there = address - reinterpret_cast<uintptr_t>(spaces.cluster[rank].shared);
        if (there >= spaces.shared_size)
            continue;
        spaces.cluster[rank].is_visited = true;
        place = {shared_memory, rank + 1, ptrdiff_t(there), is_in_variable(there, size)};
        return true;
    }
    for (unsigned index = most_buffers; index < most_buffers + spaces.static_count; ++index) {
        const size_t there = address - spaces.buffers[index].start;
        if (there >= spaces.buffers[index].size)
            continue;
        place = {global_memory, index, ptrdiff_t(there), there + size <= spaces.buffers[index].size};
        return true;
    }
    const ptrdiff_t in_heap = heap == nullptr ? -1 : ptrdiff_t(address - uintptr_t(heap->memory));
    if (in_heap < -ptrdiff_t(red_zone) || in_heap >= ptrdiff_t(heap_size + red_zone) || heap == nullptr)
        return false;
    const Allocation *const there = allocation_near(in_heap);
    const bool is_live = there != nullptr && there->freed_by == 0;
    place = {global_memory, heap_buffer, in_heap,
             is_live && in_heap >= start_of(there) && in_heap + size <= start_of(there) + there->size};
    return true;
}

EMULATOR_UNCOUNTED inline bool is_in_code(uintptr_t address)
{
    return address - spaces.code < spaces.code_size;
}

// From the library's start.
EMULATOR_UNCOUNTED inline size_t place_in_code(uintptr_t address) { return address - spaces.code + spaces.code_place; }

// Whether an address is that of a variable of the library: in constant memory, a static one, or the emulator's own.
EMULATOR_UNCOUNTED_INLINE bool is_in_library(uintptr_t address)
{
    return address - spaces.library < spaces.library_size || is_guard(address - spaces.shared);
}

} // namespace emulator::counting
