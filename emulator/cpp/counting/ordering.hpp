// The order of accesses: the synchronisations of a block, as moments of one clock.
//
// At their barrier the blocks of a cooperative launch or of a cluster take turns; it orders all their accesses.
//
// The clock of a block advances at every barrier and every __syncwarp. An access carries the moment at which it
// happened, and is ordered before what follows a barrier, or, within a warp, a __syncwarp that names both lanes,
// directly or through other lanes. The other warp-level operations exchange values and order no accesses: CUDA's
// programming guide says that they imply no memory barrier.
//
// Any two threads are ordered by an address that both give to atomic functions. What a thread did before a fence, and
// what came before its atomic function after that fence, comes before what another thread does once it has called an
// atomic function on the same address and then passed a fence or a synchronisation of the block or the warp.
// __threadfence_block orders threads of one block only.
//
// Blocks run one after another, so what the others have released stays the same while a block runs. Three things are
// simplified, and may hide a race between blocks: a block's releases at several addresses are one; what a block has
// learned of before it releases is taken to be all that blocks before it have released; and a block that reads more
// than `most_learned` addresses is taken to learn of everything. Where blocks that take turns wait for one another in
// loops (spins.hpp), a block that learns anything learns of all that is released.
#pragma once

#include "requests.hpp"

namespace emulator::counting {

struct Warp {
    uint32_t ordered;   // all its lanes' accesses up to this moment come before what its lanes do now
    bool has_known;     // whether `known` says more
    uint32_t known[lanes_of_a_warp][lanes_of_a_warp]; // [lane][other]: what of the other's comes before the lane's
};

constexpr unsigned most_flags = 1024; // any further addresses share the last flag
constexpr unsigned flag_slots = 2 * most_flags;
constexpr unsigned most_learned = 64;

// An address at which atomic functions have released accesses, and what they have: a row of Ordering.flag_moments of a
// block's threads, and the blocks that did so by a fence of the device.
struct Flag {
    uintptr_t address;
    uint32_t run; // whose threads' moments are in the row
    uint32_t *runs; // ascending
    uint32_t run_count;
    uint32_t run_capacity;
    uint32_t horizon; // what the blocks before this one have released, is released here, too
};

// A thread of the running block has learned what other blocks had released at a flag.
struct Learned {
    uint32_t flag;
    uint32_t horizon;
    uint32_t thread;
    uint32_t moment;
};

// A thread's last fences: the moments up to which they release its accesses; 0: none.
struct Fences {
    uint32_t of_block; // or of the device
    uint32_t of_device;
};

// The place of a thread's last atomic function.
struct AtomicCall {
    uintptr_t address;
    uint32_t size;
    uint32_t run;
};

struct Ordering {
    uint32_t moment;
    bool in_turns;         // blocks take turns, and share one clock
    bool are_mixed;        // some have gone on in the middle, after others, or before lower ones
    uint32_t turns_began;  // those of the running block; the largest number if it runs alone
    uint32_t grid_ordered; // all accesses of these blocks up to this moment come before what any thread does now
    uint32_t block_ordered; // all accesses of the block up to this moment come before what any thread does now
    Warp warps[most_threads / lanes_of_a_warp];

    uint32_t first_run; // among the blocks of all launches, this launch's first
    uint32_t first_open_run; // of the first launch that may not have ended when this one begins: mostly this one
    uint32_t next_run;  // before the next launch's first
    uint32_t *released; // by block of the launch and thread: its accesses up to this moment, by any of its block's flags
    size_t released_bytes;
    bool has_released;

    bool fences_in_block;  // whether some thread of the launch has passed a fence
    bool fences_on_device; // and one that orders blocks, too
    bool proxy_fences[2];  // and one for the asynchronous proxy: for shared memory, for global memory

    uint32_t threads; // of the running block
    bool has_fences;
    bool has_touched;
    bool has_learned; // by a flag of its own block's threads
    Fences fences[most_threads];
    uint16_t touched[most_threads]; // the flag of an atomic function after which there was no fence, plus one
    AtomicCall last_calls[most_threads];
    uint32_t learned_runs[most_threads]; // the block for which a row of `learned` stands
    uint32_t learned[most_threads][most_threads]; // [thread][other]: what of the other's comes before the thread's
    Learned learned_flags[most_learned];
    unsigned learned_count; // one more: all flags

    Flag flags[most_flags];
    unsigned flag_count;
    uint16_t slots[flag_slots]; // index of a flag plus one
    uint32_t flag_moments[most_flags][most_threads];

    uint64_t warps_run;
    uint64_t barriers; // by each warp
    uint64_t warp_synchronisations;
    uint64_t warp_exchanges;
};

inline Ordering ordering;

// The clock stops at a number that few kernels reach; from there on, accesses are taken to be ordered.
constexpr uint32_t last_moment = (1u << 22) - 1;

EMULATOR_UNCOUNTED inline uint32_t advance()
{
    const uint32_t now = ordering.moment;
    ordering.moment += now < last_moment;
    return now;
}

// Without memset, a call of which is seen as accesses of 16 bytes each.
EMULATOR_UNCOUNTED inline void clear_moments(uint32_t *row)
{
    for (unsigned thread = 0; thread < ordering.threads; ++thread)
        row[thread] = 0;
}

// Of each thread, the later of two moments.
EMULATOR_UNCOUNTED inline void join_moments(uint32_t *row, const uint32_t *others)
{
    for (unsigned thread = 0; thread < ordering.threads; ++thread)
        row[thread] = others[thread] > row[thread] ? others[thread] : row[thread];
}

// The row of a thread in `learned`.
EMULATOR_UNCOUNTED inline uint32_t *learned_row(unsigned thread)
{
    if (ordering.learned_runs[thread] != requests.run)
        clear_moments(ordering.learned[thread]);
    ordering.learned_runs[thread] = requests.run;
    ordering.has_learned = true;
    return ordering.learned[thread];
}

// What one lane has learned from other warps, all that meet it know.
EMULATOR_UNCOUNTED inline void share_learned(unsigned first_thread, Lanes lanes)
{
    uint32_t *const row = learned_row(first_thread + first_of(lanes));
    for (Lanes rest = lanes & (lanes - 1); rest != 0; rest &= rest - 1)
        join_moments(row, learned_row(first_thread + first_of(rest)));
    for (Lanes rest = lanes & (lanes - 1); rest != 0; rest &= rest - 1)
        join_moments(learned_row(first_thread + first_of(rest)), row);
}

EMULATOR_UNCOUNTED inline void order_lanes(unsigned warp_index, Lanes lanes, Lanes existing_lanes)
{
    if (ordering.has_learned)
        share_learned(warp_index * lanes_of_a_warp, lanes);
    Warp &warp = ordering.warps[warp_index];
    const uint32_t now = advance();
    if (lanes == existing_lanes) {
        warp.ordered = now;
        return;
    }
    if (!warp.has_known) {
        memset(warp.known, 0, sizeof warp.known);
        warp.has_known = true;
    }
    uint32_t joined[lanes_of_a_warp] = {};
    for (Lanes rest = lanes; rest != 0; rest &= rest - 1)
        for (unsigned other = 0; other < lanes_of_a_warp; ++other) {
            const uint32_t known = warp.known[first_of(rest)][other];
            joined[other] = known > joined[other] ? known : joined[other];
        }
    for (Lanes rest = lanes; rest != 0; rest &= rest - 1)
        joined[first_of(rest)] = now;
    for (Lanes rest = lanes; rest != 0; rest &= rest - 1)
        memcpy(warp.known[first_of(rest)], joined, sizeof joined);
}

// What lanes of a warp, and other warps by flags, have told of a thread, where the block's barriers don't order it.
EMULATOR_UNCOUNTED inline bool is_told(unsigned earlier, uint32_t moment, unsigned later)
{
    if (earlier / lanes_of_a_warp == later / lanes_of_a_warp) {
        const Warp &warp = ordering.warps[later / lanes_of_a_warp];
        if (moment <= warp.ordered ||
            (warp.has_known && moment <= warp.known[later % lanes_of_a_warp][earlier % lanes_of_a_warp]))
            return true;
    }
    return ordering.has_learned && ordering.learned_runs[later] == requests.run &&
           moment <= ordering.learned[later][earlier];
}

// Whether what `earlier` did at a moment comes before what `later`, another thread of the block, does now.
EMULATOR_UNCOUNTED_INLINE bool is_ordered(unsigned earlier, uint32_t moment, unsigned later)
{
    return moment <= ordering.block_ordered || is_told(earlier, moment, later);
}

EMULATOR_UNCOUNTED inline bool has_learned(const Learned &learned, unsigned thread)
{
    return learned.thread == thread || is_ordered(learned.thread, learned.moment, thread);
}

EMULATOR_UNCOUNTED inline void learn_of_blocks(uint32_t flag, unsigned thread)
{
    if (ordering.flags[flag].run_count == 0 || ordering.learned_count > most_learned)
        return;
    for (unsigned i = 0; i < ordering.learned_count; ++i) {
        Learned &learned = ordering.learned_flags[i];
        if (learned.flag != flag)
            continue;
        if (!has_learned(learned, thread))
            learned.moment = 0; // Several threads have: all are taken to.
        return;
    }
    if (ordering.learned_count < most_learned)
        ordering.learned_flags[ordering.learned_count] = {
            flag, ordering.are_mixed ? UINT32_MAX : ordering.flags[flag].horizon, thread, ordering.moment};
    ++ordering.learned_count;
}

// A fence after a thread's atomic function, or a synchronisation: it learns what was released at the address.
EMULATOR_UNCOUNTED inline void learn(unsigned thread, bool is_of_device)
{
    if (ordering.touched[thread] == 0)
        return;
    const unsigned flag = ordering.touched[thread] - 1u;
    if (ordering.flags[flag].run == requests.run)
        join_moments(learned_row(thread), ordering.flag_moments[flag]);
    if (is_of_device) {
        learn_of_blocks(flag, thread);
        ordering.touched[thread] = 0;
    }
}

EMULATOR_UNCOUNTED inline void order_block()
{
    for (unsigned thread = 0; ordering.has_touched && thread < ordering.threads; ++thread)
        learn(thread, true);
    ordering.has_touched = false;
    ordering.block_ordered = advance();
    ordering.has_learned = false; // That was less.
}

EMULATOR_UNCOUNTED inline void pass_fence(unsigned thread, bool is_of_device)
{
    learn(thread, is_of_device);
    const uint32_t now = advance();
    Fences &fences = ordering.fences[thread];
    fences.of_block = now;
    if (is_of_device)
        fences.of_device = now;
    ordering.has_fences = ordering.fences_in_block = true;
    ordering.fences_on_device |= is_of_device;
}

// The flag of an address, or null; null never if it is to be made.
EMULATOR_UNCOUNTED inline Flag *find_flag(uintptr_t address, bool makes)
{
    unsigned slot = unsigned((address * 0x9e3779b97f4a7c15u) >> 40) % flag_slots;
    for (; ordering.slots[slot] != 0; slot = (slot + 1) % flag_slots)
        if (ordering.flags[ordering.slots[slot] - 1].address == address)
            return &ordering.flags[ordering.slots[slot] - 1];
    if (ordering.flag_count == most_flags)
        return &ordering.flags[most_flags - 1];
    if (!makes)
        return nullptr;
    Flag &flag = ordering.flags[ordering.flag_count++];
    flag = {address, 0, nullptr, 0, 0, 0};
    ordering.slots[slot] = uint16_t(ordering.flag_count);
    return &flag;
}

EMULATOR_UNCOUNTED inline void add_run(Flag &flag)
{
    if (flag.run_count != 0 && flag.runs[flag.run_count - 1] == requests.run)
        return;
    if (flag.run_count == flag.run_capacity) {
        flag.run_capacity = 2 * flag.run_capacity + 16;
        flag.runs = static_cast<uint32_t *>(realloc(flag.runs, flag.run_capacity * sizeof(uint32_t)));
    }
    flag.runs[flag.run_count++] = requests.run;
}

// Adds to a row what a thread's atomic function releases: its own accesses up to its fence, and what it knows of.
EMULATOR_UNCOUNTED inline void release(uint32_t *row, unsigned thread, uint32_t own)
{
    const uint32_t before = row[thread], block = ordering.block_ordered;
    for (unsigned other = 0; other < ordering.threads; ++other)
        row[other] = row[other] > block ? row[other] : block;
    const Warp &warp = ordering.warps[thread / lanes_of_a_warp];
    const unsigned first = thread / lanes_of_a_warp * lanes_of_a_warp;
    for (unsigned other = first; other < ordering.threads && other < first + lanes_of_a_warp; ++other) {
        const uint32_t known = warp.has_known ? warp.known[thread - first][other - first] : 0;
        const uint32_t moment = known > warp.ordered ? known : warp.ordered;
        row[other] = row[other] > moment ? row[other] : moment;
    }
    if (ordering.has_learned && ordering.learned_runs[thread] == requests.run)
        join_moments(row, ordering.learned[thread]);
    row[thread] = before > own ? before : own;
}

EMULATOR_UNCOUNTED inline void release_in_block(Flag &flag, unsigned thread, uint32_t own)
{
    uint32_t *const row = ordering.flag_moments[&flag - ordering.flags];
    if (flag.run != requests.run)
        clear_moments(row);
    flag.run = requests.run;
    release(row, thread, own);
}

EMULATOR_UNCOUNTED inline void release_at(Flag &flag, unsigned thread, bool is_global)
{
    const Fences &fences = ordering.fences[thread];
    release_in_block(flag, thread, fences.of_block);
    if (!is_global || fences.of_device == 0)
        return;
    release(ordering.released + size_t(requests.block) * ordering.threads, thread, fences.of_device);
    ordering.has_released = true;
    add_run(flag);
    if (ordering.learned_count != 0)
        flag.horizon = requests.run;
}

// Whether an access by a thread of another block of this launch comes before what `thread` does now.
EMULATOR_UNCOUNTED inline bool is_learned(uint32_t run, unsigned other, uint32_t moment, unsigned thread)
{
    if (moment > ordering.released[size_t(run - ordering.first_run) * ordering.threads + other])
        return false;
    for (unsigned i = 0; i < ordering.learned_count; ++i) {
        if (i == most_learned)
            return true;
        const Learned &learned = ordering.learned_flags[i];
        const Flag &flag = ordering.flags[learned.flag];
        unsigned first = 0;
        for (unsigned end = flag.run_count; first < end;) {
            const unsigned middle = (first + end) / 2;
            (flag.runs[middle] < run ? first : end) = middle + (flag.runs[middle] < run);
        }
        const bool is_at_flag = first < flag.run_count && flag.runs[first] == run;
        if ((is_at_flag || run < learned.horizon) && has_learned(learned, thread))
            return true;
    }
    return false;
}

EMULATOR_UNCOUNTED_INLINE bool is_released(uint32_t run, unsigned other, uint32_t moment, unsigned thread)
{
    return ordering.learned_count != 0 && is_learned(run, other, moment, thread);
}

EMULATOR_UNCOUNTED inline void forget_flags()
{
    for (unsigned i = 0; i < ordering.flag_count; ++i)
        free(ordering.flags[i].runs);
    if (ordering.flag_count != 0)
        memset(ordering.slots, 0, sizeof ordering.slots);
    ordering.flag_count = 0;
    ordering.fences_in_block = ordering.fences_on_device = false;
    ordering.proxy_fences[false] = ordering.proxy_fences[true] = false;
}

// Room for what the blocks of a launch release, of which nothing is touched before one does. False if there is none.
EMULATOR_UNCOUNTED inline bool make_room_for_releases(size_t threads)
{
    const size_t bytes = threads * sizeof(uint32_t);
    if (bytes <= ordering.released_bytes && !ordering.has_released)
        return true;
    if (ordering.released != nullptr)
        munmap(ordering.released, ordering.released_bytes);
    void *const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ordering.released = memory == MAP_FAILED ? nullptr : static_cast<uint32_t *>(memory);
    ordering.released_bytes = memory == MAP_FAILED ? 0 : bytes;
    ordering.has_released = false;
    return ordering.released != nullptr;
}

EMULATOR_UNCOUNTED inline void start_ordering(unsigned threads)
{
    if (!ordering.in_turns)
        ordering.moment = 1;
    ordering.block_ordered = ordering.grid_ordered;
    ordering.threads = threads;
    ordering.has_learned = false;
    ordering.learned_count = 0;
    ordering.warps_run += (threads + lanes_of_a_warp - 1) / lanes_of_a_warp;
    requests.run = ordering.first_run + requests.block;
    for (unsigned thread = 0; (ordering.has_fences || ordering.has_touched) && thread < threads; ++thread) {
        ordering.fences[thread] = {};
        ordering.touched[thread] = 0;
    }
    ordering.has_fences = ordering.has_touched = false;
    for (unsigned warp = 0; warp * lanes_of_a_warp < threads; ++warp) {
        ordering.warps[warp].ordered = 0;
        ordering.warps[warp].has_known = false;
    }
}

} // namespace emulator::counting
