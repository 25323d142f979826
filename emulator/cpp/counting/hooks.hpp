// The hooks that a kernel compiled with -fsanitize=thread calls before each of its accesses, what it calls where an
// address or an index is wrong, and what the library exports. The sanitizer's own library is not linked.
//
//     int emulator_watch(void *start, size_t size)
//         Registers a device buffer, uninitialised. Returns its index; -1 where there are too many, or no memory.
//     int emulator_watch_static(void *start, size_t size)
//         The same for a variable of the program, which is initialised.
//     void emulator_unwatch(void *start)
//     void emulator_set_initialised(void *start, size_t offset, size_t size, int initialised)
//     int emulator_set_shared(const size_t *offsets, const size_t *sizes, unsigned count)
//         The __shared__ arrays of the kernel that is launched next, as places in the thread-local storage.
//     void emulator_start_counting(int check_races, int filling)
//         Discards all counts and findings so far. Initialised memory is tracked only while mistakes are looked for,
//         so buffers are filled after this. With a byte for `filling`, and not -1, each block finds shared memory full
//         of it, and races of two writes tell whether they stored different values.
//     int emulator_reads_what_it_left(void *start, const unsigned char *initial)
//         Whether a variable that began with these bytes has one that was read before it was written, and changed.
//     size_t emulator_touched(void *start)
//         The bytes of a buffer up to the end of the last word that a launch has accessed.
//     unsigned emulator_sites(Site *sites, unsigned capacity)
//     unsigned emulator_findings(Finding *findings, unsigned capacity)
//     void emulator_synchronisations(uint64_t counts[4])
//         Barriers and __syncwarp by each warp, other warp-level operations, and the warps that ran.
//     int emulator_trace(unsigned block, unsigned warp, unsigned capacity)
//     unsigned emulator_traced(Traced *entries)
//     unsigned emulator_steps(Step *entries)
//         The first `most_steps` atomic functions since the launch of a kernel that had run before, or since
//         emulator_start_counting(), in schedules other than 0.
#pragma once

#include "../block.hpp"
#include "heap.hpp"
#include "spins.hpp"

namespace emulator::counting {

// An atomic function that has run; its place in the code from the library's start.
struct Step {
    uint64_t address;
    uint64_t place;
    uint32_t block, thread;
};

constexpr unsigned most_steps = 1u << 16;

struct Steps {
    Step of[most_steps];
    unsigned count;
    const char *kernel; // of the first launch
};

inline Steps steps;

// A kernel that runs again begins a run of its own.
EMULATOR_UNCOUNTED void begin_steps(const char *kernel)
{
    if (kernel == steps.kernel)
        steps.count = 0;
    if (steps.count == 0)
        steps.kernel = kernel;
}

// A lane has made many accesses in a row: the others of its warp catch up.
EMULATOR_COLD inline void pause_lane(Worker &worker, unsigned lane)
{
    requests.paused |= only_lane(lane);
    let_others_run(worker, worker.current);
}

// Before an atomic function, others may have theirs.
EMULATOR_COLD inline void order_atomic(Worker &worker, uintptr_t address, size_t size, const void *caller)
{
    if (schedule.gives_way()) {
        note_spin(worker, address, size, turn, caller);
        pause_lane(worker, worker.current->index % lanes_of_a_warp);
    }
    if (steps.count < most_steps)
        steps.of[steps.count++] = {address, uintptr_t(caller) - spaces.library, requests.block, worker.current->index};
}

__attribute__((noreturn)) EMULATOR_COLD inline void fail_for_memory()
{
    pending_checks.count = 0;
    fail(*state.worker, Failure::other, "no memory to check accesses to parts of words, and atomic functions");
}

// One function for all hooks, or it would be compiled 20 times.
__attribute__((noinline)) EMULATOR_UNCOUNTED inline void count_access(Worker *worker, uintptr_t address, size_t size,
                                                                      Operation operation, const void *caller)
{
    Place place;
    if (!find_place(address, size, place)) {
        if (spaces.buffer_count > 0 && !is_in_library(address)) { // Else the host has named no buffers.
            worker->fault_place = uintptr_t(caller);
            fail(*worker, Failure::illegal_access, "illegal memory access by %s, %s",
                 ThreadName(*worker, *worker->current).text,
                 address < red_zone ? "through a null pointer" : "far from every array of the kernel");
        }
        if (__builtin_expect(++spins.unseen[worker->current->index] >= unseen_length, 0)) {
            spins.unseen[worker->current->index] = 0;
            if (note_spin(*worker, address, size, unseen_length, caller))
                pause_lane(*worker, worker->current->index % lanes_of_a_warp);
        }
        return;
    }
    const bool is_counted = place.space == shared_memory || place.buffer < most_buffers || place.buffer == heap_buffer;
    if (!is_counted && !state.check_races)
        return;
    const unsigned site = find_site(reinterpret_cast<uintptr_t>(caller), size, place.space, operation);
    if (site == no_site)
        fail(*worker, Failure::other,
                 "the kernel accesses memory in more than %u places, of which no more can be counted", most_sites);
    const unsigned thread = worker->current->index;
    const unsigned lane = thread % lanes_of_a_warp;
    if (doubts.are_settled)
        settle_doubts();
    // Before the access is seen, because it is made right after.
    if (requests.round[lane] >= round_length) {
        requests.round[lane] = 0;
        note_spin(*worker, address, size, round_length, caller);
        pause_lane(*worker, lane);
    }
    if (operation >= atomic && schedule.number != 0)
        order_atomic(*worker, address, size, caller);
    ++requests.round[lane];
    if (is_counted)
        join_request(site, lane, address, ordering.moment);
    if (!state.check_races)
        return;
    check_access(place, site, thread);
    if (doubts.are_settled)
        check_pending();
    if (operation >= atomic)
        pass_atomic(address, thread, place.space == global_memory && !is_of_block(operation));
    if (!doubts.are_settled)
        return;
    requests.sites[site].is_of_range |= doubts.is_range;
    if (operation == load && requests.sites[site].is_doubted && place.inside && !doubts.is_range)
        doubt_read(address, site, thread);
}

EMULATOR_UNCOUNTED_INLINE void observe(const void *pointer, size_t size, Operation operation, const void *caller)
{
    Worker *const worker = state.worker;
    const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
    // Most accesses are to the stack, or to the emulator's own variables.
    if (worker != nullptr && address - reinterpret_cast<uintptr_t>(worker) >= region_size)
        count_access(worker, address, size, operation, caller);
}

// More than what one instruction moves: a structure, or what memcpy, memmove and memset are asked for.
EMULATOR_UNCOUNTED inline void observe_range(const void *pointer, size_t size, Operation operation, const void *caller)
{
    doubts.is_range = true;
    for (size_t done = 0; done < size; done += largest_access) {
        const size_t left = size - done;
        const void *const next = static_cast<const char *>(pointer) + done;
        observe(next, left < largest_access ? left : largest_access, operation, caller);
    }
    doubts.is_range = false;
}

EMULATOR_UNCOUNTED void observe_atomic(const void *address, size_t size, bool is_of_block, const void *caller, bool is_store)
{
    const Operation of_block = is_store ? atomic_store_of_block : atomic_of_block;
    observe(address, size, is_of_block ? of_block : is_store ? atomic_store : atomic, caller);
}

EMULATOR_UNCOUNTED void observe_word(const void *address, size_t size, bool is_store, const void *caller)
{
    (size > largest_access ? observe_range : observe)(address, size, is_store ? store : load, caller);
}

EMULATOR_UNCOUNTED void observe_fence(bool is_of_device)
{
    if (state.worker == nullptr || !state.check_races)
        return;
    const unsigned thread = state.worker->current->index;
    if (ordering.touched[thread] != 0) // It learns of what others have released.
        check_pending();
    pass_fence(thread, is_of_device);
}

EMULATOR_UNCOUNTED void observe_launch_wait()
{
    if (state.worker == nullptr || !state.check_races || !launches.is_dependent)
        return;
    check_pending(); // what comes before the wait
    pass_wait(state.worker->current->index);
}

EMULATOR_UNCOUNTED void observe_launch_trigger()
{
    if (state.worker != nullptr && state.check_races)
        pass_trigger(state.worker->current->index);
}

} // namespace emulator::counting

#include "copies.hpp"

namespace emulator::counting {

EMULATOR_UNCOUNTED inline int watch(uintptr_t start, size_t size)
{
    const Shadow shadow = spaces.buffer_count < most_buffers ? make_shadow(size) : Shadow();
    if (shadow.cells == nullptr)
        return -1;
    spaces.buffers[spaces.buffer_count++] = {start, size, shadow, spaces.registered};
    return int(spaces.registered++);
}

EMULATOR_UNCOUNTED inline int watch_static(uintptr_t start, size_t size)
{
    const Shadow shadow = spaces.static_count < most_statics ? make_shadow(size) : Shadow();
    if (shadow.cells == nullptr)
        return -1;
    spaces.buffers[most_buffers + spaces.static_count++] = {start, size, shadow, spaces.registered};
    return int(spaces.registered++);
}

EMULATOR_UNCOUNTED inline void unwatch(uintptr_t start)
{
    for (unsigned i = 0; i < spaces.buffer_count; ++i)
        if (spaces.buffers[i].start == start) {
            release_shadow(spaces.buffers[i].shadow);
            spaces.buffers[i] = spaces.buffers[--spaces.buffer_count];
            return;
        }
}

EMULATOR_UNCOUNTED inline void set_initialised(uintptr_t start, size_t offset, size_t size, bool initialised)
{
    if (!state.check_races)
        return; // and leave the cells' memory untouched
    Buffer *buffer = spaces.buffers;
    while (buffer < spaces.buffers + spaces.buffer_count && buffer->start != start)
        ++buffer;
    if (buffer == spaces.buffers + spaces.buffer_count)
        return;
    Shadow &shadow = buffer->shadow;
    if (shadow.is_plain && offset == 0 && size >= buffer->size) { // There are eight times as many bytes of cells.
        shadow.most = initialised ? all_bytes : 0;
        return;
    }
    shadow.is_plain = false;
    const unsigned char of_whole = (initialised ? all_bytes : 0) ^ shadow.most;
    for (size_t byte = offset, end = offset + size; byte < end;) {
        for (; byte % word == 0 && byte + word <= end; byte += word)
            shadow.cells[byte / word].initialised = of_whole;
        for (; byte < end && (byte % word != 0 || byte + word > end); ++byte) {
            unsigned char &known = shadow.cells[byte / word].initialised;
            const unsigned bit = 1u << byte % word;
            known = static_cast<unsigned char>((known & ~bit) | (of_whole & bit));
        }
    }
}

// Whether launches have changed a byte of a variable that they had read before they wrote it; true for one that isn't
// watched.
EMULATOR_UNCOUNTED inline bool reads_what_it_left(uintptr_t start, const unsigned char *initial)
{
    for (unsigned i = most_buffers; i < most_buffers + spaces.static_count; ++i) {
        const Buffer &variable = spaces.buffers[i];
        if (variable.start != start)
            continue;
        const unsigned char *const now = reinterpret_cast<const unsigned char *>(start);
        for (size_t byte = 0; byte < variable.size; ++byte)
            if (now[byte] != initial[byte] &&
                (variable.shadow.cells[byte / word].initialised >> (word + byte % word) & 1) != 0)
                return true;
        return false;
    }
    return true;
}

EMULATOR_UNCOUNTED inline size_t touched(uintptr_t start)
{
    for (unsigned i = 0; i < spaces.buffer_count; ++i) {
        const Buffer &buffer = spaces.buffers[i];
        size_t words = buffer.start == start ? (buffer.size + word - 1) / word : 0;
        const auto is_touched = [](const Cell &cell) {
            return (cell.runs[0] | cell.runs[1] | cell.runs[2]) != 0 || cell.parts != 0;
        };
        while (words != 0 && !is_touched(buffer.shadow.cells[words - 1]))
            --words;
        if (buffer.start == start)
            return words * word < buffer.size ? words * word : buffer.size;
    }
    return 0;
}

EMULATOR_UNCOUNTED inline void start_counting(bool check_races, int filling)
{
    state.check_races = check_races;
    for (unsigned i = most_buffers; check_races && i < most_buffers + spaces.static_count; ++i) {
        Buffer &variable = spaces.buffers[i];
        if (const Shadow fresh = make_shadow(variable.size); fresh.cells != nullptr) {
            release_shadow(variable.shadow);
            variable.shadow = fresh;
        }
    }
    doubts.are_settled = filling >= 0;
    doubts.filling = static_cast<unsigned char>(filling);
    doubts.count = 0;
    doubts.read = nullptr;
    doubts.last_read = nullptr;
    for (unsigned i = 0; i < requests.site_count; ++i) {
        requests.sites[i].tally = {};
        requests.sites[i].is_doubted &= doubts.are_settled;
    }
    findings.count = steps.count = 0;
    forget_launches();
    forget_heap();
    ordering.warps_run = ordering.barriers = ordering.warp_synchronisations = ordering.warp_exchanges = 0;
}

EMULATOR_UNCOUNTED inline bool start_trace(unsigned block, unsigned warp, unsigned capacity)
{
    free(requests.trace.entries);
    Traced *const entries = static_cast<Traced *>(calloc(capacity + 1, sizeof(Traced)));
    requests.trace = {entries, entries != nullptr ? capacity : 0, 0, block, warp};
    return entries != nullptr;
}

} // namespace emulator::counting

#define EMULATOR_HOOK extern "C" __attribute__((noinline, used, EMULATOR_UNWATCHED))

#define EMULATOR_ACCESS(name, size, operation)                                                                         \
    EMULATOR_HOOK void name(void *address)                                                                             \
    {                                                                                                                  \
        emulator::counting::observe(address, size, emulator::counting::operation, __builtin_return_address(0));        \
    }
EMULATOR_ACCESS(__tsan_read1, 1, load)
EMULATOR_ACCESS(__tsan_read2, 2, load)
EMULATOR_ACCESS(__tsan_read4, 4, load)
EMULATOR_ACCESS(__tsan_read8, 8, load)
EMULATOR_ACCESS(__tsan_read16, 16, load)
EMULATOR_ACCESS(__tsan_unaligned_read2, 2, load)
EMULATOR_ACCESS(__tsan_unaligned_read4, 4, load)
EMULATOR_ACCESS(__tsan_unaligned_read8, 8, load)
EMULATOR_ACCESS(__tsan_unaligned_read16, 16, load)
EMULATOR_ACCESS(__tsan_write1, 1, store)
EMULATOR_ACCESS(__tsan_write2, 2, store)
EMULATOR_ACCESS(__tsan_write4, 4, store)
EMULATOR_ACCESS(__tsan_write8, 8, store)
EMULATOR_ACCESS(__tsan_write16, 16, store)
EMULATOR_ACCESS(__tsan_unaligned_write2, 2, store)
EMULATOR_ACCESS(__tsan_unaligned_write4, 4, store)
EMULATOR_ACCESS(__tsan_unaligned_write8, 8, store)
EMULATOR_ACCESS(__tsan_unaligned_write16, 16, store)
#undef EMULATOR_ACCESS

EMULATOR_HOOK void __tsan_read_range(void *address, size_t size)
{
    emulator::counting::observe_range(address, size, emulator::counting::load, __builtin_return_address(0));
}
EMULATOR_HOOK void __tsan_write_range(void *address, size_t size)
{
    emulator::counting::observe_range(address, size, emulator::counting::store, __builtin_return_address(0));
}

// The sanitizer leaves these calls to its library. The linker names them so, and the C library's own __real_.
extern "C" void *__real_memcpy(void *target, const void *source, size_t size);
extern "C" void *__real_memmove(void *target, const void *source, size_t size);
extern "C" void *__real_memset(void *target, int value, size_t size);
#define EMULATOR_COPY(function)                                                                                        \
    EMULATOR_HOOK void *__wrap_##function(void *target, const void *source, size_t size)                               \
    {                                                                                                                  \
        emulator::counting::observe_range(source, size, emulator::counting::load, __builtin_return_address(0));        \
        emulator::counting::observe_range(target, size, emulator::counting::store, __builtin_return_address(0));       \
        return __real_##function(target, source, size);                                                                \
    }
EMULATOR_COPY(memcpy)
EMULATOR_COPY(memmove)
#undef EMULATOR_COPY
EMULATOR_HOOK void *__wrap_memset(void *target, int value, size_t size)
{
    emulator::counting::observe_range(target, size, emulator::counting::store, __builtin_return_address(0));
    return __real_memset(target, value, size);
}

// A kernel that allocates memory and gives it back: the linker names its calls so. The host's calls go to the system.
#define EMULATOR_ALLOCATION(function)                                                                                  \
    extern "C" void *__real_malloc(size_t size);                                                                       \
    EMULATOR_HOOK void *__wrap_##function(size_t size)                                                                 \
    {                                                                                                                  \
        using namespace emulator::counting;                                                                            \
        return state.worker == nullptr ? __real_malloc(size) : allocate(size, __builtin_return_address(0));            \
    }
EMULATOR_ALLOCATION(malloc)
EMULATOR_ALLOCATION(_Znwm)
EMULATOR_ALLOCATION(_Znam)
#undef EMULATOR_ALLOCATION
#define EMULATOR_RELEASE(function)                                                                                     \
    extern "C" void __real_free(void *memory);                                                                         \
    EMULATOR_HOOK void __wrap_##function(void *memory)                                                                 \
    {                                                                                                                  \
        using namespace emulator::counting;                                                                            \
        if (state.worker == nullptr)                                                                                   \
            __real_free(memory);                                                                                       \
        else if (memory != nullptr)                                                                                    \
            release(*state.worker, memory, __builtin_return_address(0));                                               \
    }
EMULATOR_RELEASE(free)
EMULATOR_RELEASE(_ZdlPv)
EMULATOR_RELEASE(_ZdaPv)
EMULATOR_RELEASE(_ZdlPvm) // with the size, which is not used
EMULATOR_RELEASE(_ZdaPvm)
#undef EMULATOR_RELEASE

// What -fsanitize=alignment and -fsanitize=bounds-strict call, with the records that g++ makes for its own library.
namespace emulator::counting {

struct CheckedPlace {
    const char *file;
    uint32_t line;
    uint32_t column;
};

struct CheckedType {
    uint16_t kind;
    uint16_t information;
    char name[1]; // in quotes
};

struct CheckedAccess {
    CheckedPlace place;
    const CheckedType *type;
    unsigned char alignment; // its logarithm
};

struct CheckedIndex {
    CheckedPlace place;
    const CheckedType *array;
    const CheckedType *index;
};

} // namespace emulator::counting

EMULATOR_HOOK void __ubsan_handle_type_mismatch_v1(const emulator::counting::CheckedAccess *access, const void *)
{
    using namespace emulator::counting;
    if (state.worker != nullptr)
        emulator::fail_misaligned(*state.worker, access->type->name, size_t(1) << access->alignment,
                                  {access->place.file, int(access->place.line), access->place.column});
}
EMULATOR_HOOK void __ubsan_handle_out_of_bounds(const emulator::counting::CheckedIndex *access, intptr_t index)
{
    emulator::Worker *const worker = emulator::counting::state.worker;
    if (worker != nullptr)
        emulator::fail(*worker, emulator::Failure::out_of_bounds,
                       "memory access out of bounds: %s uses index %td of an array of type %s at %s:%u",
                       emulator::ThreadName(*worker, *worker->current).text, ptrdiff_t(index),
                       access->array->name, access->place.file, access->place.line);
}
EMULATOR_HOOK void __tsan_init() {}
EMULATOR_HOOK void __tsan_func_entry(void *) {}
EMULATOR_HOOK void __tsan_func_exit() {}
EMULATOR_HOOK void __tsan_vptr_update(void **, void *) {}
EMULATOR_HOOK void __tsan_vptr_read(void **) {}
#undef EMULATOR_HOOK

EMULATOR_EXPORTED int emulator_watch(void *start, size_t size)
{
    return emulator::counting::watch(uintptr_t(start), size);
}
EMULATOR_EXPORTED int emulator_watch_static(void *start, size_t size)
{
    return emulator::counting::watch_static(uintptr_t(start), size);
}
EMULATOR_EXPORTED void emulator_unwatch(void *start) { emulator::counting::unwatch(uintptr_t(start)); }
EMULATOR_EXPORTED void emulator_set_initialised(void *start, size_t offset, size_t size, int initialised)
{
    emulator::counting::set_initialised(uintptr_t(start), offset, size, initialised != 0);
}
EMULATOR_EXPORTED int emulator_set_shared(const size_t *offsets, const size_t *sizes, unsigned count,
                                          const size_t *guards, unsigned guard_count)
{
    if (count >= emulator::counting::most_variables || guard_count > emulator::counting::most_variables)
        return -1;
    for (unsigned i = 0; i < guard_count; ++i)
        emulator::counting::spaces.guards[i] = guards[i];
    emulator::counting::spaces.guard_count = guard_count;
    for (unsigned i = 0; i < count; ++i)
        emulator::counting::spaces.variables[i] = {offsets[i], sizes[i]};
    emulator::counting::spaces.variable_count = count;
    return 0;
}
EMULATOR_EXPORTED void emulator_start_counting(int check_races, int filling)
{
    emulator::counting::start_counting(check_races != 0, filling);
}
EMULATOR_EXPORTED int emulator_reads_what_it_left(void *start, const unsigned char *initial)
{
    return emulator::counting::reads_what_it_left(uintptr_t(start), initial);
}
EMULATOR_EXPORTED size_t emulator_touched(void *start)
{
    return emulator::counting::touched(uintptr_t(start));
}
EMULATOR_EXPORTED unsigned emulator_sites(emulator::counting::Site *sites, unsigned capacity)
{
    const unsigned count = emulator::counting::requests.site_count;
    for (unsigned i = 0; i < count && i < capacity; ++i) {
        sites[i] = emulator::counting::requests.sites[i];
        sites[i].address -= emulator::counting::spaces.library;
    }
    return count;
}
EMULATOR_EXPORTED unsigned emulator_findings(emulator::counting::Finding *found, unsigned capacity)
{
    const unsigned count = emulator::counting::findings.count;
    memcpy(found, emulator::counting::findings.findings, (count < capacity ? count : capacity) * sizeof *found);
    return count;
}
EMULATOR_EXPORTED void emulator_synchronisations(uint64_t counts[4])
{
    counts[0] = emulator::counting::ordering.barriers;
    counts[1] = emulator::counting::ordering.warp_synchronisations;
    counts[2] = emulator::counting::ordering.warp_exchanges;
    counts[3] = emulator::counting::ordering.warps_run;
}
EMULATOR_EXPORTED int emulator_trace(unsigned block, unsigned warp, unsigned capacity)
{
    return emulator::counting::start_trace(block, warp, capacity) ? 0 : -1;
}
EMULATOR_EXPORTED unsigned emulator_traced(emulator::counting::Traced *entries)
{
    const emulator::counting::Trace &trace = emulator::counting::requests.trace;
    memcpy(entries, trace.entries, trace.count * sizeof *entries);
    return trace.count;
}
EMULATOR_EXPORTED unsigned emulator_steps(emulator::counting::Step *entries)
{
    memcpy(entries, emulator::counting::steps.of, emulator::counting::steps.count * sizeof *entries);
    return emulator::counting::steps.count;
}
