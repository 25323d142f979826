// What the functions that block.hpp declares do. A part of runtime.cpp: as a part of each kernel's unit, it took g++ a third
// of the time for a small one.
#pragma once

#include "block.hpp"

namespace emulator {

EMULATOR_COLD void fail(Worker &worker, Failure failure, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(worker.message, sizeof worker.message, format, values);
    va_end(values);
    worker.failure = failure;
    Thread *self = worker.current;
    worker.current = nullptr;
    switch_context(self->context, worker.scheduler);
    __builtin_unreachable();
}

EMULATOR_COLD void fail_misaligned(Worker &worker, const char *type, size_t alignment, const Site &site)
{
    fail(worker, Failure::misaligned,
         "misaligned address: %s accesses %s at %s:%d, where its address is no multiple of %zu",
         ThreadName(worker, *worker.current).text,
         strstr(type, "SmallFloatPair") != nullptr ? "a pair of 16-bit numbers (__half2, __nv_bfloat162)" : type, site.file,
         site.line, alignment);
}

// Nothing wakes the lanes that wait in warp-level operations: says which lane is missing where.
__attribute__((noreturn)) EMULATOR_COLD inline void fail_waiting_lanes(Worker &worker)
{
    const unsigned warp = worker.running_warp->index / lanes_of_a_warp;
    const Thread &waiting = worker.running_warp[first_of(worker.waiting_lanes)];
    char wait[256];
    snprintf(wait, sizeof wait, "%s with mask " EMULATOR_MASK " at %s:%d, where %s waits", waiting.operation->name, waiting.mask,
             waiting.site.file, waiting.site.line, ThreadName(worker, waiting).text);
    for (unsigned lane = 0; lane < lanes_of_a_warp; ++lane) {
        const Thread &named = worker.running_warp[lane];
        if (!(waiting.mask & worker.live_lanes_of(warp) & only_lane(lane)))
            continue;
        const ThreadName name(worker, named);
        if (!(worker.waiting_lanes >> lane & 1))
            fail(worker, Failure::barrier,
                 "lane %u of warp %u (%s) waits at the barrier at %s:%d and cannot reach %s", lane, warp, name.text,
                 worker.barrier.file, worker.barrier.line, wait);
        if (named.operation != waiting.operation || named.mask != waiting.mask)
            fail(worker, Failure::barrier,
                 "lane %u of warp %u (%s) waits in %s with mask " EMULATOR_MASK " at %s:%d and cannot reach %s", lane,
                 warp, name.text, named.operation->name, named.mask, named.site.file, named.site.line, wait);
    }
    __builtin_unreachable();
}

// All lanes that wait at the same place for the active lanes to be found become one another's.
EMULATOR_COLD inline void find_active_lanes(Worker &worker)
{
    const Thread *first = nullptr;
    Lanes lanes = 0;
    for (Lanes rest = worker.waiting_lanes; rest != 0; rest &= rest - 1) {
        const Thread &thread = worker.running_warp[first_of(rest)];
        if (!thread.operation->finds_active || (first != nullptr && !(thread.site == first->site)))
            continue;
        first = first != nullptr ? first : &thread;
        lanes |= rest & -rest;
    }
    for (Lanes rest = lanes; rest != 0; rest &= rest - 1)
        worker.running_warp[first_of(rest)].mask = lanes;
}

// Lets one group of lanes go on that waits in a warp-level operation only for lanes that have ended, or only to know which
// lanes are active; false if there is none.
EMULATOR_COLD inline bool resume_group(Worker &worker, bool finds_active)
{
    const unsigned warp = worker.running_warp->index / lanes_of_a_warp;
    for (Lanes rest = worker.waiting_lanes; rest != 0; rest &= rest - 1) {
        const Thread &first = worker.running_warp[first_of(rest)];
        const Lanes lanes = first.mask & worker.live_lanes_of(warp);
        bool complete = (worker.waiting_lanes & lanes) == lanes && first.operation->finds_active == finds_active;
        for (Lanes others = complete ? lanes : 0; others != 0; others &= others - 1) {
            const Thread &other = worker.running_warp[first_of(others)];
            complete = complete && other.mask == first.mask && other.operation == first.operation;
        }
        if (!complete)
            continue;
        worker.waiting_lanes &= ~lanes;
        worker.ready_lanes |= lanes;
        counting::meet_in_warp(warp, first.mask, worker.live_lanes_of(warp), first.operation->orders_memory);
        first.operation->complete(worker.running_warp, lanes);
        return true;
    }
    return false;
}

// Lanes wait in warp-level operations, and no other lane of the warp is ready.
EMULATOR_COLD inline void resume_waiting_lanes(Worker &worker)
{
    if (resume_group(worker, false))
        return;
    find_active_lanes(worker);
    if (!resume_group(worker, true))
        fail_waiting_lanes(worker);
}

// Whether each warp's threads wait at one barrier, and none by a function that counts threads: bar.sync of PTX, which
// __syncthreads() is, counts warps at a barrier of the hardware, wherever they have called it.
EMULATOR_COLD inline bool are_whole_warps(const Worker &worker)
{
    bool are_whole = worker.satisfied == 0;
    for (unsigned warp = 0; warp * lanes_of_a_warp < worker.block_threads; ++warp) {
        const Lanes lanes = worker.astray_lanes[warp];
        are_whole = are_whole && (lanes == 0 || lanes == worker.live_lanes_of(warp));
        for (Lanes rest = lanes; rest != 0; rest &= rest - 1) {
            const Thread *const first = worker.threads + warp * lanes_of_a_warp;
            are_whole = are_whole && first[first_of(rest)].value == first[first_of(lanes)].value;
        }
    }
    return are_whole;
}

// All threads of the block wait, not all of them at one barrier.
EMULATOR_COLD inline void open_barriers_of_warps(Worker &worker)
{
    const Site &here = worker.first_astray->site, &there = worker.barrier;
    if (are_whole_warps(worker)) {
        counting::note_other_barrier(worker.first_astray->index, here, there);
        __builtin_memset(worker.astray_lanes, 0, sizeof worker.astray_lanes);
        worker.astray = 0;
        return;
    }
    fail(worker, Failure::barrier,
         "%u of %u threads wait at the barrier at %s:%d:%u, and %u elsewhere: %s waits at the one at %s:%d:%u",
         worker.arrived, worker.block_threads, there.file, there.line, there.column, worker.astray,
         ThreadName(worker, *worker.first_astray).text, here.file, here.line, here.column);
}

// All threads of the block wait at the barrier or have ended: those that wait go on.
EMULATOR_COLD inline void open_barrier_without_ended_threads(Worker &worker)
{
    if (worker.astray != 0)
        open_barriers_of_warps(worker);
    if (worker.ended != 0) {
        unsigned warp = 0;
        while (worker.ended_lanes[warp] == 0)
            ++warp;
        counting::note_partial_barrier(warp * lanes_of_a_warp + first_of(worker.ended_lanes[warp]), worker.barrier);
    }
    for (unsigned rest = worker.all_warps(); rest != 0; rest &= rest - 1)
        if (worker.live_lanes_of(unsigned(__builtin_ctz(rest))) != 0)
            worker.ready_warps |= rest & -rest;
    counting::pass_barrier(unsigned(__builtin_popcount(worker.ready_warps)));
    worker.arrived = 0;
    worker.outcome = worker.satisfied;
    worker.satisfied = 0;
}

// No thread is left that could end a phase.
__attribute__((noreturn)) EMULATOR_COLD inline void fail_stalled(Worker &worker)
{
    const unsigned warp = unsigned(__builtin_ctz(worker.stalled_warps));
    const Thread &thread = worker.threads[warp * lanes_of_a_warp + first_of(worker.stalled[warp])];
    const Phases phases = *thread.awaited;
    char missing[96];
    int length = 0;
    if (phases.left != 0)
        length = snprintf(missing, sizeof missing, "%u of %u arrivals%s", phases.left, phases.expected,
                          phases.bytes > 0 ? " and " : "");
    if (phases.bytes > 0 || phases.left == 0)
        snprintf(missing + length, sizeof missing - size_t(length), "%d bytes of copies", int(phases.bytes));
    fail(worker, Failure::barrier, "%s waits at %s:%d for phase %u of a barrier, which lacks %s: all others wait, too, or have ended",
         ThreadName(worker, thread).text, thread.site.file, thread.site.line, unsigned(phases.over), missing);
}

// Where lanes of the running warp wait for a phase, those that wait for them are kept.
EMULATOR_COLD inline void hold_waiting_lanes(Worker &worker)
{
    worker.held[worker.running_warp->index / lanes_of_a_warp] = worker.waiting_lanes;
    worker.waiting_lanes = 0;
}

// All threads of the block wait, some of them in a loop: blocks that take turns with this one run.
EMULATOR_COLD inline void let_blocks_run(Worker &worker)
{
    worker.yields = true;
    switch_context(worker.current->context, worker.scheduler);
    worker.yields = false;
}

// The running warp has no ready lane: on to the next warp, or past the barrier.
EMULATOR_COLD inline void leave_warp(Worker &worker)
{
    const unsigned own = worker.running_warp->index / lanes_of_a_warp;
    const Lanes paused = counting::resume_paused_lanes();
    if (worker.has_news || (worker.paused[own] & ~paused) != 0)
        counting::note_change();
    worker.paused[own] = paused;
    if (paused != 0) {
        if (!counting::are_spinning(own, paused)) {
            worker.ready_lanes = paused;
            return;
        }
        worker.stalled[own] |= paused;
        worker.stalled_warps |= 1u << own;
        worker.has_spinners = true;
    }
    if (worker.waiting_lanes != 0) {
        if (worker.stalled[own] == 0) {
            resume_waiting_lanes(worker);
            return;
        }
        if (resume_group(worker, false))
            return;
        hold_waiting_lanes(worker);
    }
    if (worker.ready_warps == 0 && worker.stalled_warps != 0) {
        if (!worker.has_news && !worker.has_spinners)
            fail_stalled(worker);
        if (worker.has_spinners && worker.takes_turns && !counting::has_copies())
            let_blocks_run(worker);
        worker.has_news = worker.has_spinners = false;
        worker.ready_warps = worker.stalled_warps;
    } else if (worker.ready_warps == 0) {
        open_barrier_without_ended_threads(worker);
    }
    const unsigned warp = schedule.choose(worker.ready_warps);
    worker.ready_warps &= ~(1u << warp);
    worker.running_warp = worker.threads + warp * lanes_of_a_warp;
    worker.ready_lanes = worker.live_lanes_of(warp);
    if (worker.stalled_warps >> warp & 1) {
        worker.ready_lanes = worker.stalled[warp];
        worker.waiting_lanes = worker.held[warp];
        worker.stalled[warp] = worker.held[warp] = 0;
        worker.stalled_warps &= ~(1u << warp);
    }
    counting::leave_warp(warp, worker.lanes_of(warp));
}

EMULATOR_APART Thread *next_thread(Worker &worker)
{
    if (__builtin_expect(worker.ready_lanes == 0, 0))
        leave_warp(worker);
    const bool is_first = __builtin_expect(schedule.number == 0, 1);
    const unsigned lane = is_first ? first_of(worker.ready_lanes) : schedule.choose(worker.ready_lanes);
    worker.ready_lanes &= ~only_lane(lane);
    return worker.running_warp + lane;
}

EMULATOR_UNCOUNTED void let_others_run(Worker &worker, Thread *self)
{
    Thread *next = next_thread(worker);
    worker.current = next;
    switch_context(self->context, next->context);
}

EMULATOR_UNCOUNTED void wait_for_news(Worker &worker, const Phases &awaited, Site site)
{
    Thread &self = *worker.current;
    const unsigned warp = self.index / lanes_of_a_warp;
    self.site = site;
    self.awaited = &awaited;
    worker.stalled[warp] |= only_lane(worker.lane_of(self));
    worker.stalled_warps |= 1u << warp;
    let_others_run(worker, &self);
}

// A thread comes to another barrier than the last one. If others wait there, it waits here until all threads wait; returns
// whether it has.
EMULATOR_COLD inline bool has_waited_astray(Worker &worker, Site site, const void *call)
{
    if (worker.arrived == 0) {
        worker.barrier = site;
        worker.barrier_call = call;
        return false;
    }
    Thread &self = *worker.current;
    self.site = site;
    self.value = uintptr_t(call);
    worker.astray_lanes[self.index / lanes_of_a_warp] |= only_lane(worker.lane_of(self));
    worker.first_astray = worker.astray++ == 0 ? &self : worker.first_astray;
    let_others_run(worker, &self);
    return true;
}

// The last thread of the block has arrived, and goes on itself; the others are ready.
EMULATOR_COLD inline void open_barrier(Worker &worker)
{
    const Thread &self = *worker.current;
    const unsigned warp = self.index / lanes_of_a_warp;
    counting::pass_barrier(unsigned(__builtin_popcount(worker.all_warps())));
    worker.arrived = 0;
    worker.outcome = worker.satisfied;
    worker.satisfied = 0;
    worker.ready_warps = worker.all_warps() & ~(1u << warp);
    worker.ready_lanes = worker.lanes_of(warp) & ~only_lane(worker.lane_of(self));
}

EMULATOR_UNCOUNTED unsigned wait_at_barrier(bool predicate, Site site, const void *call)
{
    Worker &worker = this_worker();
    worker.satisfied += predicate;
    if (__builtin_expect(worker.barrier_call != call, 0) && has_waited_astray(worker, site, call))
        return worker.outcome;
    if (__builtin_expect(++worker.arrived == worker.block_threads, 0))
        open_barrier(worker);
    else
        let_others_run(worker, worker.current);
    return worker.outcome;
}

EMULATOR_UNCOUNTED void wait_for_blocks(bool are_grid, Site site, const void *call)
{
    counting::wait_for_copies(0);
    counting::wait_for_copies(0, true);
    wait_at_barrier(false, site, call);
    Worker &worker = this_worker();
    Thread &self = *worker.current;
    if (are_grid && !worker.is_cooperative)
        fail(worker, Failure::barrier, "%s waits for the grid at %s:%d, and the launch is not cooperative",
             ThreadName(worker, self).text, site.file, site.line);
    if (++self.grid_barriers <= worker.grid_barriers || (!are_grid && worker.cluster_blocks == 1))
        return;
    worker.grid_barriers = self.grid_barriers;
    worker.at_grid = &self;
    self.site = site;
    switch_context(self.context, worker.scheduler);
}

EMULATOR_UNCOUNTED const void *map_shared(const void *address, unsigned rank, Site site)
{
    Worker &worker = this_worker();
    if (rank >= worker.cluster_blocks)
        fail(worker, Failure::other,
             "%s asks at %s:%d for the memory of block %u of a cluster of %u: the study's `cluster` says how many there "
             "are, here also for a kernel with __cluster_dims__",
             ThreadName(worker, *worker.current).text, site.file, site.line, rank, worker.cluster_blocks);
    return rank == worker.cluster_rank ? address : counting::shared_of(rank, address, site);
}

EMULATOR_UNCOUNTED uint64_t exchange_in_warp(const WarpOperation &operation, Lanes mask, uint64_t value,
                                          int source_lane, Site site)
{
    Worker &worker = this_worker();
    Thread &self = *worker.current;
    const unsigned lane = worker.lane_of(self);
    if (__builtin_expect(!(mask >> lane & 1), 0))
        fail(worker, Failure::barrier,
             "%s, lane %u of its warp, calls %s at %s:%d with mask " EMULATOR_MASK ", which does not name it",
             ThreadName(worker, self).text, lane, operation.name, site.file, site.line, mask);
    self.operation = &operation;
    self.site = site;
    self.mask = mask & worker.lanes_of(self.index / lanes_of_a_warp);
    self.source_lane = source_lane;
    self.value = value;
    worker.waiting_lanes |= only_lane(lane);

    const Lanes lanes = self.mask;
    bool complete = (worker.waiting_lanes & lanes) == lanes && !operation.finds_active;
    for (Lanes rest = complete ? lanes : 0; rest != 0; rest &= rest - 1) {
        const Thread &other = worker.running_warp[first_of(rest)];
        complete = complete && other.mask == lanes && other.operation == &operation;
    }
    if (complete) {
        worker.waiting_lanes &= ~lanes;
        worker.ready_lanes |= lanes & ~only_lane(lane);
        const unsigned warp = self.index / lanes_of_a_warp;
        counting::meet_in_warp(warp, lanes, worker.live_lanes_of(warp), operation.orders_memory);
        operation.complete(worker.running_warp, lanes);
    } else {
        let_others_run(worker, &self);
    }
    return self.value;
}

EMULATOR_UNCOUNTED void end_thread()
{
    Worker &worker = this_worker();
    Thread &self = *worker.current;
    worker.ended_lanes[self.index / lanes_of_a_warp] |= only_lane(worker.lane_of(self));
    if (++worker.ended == worker.block_threads) {
        worker.current = nullptr;
        switch_context(self.context, worker.scheduler);
    } else {
        let_others_run(worker, &self);
    }
    __builtin_unreachable();
}

// The place of a block in the grid, from its number, in which x is fastest, then y.
EMULATOR_APART uint3 place_of_block(uint64_t number, const dim3 &grid)
{
    if (number < grid.x) // as always in one dimension, without a division
        return {unsigned(number), 0, 0};
    const uint64_t row = number / grid.x;
    return {unsigned(number % grid.x), unsigned(row % grid.y), unsigned(row / grid.y)};
}

// Runs one block to its end, to the grid's barrier, or until it fails. Each of its threads enters `thread_main`.
EMULATOR_COLD inline void run_block(Worker &worker, uint64_t number, void (*thread_main)())
{
    for (unsigned index = 0; index < worker.block_threads; ++index) {
        prepare(worker.threads[index].context, worker.threads[index].stack_top, thread_main);
        worker.threads[index].grid_barriers = 0;
    }
    worker.block_number = number;
    worker.clock = 0;
    for (Phases &tile : worker.tiles)
        tile = {};
    worker.at_grid = nullptr;
    worker.has_spinners = worker.yields = false;
    worker.grid_barriers = 0;
    worker.block_index = place_of_block(number, worker.grid_size);
    worker.arrived = worker.astray = worker.satisfied = worker.ended = worker.waiting_lanes = 0;
    __builtin_memset(worker.ended_lanes, 0, sizeof worker.ended_lanes);
    __builtin_memset(worker.astray_lanes, 0, sizeof worker.astray_lanes);
    __builtin_memset(worker.paused, 0, sizeof worker.paused);
    if (worker.stalled_warps != 0) { // since a block has failed
        __builtin_memset(worker.stalled, 0, sizeof worker.stalled);
        __builtin_memset(worker.held, 0, sizeof worker.held);
        worker.stalled_warps = 0;
    }
    worker.running_warp = worker.threads;
    worker.ready_warps = worker.all_warps() & ~1u;
    worker.ready_lanes = worker.lanes_of(0);
    counting::start_block(worker, unsigned(number), worker.block_threads, worker.ready_lanes);
    if (schedule.number != 0) {
        worker.ready_warps = worker.all_warps();
        worker.ready_lanes = 0;
    }
    worker.current = next_thread(worker);
    switch_context(worker.scheduler, worker.current->context);
    counting::end_block();
}

// Runs a block on that waits in a loop.
EMULATOR_COLD inline void resume_block(Worker &worker)
{
    switch_context(worker.scheduler, worker.current->context);
    counting::end_block();
}

// Runs a block on, after the grid's barrier.
EMULATOR_COLD inline void go_on_with_block(Worker &worker)
{
    const unsigned warp = worker.at_grid->index / lanes_of_a_warp;
    worker.current = worker.at_grid;
    worker.at_grid = nullptr;
    counting::go_on_with_block(worker, unsigned(worker.block_number), warp, worker.lanes_of(warp));
    switch_context(worker.scheduler, worker.current->context);
    counting::end_block();
}

} // namespace emulator
