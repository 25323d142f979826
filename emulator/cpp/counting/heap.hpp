// The heap of kernels, of which malloc and new give memory that stays until free or delete, also in a later launch.
//
// It is one more buffer. Each allocation is followed by a granule that belongs to nothing, and the search for room goes on
// where the last one has ended, so that memory stays unused as long as possible after it has been freed.
#pragma once

#include "races.hpp"

namespace emulator::counting {

// An access outside of all allocations: of one that was freed, or of one near it; as an access of what is there now.
EMULATOR_COLD inline void report_outside(const Place &place, const Access &now)
{
    const Allocation *const near = place.buffer == heap_buffer ? allocation_near(place.offset) : nullptr;
    if (near == nullptr || near->freed_by == 0)
        return report(out_of_bounds, place, now, now);
    report(out_of_bounds, place, now, {near->freed_run, 0, near->freed_by - 1, near->freed_site, 0}, freed);
}

EMULATOR_COLD inline bool make_heap()
{
    void *const memory = mmap(nullptr, sizeof(Heap), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    heap = static_cast<Heap *>(memory);
    spaces.buffers[heap_buffer] = {uintptr_t(heap->memory), heap_size, make_shadow(heap_size), heap_number};
    return spaces.buffers[heap_buffer].shadow.cells != nullptr;
}

EMULATOR_COLD inline void forget_heap()
{
    if (heap == nullptr)
        return;
    release_shadow(spaces.buffers[heap_buffer].shadow);
    munmap(heap, sizeof(Heap));
    heap = nullptr;
}

// Memory of the heap, at a multiple of 16; null if there is no room.
EMULATOR_COLD inline void *allocate(size_t size, const void *caller)
{
    if ((heap == nullptr && !make_heap()) || size > heap_size)
        return nullptr;
    check_pending();
    const uint32_t wanted = uint32_t((size + granule - 1) / granule + 1);
    uint32_t at = heap->next, room = 0;
    for (uint32_t looked = 0; room != wanted; ++looked) {
        if (looked >= granules + wanted)
            return nullptr;
        if (at == granules)
            at = room = 0;
        const Allocation *const there = allocation_at(at);
        const bool is_free = there == nullptr || there->freed_by != 0;
        room = is_free ? room + 1 : 0;
        at = is_free ? at + 1 : uint32_t(there - heap->allocations) + there->granules;
    }
    heap->next = at;
    const uint32_t first = at - wanted;
    heap->allocations[first] = {uint32_t(size), wanted, find_site(uintptr_t(caller), 0, global_memory, load), 0, 0, 0};
    for (uint32_t each = first; each < at; ++each)
        heap->owners[each] = first + 1;
    Cell *const cells = spaces.buffers[heap_buffer].shadow.cells + first * (granule / word);
    for (size_t each = 0; each < wanted * (granule / word); ++each)
        cells[each] = {};
    unsigned char *const memory = heap->memory + first * granule;
    for (size_t byte = 0; doubts.are_settled && byte < size; ++byte)
        memory[byte] = doubts.filling;
    return memory;
}

// Takes memory back. What others do with it, and nothing orders, races with that.
EMULATOR_COLD inline void release(Worker &worker, const void *memory, const void *caller)
{
    const uint32_t thread = worker.current->index;
    const uintptr_t offset = heap == nullptr ? heap_size : uintptr_t(memory) - uintptr_t(heap->memory);
    const uint32_t site = find_site(uintptr_t(caller), 0, global_memory, store);
    Allocation *const there = offset < heap_size ? allocation_at(uint32_t(offset / granule)) : nullptr;
    if (there == nullptr || offset != size_t(there - heap->allocations) * granule || site == no_site) {
        worker.fault_place = uintptr_t(caller);
        fail(worker, Failure::illegal_access, "%s frees what malloc or new has not given, or not as the beginning of it",
             ThreadName(worker, *worker.current).text);
    }
    check_pending();
    Place place = {global_memory, heap_buffer, ptrdiff_t(offset), false};
    Access now = {requests.run, ordering.moment, thread, site, all_bytes};
    if (state.check_races && there->freed_by != 0)
        report_outside(place, now);
    for (; state.check_races && there->freed_by == 0 && size_t(place.offset) < offset + there->size; place.offset += word)
        check_cells(spaces.buffers[heap_buffer].shadow, size_t(place.offset) / word, place, now, store);
    there->freed_run = requests.run;
    there->freed_site = site;
    there->freed_by = thread + 1;
}

} // namespace emulator::counting
