// The order of accesses: the synchronisations of a block, as moments of one clock.
//
// The clock of a block advances at every barrier and every __syncwarp. An access carries the moment at which it
// happened, and is ordered before what follows a barrier, or, within a warp, a __syncwarp that names both lanes,
// directly or through other lanes. The other warp-level operations exchange values and order no accesses: CUDA's
// programming guide says that they imply no memory barrier.
//
// Blocks are ordered by nothing but atomics: what a block did before a __threadfence and an atomic function after it,
// is ordered before what another block does after an atomic function of its own.
#pragma once

#include "requests.hpp"

namespace emulator::counting {

struct Warp {
    uint32_t ordered;   // all its lanes' accesses up to this moment come before what its lanes do now
    bool has_known;     // whether `known` says more
    uint32_t known[lanes_of_a_warp][lanes_of_a_warp]; // [lane][other]: what of the other's comes before the lane's
};

// A block's last atomic function after a fence.
struct Release {
    uint32_t run;
    uint32_t thread;
    uint32_t own;   // the thread's own accesses up to this moment come before it
    uint32_t block; // and what all threads of the block did
};

struct Ordering {
    uint32_t moment;
    uint32_t block_ordered; // all accesses of the block up to this moment come before what any thread does now
    Warp warps[most_threads / lanes_of_a_warp];

    uint32_t first_run; // among the blocks of all launches, this launch's first
    uint32_t next_run;  // before the next launch's first
    uint32_t grid;      // the largest so far
    Release *releases;  // one for each of its blocks
    bool fenced[most_threads];
    bool acquired;

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

EMULATOR_UNCOUNTED inline void order_block() { ordering.block_ordered = advance(); }

EMULATOR_UNCOUNTED inline void order_lanes(unsigned warp_index, Lanes lanes, Lanes existing_lanes)
{
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

// Whether what `earlier` did at a moment comes before what `later`, another thread of the block, does now.
EMULATOR_UNCOUNTED inline bool is_ordered(unsigned earlier, uint32_t moment, unsigned later)
{
    if (moment <= ordering.block_ordered)
        return true;
    if (earlier / lanes_of_a_warp != later / lanes_of_a_warp)
        return false;
    const Warp &warp = ordering.warps[later / lanes_of_a_warp];
    return moment <= warp.ordered ||
           (warp.has_known && moment <= warp.known[later % lanes_of_a_warp][earlier % lanes_of_a_warp]);
}

// Whether an access by a thread of another block of this launch comes before the current access of the running block.
EMULATOR_UNCOUNTED inline bool is_released(uint32_t block, unsigned thread, uint32_t moment)
{
    const Release &release = ordering.releases[block];
    if (!ordering.acquired || release.run != ordering.first_run + block)
        return false;
    return moment <= (thread == release.thread ? release.own : release.block);
}

EMULATOR_UNCOUNTED inline void release_and_acquire(unsigned thread)
{
    if (ordering.fenced[thread])
        ordering.releases[requests.block] = {requests.run, thread, ordering.moment, ordering.block_ordered};
    ordering.fenced[thread] = false; // The next fence releases the accesses that follow.
    ordering.acquired = true;
}

EMULATOR_UNCOUNTED inline void start_ordering(unsigned threads)
{
    ordering.moment = 1;
    ordering.block_ordered = 0;
    ordering.acquired = false;
    ordering.warps_run += (threads + lanes_of_a_warp - 1) / lanes_of_a_warp;
    requests.run = ordering.first_run + requests.block;
    memset(ordering.fenced, 0, sizeof ordering.fenced);
    for (unsigned warp = 0; warp * lanes_of_a_warp < threads; ++warp) {
        ordering.warps[warp].ordered = 0;
        ordering.warps[warp].has_known = false;
    }
}

} // namespace emulator::counting
