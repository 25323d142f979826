// Threads that wait in a loop for another one's write: they read one address over and over, and find one value there.
//
// A lane that does so is paused as others are (hooks.hpp); then its warp is left, as one whose lanes wait for a phase, and
// where blocks take turns, its block, too. A loop that has read so for `endless` accesses ends the launch.
#pragma once

#include "on_events.hpp"

namespace emulator::counting {

constexpr unsigned patience = 4 * round_length; // accesses
constexpr unsigned endless = 1u << 23;
constexpr unsigned endless_turns = 1024; // of all other threads, between two accesses
constexpr unsigned unseen_length = 4096; // accesses that are not counted, such as of __device__ variables

struct Spin {
    uint32_t run; // of the thread's block
    uint32_t accesses;
    uintptr_t address;
    uint64_t value;
};

constexpr unsigned most_spins = 4 * most_threads; // of blocks that take turns; in larger launches, some share one

struct Spins {
    Spin of[most_spins];
    unsigned unseen; // accesses
};

inline Spins spins;

// Of a thread of the running block.
inline Spin &spin_of(unsigned thread)
{
    return spins.of[(unsigned(requests.block) * ordering.threads + thread) % most_spins];
}

// A thread has made that many accesses since the last one that was noted. Returns whether it waits in a loop.
EMULATOR_COLD inline bool note_spin(Worker &worker, uintptr_t address, size_t size, unsigned accesses, const void *caller)
{
    Spin &spin = spin_of(worker.current->index);
    uint64_t value = 0;
    for (size_t byte = 0; byte < size && byte < sizeof value; ++byte)
        value |= uint64_t(reinterpret_cast<const unsigned char *>(address)[byte]) << 8 * byte;
    const bool is_same = spin.run == requests.run && spin.address == address && spin.value == value;
    spin = {requests.run, is_same ? spin.accesses + accesses : 0, address, value};
    if (spin.accesses < (schedule.number >= 2 ? endless_turns : endless))
        return spin.accesses >= patience;
    worker.fault_place = uintptr_t(caller);
    const bool is_alone = !ordering.in_turns && launch_before(0).grid[0] > 1;
    fail(worker, Failure::barrier, "%s waits in a loop for a value that no thread changes%s",
         ThreadName(worker, *worker.current).text,
         is_alone ? ": in a launch that is not cooperative, blocks run one after another" : "");
}

EMULATOR_UNCOUNTED bool are_spinning(unsigned warp, Lanes lanes)
{
    for (Lanes rest = schedule.number >= 2 ? 0 : lanes; rest != 0; rest &= rest - 1) {
        const Spin &spin = spin_of(warp * lanes_of_a_warp + first_of(rest));
        if (spin.run != requests.run || spin.accesses < patience)
            return false;
    }
    return true;
}

// What is kept of a block's order of accesses while others run.
struct KeptOrder {
    Fences fences[most_threads];
    uint16_t touched[most_threads];
    AtomicCall last_calls[most_threads];
    bool has_fences;
    bool has_touched;
    bool has_learned; // of other blocks
};

EMULATOR_COLD inline void keep_order(KeptOrder &kept)
{
    for (unsigned thread = 0; thread < ordering.threads; ++thread) {
        kept.fences[thread] = ordering.fences[thread];
        kept.touched[thread] = ordering.touched[thread];
        kept.last_calls[thread] = ordering.last_calls[thread];
    }
    kept.has_fences = ordering.has_fences;
    kept.has_touched = ordering.has_touched;
    kept.has_learned = ordering.learned_count != 0;
    ordering.are_mixed = true;
}

// A block goes on that others have interrupted. Its own accesses before are taken to be ordered, and what it had learned
// of other blocks, to be all that they have released.
EMULATOR_COLD inline void go_on_after_spin(Worker &worker, unsigned block, unsigned warp, Lanes existing_lanes,
                                           const KeptOrder &kept)
{
    go_on_with_block(worker, block, warp, existing_lanes);
    for (unsigned thread = 0; thread < ordering.threads; ++thread) { // without memcpy, which is seen
        ordering.fences[thread] = kept.fences[thread];
        ordering.touched[thread] = kept.touched[thread];
        ordering.last_calls[thread] = kept.last_calls[thread];
    }
    ordering.has_fences = kept.has_fences;
    ordering.has_touched = kept.has_touched;
    ordering.block_ordered = advance();
    if (kept.has_learned)
        ordering.learned_flags[ordering.learned_count++] = {0, UINT32_MAX, 0, 0};
}

} // namespace emulator::counting
