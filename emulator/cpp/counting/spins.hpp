// Threads that wait in a loop for another one's write: they read a few addresses over and over, and find one value at each.
//
// A lane that does so is paused as others are (hooks.hpp); then its warp is left, as one whose lanes wait for a phase, and
// where blocks take turns, its block, too. Such threads wait in vain once they have read for so long, together and each,
// and nothing has changed: no thread has found another value or gone elsewhere, or left its loop.
#pragma once

#include "on_events.hpp"

namespace emulator::counting {

constexpr unsigned patience = 4 * round_length; // accesses
constexpr unsigned turn = 64; // accesses: as so many counts an atomic function before which all others run
constexpr unsigned endless = 8192 * turn; // accesses of a thread
constexpr uint64_t endless_together = 4 * endless;
constexpr unsigned most_awaited = 4;     // addresses of a loop
constexpr unsigned unseen_length = 4096; // accesses that are not counted, such as of __device__ variables

struct Spin {
    uint32_t run; // of the thread's block
    uint32_t accesses;
    uint32_t change; // the last one there was
    uint32_t since;  // it: accesses
    unsigned count;
    uintptr_t addresses[most_awaited];
    uint64_t values[most_awaited];

    // Whether the thread has read this value at this address before, if any.
    EMULATOR_UNCOUNTED bool reads_again(uintptr_t address, uint64_t value)
    {
        unsigned at = 0;
        while (at < count && addresses[at] != address)
            ++at;
        if (at == most_awaited)
            at = count = 0;
        const bool is_new = at == count;
        const bool is_again = is_new ? at != 0 : values[at] == value;
        count += is_new;
        addresses[at] = address;
        values[at] = value;
        return is_again;
    }
};

constexpr unsigned most_spins = 4 * most_threads; // of blocks that take turns; in larger launches, some share one

struct Spins {
    Spin of[most_spins];
    unsigned unseen[most_threads]; // accesses
    uint32_t change;               // the last one's number
    uint64_t since;                // it: accesses of threads that wait
};

inline Spins spins;

// Of a thread of the running block.
inline Spin &spin_of(unsigned thread)
{
    return spins.of[(unsigned(requests.block) * ordering.threads + thread) % most_spins];
}

EMULATOR_UNCOUNTED void note_change()
{
    ++spins.change;
    spins.since = 0;
}

// A thread has made that many accesses since the last one that was noted. Returns whether it waits in a loop.
EMULATOR_COLD inline bool note_spin(Worker &worker, uintptr_t address, size_t size, unsigned accesses, const void *caller)
{
    Spin &spin = spin_of(worker.current->index);
    uint64_t value = 0;
    for (size_t byte = 0; byte < size && byte < sizeof value; ++byte)
        value |= uint64_t(reinterpret_cast<const unsigned char *>(address)[byte]) << 8 * byte;
    if (spin.run != requests.run)
        spin = {requests.run, 0, spins.change, 0, 0, {}, {}};
    if (!spin.reads_again(address, value)) {
        spin.accesses = 0;
        note_change();
        return false;
    }
    spin.accesses += accesses;
    spin.since = (spin.change == spins.change ? spin.since : 0) + accesses;
    spin.change = spins.change;
    spins.since += accesses;
    if (spin.since < endless || spins.since < endless_together)
        return spin.accesses >= patience;
    worker.fault_place = uintptr_t(caller);
    const bool is_alone = !ordering.in_turns && launch_before(0).grid[0] > 1;
    fail(worker, Failure::barrier, "%s waits in a loop for a value that no thread changes%s",
         ThreadName(worker, *worker.current).text,
         is_alone ? ". In a launch that is not cooperative, a block can wait for earlier ones alone" : "");
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
