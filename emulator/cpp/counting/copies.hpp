// Asynchronous copies to shared memory (cp.async): a thread starts them, commits what it has started as a group, and
// waits for groups.
//
// Data land at the wait, in order before what the thread does next; other threads need a barrier after that. Until then
// the hardware may read the source and write the target at any moment. So any access to the target is a race, by any
// thread, and so is a write to the source. The target's words carry a mark, which every access checks. Whether the source
// was written is seen at the wait: its last write is no longer the one that it was at the start.
//
// Bulk copies, also of tensor maps, have groups of their own. They go by another way than a thread's accesses, the
// asynchronous proxy: what a thread has written in this launch is there once a fence for it has come between, in the thread
// that has written, or in another one before the copy. Fences are for shared or for global memory. Where another block has
// written, or blocks take turns, any such fence in the launch is enough. So must the barrier of a copy be there.
//
// Those that are bound to a barrier's phase land when it is over, as of the moment in which their thread has bound them.
#pragma once

#include "on_events.hpp"

namespace emulator::counting {

constexpr uint32_t no_copy = 0; // Copies are numbered from 1.
constexpr unsigned words_of_a_copy = largest_access / word + 1;

struct Copy {
    unsigned char *target;
    const unsigned char *source;
    uint32_t size;
    uint32_t from_source; // bytes; the others are zeros
    uint32_t group;
    uint32_t next; // of its thread, or of those bound to phases
    uint32_t thread;
    uint32_t moment;
    uintptr_t flag; // of a phase
    uint32_t target_site;
    uint32_t source_site;
    bool is_bulk;
    Access writes[words_of_a_copy]; // the source's, at the start
};

// What a thread has on its way, in order.
struct Queue {
    uint32_t first;
    uint32_t last;
    uint32_t committed; // groups
};

// A thread's last fence for the asynchronous proxy, and what came before it by the barriers of its block and its warp.
struct ProxyFence {
    uint32_t moment; // 0: none
    uint32_t block_ordered;
    uint32_t warp_ordered;
};

struct Copies {
    Copy *all;
    uint32_t count;
    uint32_t capacity;
    uint32_t landed; // a list of those whose place is free
    uint32_t bound;  // a list of those that are bound to phases
    bool are_used; // by the block
    Queue queues[2][most_threads]; // of bulk copies: the second ones
    bool are_of_bulk[most_sites];  // places in the code
    ProxyFence fences[2][most_threads]; // for shared memory, for global memory
    bool has_fences;
};

inline Copies copies;

EMULATOR_UNCOUNTED inline void forget_copies(unsigned threads)
{
    for (unsigned thread = 0; copies.are_used && thread < threads; ++thread)
        copies.queues[false][thread] = copies.queues[true][thread] = {};
    for (unsigned thread = 0; copies.has_fences && thread < threads; ++thread)
        copies.fences[false][thread] = copies.fences[true][thread] = {};
    copies.has_fences = false;
    copies.count = 0;
    copies.landed = copies.bound = no_copy;
    copies.are_used = false;
}

EMULATOR_UNCOUNTED bool has_copies() { return copies.are_used; }

EMULATOR_UNCOUNTED inline uint32_t new_copy(Worker &worker)
{
    const uint32_t landed = copies.landed;
    if (landed != no_copy) {
        copies.landed = copies.all[landed].next;
        return landed;
    }
    if (++copies.count >= copies.capacity) {
        const uint32_t capacity = 2 * copies.capacity + 1024;
        void *const grown = realloc(copies.all, capacity * sizeof(Copy));
        if (grown == nullptr)
            fail(worker, Failure::other, "no memory for %u asynchronous copies", capacity);
        copies.all = static_cast<Copy *>(grown);
        copies.capacity = capacity;
    }
    return copies.count;
}

EMULATOR_UNCOUNTED inline Copy made_copy(void *target, const void *source, size_t size, size_t zeros)
{
    return {static_cast<unsigned char *>(target), static_cast<const unsigned char *>(source), uint32_t(size),
            uint32_t(size - zeros), 0, no_copy, 0, 0, 0, 0, 0, false, {}};
}

// Calls `visit(shadow, index, bytes, place, number)` for each word of `size` bytes, which lie at `place`.
template <typename Visit>
EMULATOR_UNCOUNTED_INLINE void for_each_word(Place place, size_t size, Visit visit)
{
    Shadow &shadow = shadow_of(place.space, place.buffer);
    unsigned number = 0;
    for (size_t byte = size_t(place.offset), end = byte + size; byte < end; ++number) {
        const size_t first = byte % word;
        const size_t bytes = word - first < end - byte ? word - first : end - byte;
        place.offset = ptrdiff_t(byte);
        visit(shadow, byte / word, ((1u << bytes) - 1) << first, place, number);
        byte += bytes;
    }
}

// The place of an address inside an array; false for one that is in none, and whose words have no cells.
EMULATOR_UNCOUNTED inline bool find_inside(const void *pointer, size_t size, Place &place)
{
    return size > 0 && find_place(uintptr_t(pointer), size, place) && place.inside;
}

// Whether a fence for the asynchronous proxy has come between a thread's write and a bulk copy by another.
EMULATOR_UNCOUNTED inline bool has_proxy_fence(const Access &write, unsigned thread, bool is_global)
{
    if (write.run != requests.run || ordering.in_turns)
        return ordering.proxy_fences[is_global];
    if (copies.fences[is_global][write.thread].moment >= write.moment)
        return true;
    const auto is_behind = [&](unsigned other) EMULATOR_UNCOUNTED {
        const ProxyFence &fence = copies.fences[is_global][other];
        const bool is_in_warp = other / lanes_of_a_warp == write.thread / lanes_of_a_warp;
        return fence.moment >= write.moment &&
               (write.moment <= fence.block_ordered || (is_in_warp && write.moment <= fence.warp_ordered) ||
                ordering.has_learned);
    };
    for (unsigned other = 0; other < ordering.threads; ++other)
        if (is_behind(other))
            return true;
    return is_behind(thread);
}

// A bulk copy reads a word, or one of its barrier's, whose last write is known.
EMULATOR_UNCOUNTED inline void check_proxy(const Place &place, const Access &read, const Access &write,
                                           Mistake mistake = race)
{
    const bool is_global = place.space == global_memory;
    const bool is_of_launch = write.run == requests.run || (is_global && write.run >= ordering.first_run);
    if (is_of_launch && !copies.are_of_bulk[write.site] && (write.bytes & read.bytes) != 0 &&
        !has_proxy_fence(write, read.thread, is_global))
        report(mistake, place, read, write, across_proxies);
}

EMULATOR_UNCOUNTED void observe_proxy_fence(bool of_shared, bool of_global)
{
    if (state.worker == nullptr || !state.check_races)
        return;
    const unsigned thread = state.worker->current->index;
    const ProxyFence fence = {advance(), ordering.block_ordered, ordering.warps[thread / lanes_of_a_warp].ordered};
    if (of_shared)
        copies.fences[false][thread] = fence;
    if (of_global)
        copies.fences[true][thread] = fence;
    ordering.proxy_fences[false] |= of_shared;
    ordering.proxy_fences[true] |= of_global;
    copies.has_fences = true;
}

// Marks the target's words, and keeps who has written the source.
EMULATOR_UNCOUNTED inline void watch_copy(Copy &copy, uintptr_t caller)
{
    check_pending();
    Place place;
    if (find_inside(copy.target, copy.size, place)) {
        copy.target_site = find_site(caller, copy.size, place.space, store);
        copies.are_of_bulk[copy.target_site] = copy.is_bulk;
        for_each_word(place, copy.size,
                      [](Shadow &shadow, size_t index, uint32_t bytes, const Place &, unsigned) EMULATOR_UNCOUNTED {
                          shadow.cells[index].in_flight |= bytes & all_bytes;
                      });
        const uintptr_t barrier = copy.flag / sizeof(Phases) * sizeof(Phases);
        if (copy.is_bulk && barrier != 0 && find_inside(reinterpret_cast<void *>(barrier), word, place))
            check_proxy(place, {requests.run, ordering.moment, copy.thread, copy.target_site, all_bytes},
                        shadow_of(place.space, place.buffer).cells[size_t(place.offset) / word].get(last_write),
                        unfenced_barrier);
    }
    if (find_inside(copy.source, copy.from_source, place)) {
        copy.source_site = find_site(caller, copy.from_source, place.space, load);
        for_each_word(place, copy.from_source,
                      [&](Shadow &shadow, size_t index, uint32_t bytes, const Place &word_place,
                          unsigned number) EMULATOR_UNCOUNTED {
                          const Access write = copy.writes[number] = shadow.cells[index].get(last_write);
                          if (copy.is_bulk)
                              check_proxy(word_place, {requests.run, ordering.moment, copy.thread, copy.source_site, bytes},
                                          write);
                      });
    }
}

// The copy's data are there: its accesses are of this moment.
EMULATOR_UNCOUNTED inline void settle_target(const Copy &copy, uint32_t moment)
{
    const unsigned thread = copy.thread;
    Place place;
    if (find_inside(copy.target, copy.size, place))
        for_each_word(place, copy.size,
                      [&](Shadow &shadow, size_t index, uint32_t bytes, const Place &, unsigned) EMULATOR_UNCOUNTED {
                          const Access now = {requests.run, moment, thread, copy.target_site, bytes};
                          Cell &of_word = shadow.cells[index];
                          const auto set = [](Cell &cell, const Access &own, unsigned) EMULATOR_UNCOUNTED {
                              cell.has_earlier = false;
                              cell.set(last_write, own);
                          };
                          if (!is_whole(of_word, now))
                              visit_parts(shadow, index, now, set);
                          set(of_word, now, 0);
                          of_word.in_flight &= ~bytes & all_bytes;
                      });
}

// The copy has read its source, if nothing has written there since its start.
EMULATOR_UNCOUNTED inline void settle_source(const Copy &copy, uint32_t moment)
{
    const unsigned thread = copy.thread;
    Place place;
    if (find_inside(copy.source, copy.from_source, place))
        for_each_word(place, copy.from_source,
                      [&](Shadow &shadow, size_t index, uint32_t bytes, const Place &where,
                          unsigned number) EMULATOR_UNCOUNTED {
                          const Access now = {requests.run, moment, thread, copy.source_site, bytes};
                          const Access write = shadow.cells[index].get(last_write), before = copy.writes[number];
                          const bool is_same = write.run == before.run && write.moment == before.moment &&
                                               write.thread == before.thread && write.site == before.site;
                          if (!is_same && (write.bytes & bytes) != 0)
                              report(race, where, now, write, in_flight);
                          if (is_whole(shadow.cells[index], now))
                              remember(shadow.cells[index], now, thread, where.space);
                          else
                              visit_parts(shadow, index, now,
                                          [&](Cell &cell, const Access &own, unsigned) EMULATOR_UNCOUNTED {
                                              remember(cell, own, thread, where.space);
                                          });
                      });
}

EMULATOR_UNCOUNTED bool is_shared(const void *address)
{
    return uintptr_t(address) - spaces.shared < spaces.shared_size;
}

EMULATOR_UNCOUNTED uint32_t shared_offset(const void *address) { return uint32_t(uintptr_t(address) - spaces.shared); }

EMULATOR_UNCOUNTED void *shared_pointer(uint32_t offset) { return reinterpret_cast<void *>(spaces.shared + offset); }

EMULATOR_UNCOUNTED bool copies_asynchronously(const void *target, const void *source)
{
    return is_shared(target) && !is_shared(source) && uintptr_t(source) - uintptr_t(state.worker) >= region_size;
}

EMULATOR_UNCOUNTED inline void observe_copy(const Copy &copy, const void *caller)
{
    doubts.is_range = true; // The value is not in memory when the next access is seen.
    if (copy.from_source > 0)
        observe(copy.source, copy.from_source, load, caller);
    observe(copy.target, copy.size, store, caller);
    doubts.is_range = false;
}

EMULATOR_UNCOUNTED inline void move_data(const Copy &copy)
{
    settle_doubts();
    for (uint32_t byte = 0; byte < copy.size; ++byte)
        copy.target[byte] = byte < copy.from_source ? copy.source[byte] : 0;
}

EMULATOR_UNCOUNTED void copy_at_once(void *target, const void *source, size_t size, const void *caller)
{
    const Copy copy = made_copy(target, source, size, 0);
    observe_copy(copy, caller);
    move_data(copy);
}

EMULATOR_UNCOUNTED void start_copy(void *target, const void *source, size_t size, size_t zeros, const void *caller,
                                   uintptr_t flag, bool is_bulk)
{
    Worker &worker = *state.worker;
    Queue &queue = copies.queues[is_bulk][worker.current->index];
    Copy started = made_copy(target, source, size, zeros);
    observe_copy(started, caller);
    started.group = queue.committed;
    started.thread = worker.current->index;
    started.flag = flag;
    started.is_bulk = is_bulk;
    copies.are_used = true;
    const uint32_t index = new_copy(worker);
    Copy &copy = copies.all[index];
    copy = started;
    if (state.check_races)
        watch_copy(copy, uintptr_t(caller));
    if (flag != 0) {
        copy.moment = state.check_races ? pass_phase(flag, copy.thread) : 0;
        copy.next = copies.bound;
        copies.bound = index;
        return;
    }
    (queue.first == no_copy ? queue.first : copies.all[queue.last].next) = index;
    queue.last = index;
}

EMULATOR_UNCOUNTED void commit_copies(bool are_bulk)
{
    ++copies.queues[are_bulk][state.worker->current->index].committed;
    copies.are_used = true;
}

EMULATOR_UNCOUNTED inline void land(Copy &copy, uint32_t index, uint32_t moment)
{
    move_data(copy);
    if (state.check_races) {
        settle_target(copy, moment);
        settle_source(copy, moment);
    }
    copy.next = copies.landed;
    copies.landed = index;
}

EMULATOR_UNCOUNTED void wait_for_copies(size_t groups_on_their_way, bool are_bulk)
{
    const unsigned thread = state.worker->current->index;
    Queue &queue = copies.queues[are_bulk][thread];
    if (queue.first != no_copy && state.check_races)
        check_pending();
    while (queue.first != no_copy) {
        const uint32_t index = queue.first;
        Copy &copy = copies.all[index];
        if (copy.group + groups_on_their_way >= queue.committed)
            break;
        queue.first = copy.next;
        land(copy, index, ordering.moment);
    }
}

// The block has ended, and nobody has waited for these.
EMULATOR_UNCOUNTED void check_copies_left()
{
    if (!copies.are_used || !state.check_races)
        return;
    for (const auto &queues : copies.queues)
        for (const Queue &queue : queues)
            for (uint32_t index = queue.first; index != no_copy; index = copies.all[index].next)
                settle_source(copies.all[index], ordering.moment);
}

EMULATOR_UNCOUNTED void land_copies(uintptr_t flag)
{
    check_pending();
    for (uint32_t *link = &copies.bound; *link != no_copy;) {
        const uint32_t index = *link;
        Copy &copy = copies.all[index];
        if (copy.flag != flag) {
            link = &copy.next;
            continue;
        }
        *link = copy.next;
        land(copy, index, copy.moment);
    }
}

EMULATOR_UNCOUNTED void release_at_phase(uintptr_t flag)
{
    if (state.check_races)
        pass_phase(flag, state.worker->current->index);
}

EMULATOR_UNCOUNTED void learn_at_phase(uintptr_t address)
{
    if (!state.check_races)
        return;
    check_pending();
    const Flag *const flag = find_flag(address, false);
    if (flag != nullptr && flag->run == requests.run)
        join_moments(learned_row(state.worker->current->index), ordering.flag_moments[flag - ordering.flags]);
}

} // namespace emulator::counting
