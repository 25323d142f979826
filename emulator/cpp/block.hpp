// One block at a time runs on the worker: which of its threads runs next, and what happens at a barrier.
//
// A thread runs until it waits; then the next ready lane of its warp runs, then the next warp with ready threads. Two
// facts keep the bookkeeping to two words. Warps other than the running one are ready with all their lanes that have
// not ended, or with none: a warp is left only when all its lanes wait or have ended, and only a barrier, which no
// thread may miss, wakes lanes of another warp. And a warp is never left with lanes waiting in a warp-level operation,
// since nothing could wake them.
//
// Threads that have ended count as arrived wherever others wait for them. That is decided only when nothing else can
// run, so it costs nothing where no thread ends early.
//
// A thread that waits for a phase of a barrier (phases.hpp) tries again once a phase is over and no other thread can run.
// Until then its warp is left, and keeps which of its lanes wait for what.
//
// The order is fixed by the block and the schedule alone. In a cooperative launch, and in a cluster, each block runs up to
// the barrier of these blocks, in turn.
#pragma once

#include "counting/events.hpp"
#include "stacks.hpp"
#include "vector_types.hpp"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The column of a call, as a default argument: the compiler fills in what the standard library would declare.
#if defined(__has_builtin)
#if __has_builtin(__builtin_source_location) && __cplusplus < 202002L
namespace std {
struct source_location {
    struct __impl {
        const char *_M_file_name;
        const char *_M_function_name;
        unsigned _M_line, _M_column;
    };
};
} // namespace std
#define EMULATOR_COLUMN static_cast<const ::std::source_location::__impl *>(__builtin_source_location())->_M_column
#endif
#endif
#if !defined(EMULATOR_COLUMN)
#define EMULATOR_COLUMN 0
#endif
// A parameter: where the function is called.
#define EMULATOR_SITE ::emulator::Site site = {__builtin_FILE(), __builtin_LINE(), EMULATOR_COLUMN}

// Ends a static assertion's message; the word in brackets is what programs read of it (compiling.py).
#define EMULATOR_NOT_SUPPLIED " is a CUDA word that the emulator does not supply [not_supplied]"

namespace emulator {

// What ends a launch, for programs, as its message is for people. FAILURES in library.py has them in this order.
enum class Failure { none, other, barrier, misaligned, out_of_bounds, illegal_access, not_supplied };

// A place in the source.
struct Site {
    const char *file;
    int line;
    unsigned column; // 0 where the compiler does not say

    bool operator==(const Site &other) const
    {
        return line == other.line && column == other.column && (file == other.file || strcmp(file, other.file) == 0);
    }
};

// A barrier with phases (phases.hpp). A phase is over once as many have arrived as it expects, and as many bytes of bulk
// copies; asynchronous copies that are bound to it land then. Of 8 bytes, as on a GPU.
struct alignas(8) Phases {
    uint16_t expected;
    uint16_t left;      // of the phase that runs
    uint32_t over : 10; // phases, counted up to 1,023 and from 0 again
    int32_t bytes : 22; // that the phase that runs still expects

    // What orders accesses: what comes before the arrivals of one phase, before what follows the waits for it.
    uintptr_t flag(uint32_t phase) const { return uintptr_t(this) + phase % sizeof(Phases); }
};

struct Thread;

// A warp-level operation: once all lanes of a mask have arrived, `complete` turns what each lane brought into what it
// takes away.
struct WarpOperation {
    const char *name;
    void (*complete)(Thread *warp, Lanes lanes);
    bool orders_memory = false; // what the lanes did before it comes before what they do after it
    bool finds_active = false;  // its mask is found: the lanes that wait here once no other lane of the warp is ready
};

struct alignas(cache_line) Thread {
    Context context;
    uint3 index_in_block;
    unsigned index;
    unsigned char *stack_top;

    // While it waits in a warp-level operation:
    const WarpOperation *operation;
    Site site;
    Lanes mask;
    int source_lane;
    uint64_t value; // brought and taken away

    const Phases *awaited; // while it waits for one's phase

    unsigned grid_barriers; // passed, of blocks that take turns
};

// The order in which blocks, warps and lanes run, by number: 0 the first ones first, until they wait; 1 the last ones first;
// 2 as 0, and 3 as 1, but each gives way at every atomic function; from 4 on warps and lanes by chance, which give way at
// some of the atomic functions. Blocks do so in a launch of up to `most_mixed` threads, in which they take turns: in a
// larger one, each may wait for those before it.
struct Schedule {
    unsigned number;
    uint32_t random;

    EMULATOR_UNCOUNTED uint32_t next()
    {
        random ^= random << 13;
        random ^= random >> 17;
        return random ^= random << 5;
    }
    EMULATOR_UNCOUNTED unsigned choose(uint32_t ready)
    {
        if (number == 0 || number == 2)
            return first_of(ready);
        if (number < 4)
            return 31 - unsigned(__builtin_clz(ready));
        for (unsigned skipped = next() % count_of(ready); skipped != 0; --skipped)
            ready &= ready - 1;
        return first_of(ready);
    }
    // Of blocks that take turns.
    uint64_t block_at(uint64_t place, uint64_t blocks) const { return number % 2 == 0 ? place : blocks - 1 - place; }
    EMULATOR_UNCOUNTED bool gives_way() { return number >= 2 && (number < 4 || next() % 2 == 0); }
};

constexpr unsigned most_mixed = 2048;

inline Schedule schedule;

struct Launch;

struct Worker {
    // The fields that the next switch needs, side by side.
    Thread *current;        // null while no thread runs
    Thread *running_warp;   // its first thread
    Lanes ready_lanes;      // of the running warp, the current thread left out
    unsigned ready_warps;   // the running one left out
    Lanes waiting_lanes;    // of the running warp, in warp-level operations
    unsigned arrived;       // threads waiting at the barrier
    Site barrier;           // where they wait
    const void *barrier_call; // in the code: a function's barrier has one for each call of the function
    unsigned astray;        // threads waiting at other barriers
    Thread *first_astray;
    unsigned satisfied;     // those whose predicate holds
    unsigned outcome;       // how many there were at the barrier passed last
    unsigned block_threads;
    unsigned ended;         // threads that have ended

    Thread *at_grid;        // goes on once all blocks that take turns are at their barrier; null while this one is not
    unsigned grid_barriers; // the block has come to

    bool has_news; // a phase is over
    bool has_spinners; // some of the stalled warps' lanes wait in loops, and go on
    bool yields;       // the block has been left to others, in a loop
    unsigned stalled_warps;
    Lanes stalled[most_threads / lanes_of_a_warp]; // lanes that wait for a phase
    Lanes held[most_threads / lanes_of_a_warp];    // lanes that wait in warp-level operations, perhaps for those
    Lanes paused[most_threads / lanes_of_a_warp];  // lanes that were so when their warp was left

    Phases tiles[2 * lanes_of_a_warp];   // of several warps: those of n threads follow each other from most_threads / n on
    uint64_t of_warps[lanes_of_a_warp]; // what warps of these exchange

    uint64_t block_number; // in the grid
    uint3 block_index;
    long long clock; // of the block
    dim3 block_size;
    dim3 grid_size;

    const Launch *launch;
    bool is_cooperative; // the launch
    bool takes_turns;    // with other blocks
    dim3 cluster;        // its sides; of one block in a launch without clusters
    unsigned cluster_blocks;
    unsigned cluster_rank;
    Context scheduler;
    sigjmp_buf recovery; // where the signal handler goes on
    Failure failure; // none as long as the block runs
    char message[512];
    Lanes ended_lanes[most_threads / lanes_of_a_warp];
    Lanes astray_lanes[most_threads / lanes_of_a_warp]; // while some are astray
    uint64_t partial_block; // the launch's first block with a barrier that threads passed because others had ended
    Site partial_barrier;
    unsigned prepared_stacks;
    int fault_signal;
    void *fault_address; // null where the processor does not say
    uintptr_t fault_place; // behind the instruction; 0 where it is not known
    dim3 numbered; // the block size for which the threads have their index_in_block
    Thread threads[most_threads];

    unsigned lane_of(const Thread &thread) const { return thread.index % lanes_of_a_warp; }

    // The lanes that exist in the warp: the last warp of a block may have fewer.
    Lanes lanes_of(unsigned warp) const
    {
        const unsigned left = block_threads - warp * lanes_of_a_warp;
        return left >= lanes_of_a_warp ? all_lanes : only_lane(left) - 1;
    }

    Lanes live_lanes_of(unsigned warp) const { return lanes_of(warp) & ~ended_lanes[warp]; }

    unsigned all_warps() const { return ~0u >> (31 - (block_threads - 1) / lanes_of_a_warp); }
};

// With the largest pages there are, of 64 KiB, a stack and its guard take three.
static_assert(sizeof(Worker) + signal_stack_size + (3 * most_threads + 2) * size_t(64 * 1024) <= region_size,
              "a region holds a worker and its stacks");

// The worker on one of whose stacks this runs.
EMULATOR_APART Worker &this_worker()
{
    return *reinterpret_cast<Worker *>(stack_pointer() & ~uintptr_t(region_size - 1));
}

// A thread in messages: "thread 37", or "thread (5, 1, 0)" in a block of several dimensions.
struct ThreadName {
    char text[48];

    EMULATOR_COLD ThreadName(const Worker &worker, const Thread &thread)
    {
        const uint3 &at = thread.index_in_block;
        if (worker.block_size.y == 1 && worker.block_size.z == 1)
            snprintf(text, sizeof text, "thread %u", thread.index);
        else
            snprintf(text, sizeof text, "thread (%u, %u, %u)", at.x, at.y, at.z);
    }
};

// A mask of lanes in messages, by printf: 0x0000ffff.
#define EMULATOR_MASK "0x%08" PRIx32

// Gives up the block: the message becomes the launch's error.
__attribute__((noreturn, format(printf, 3, 4))) EMULATOR_COLD inline void fail(Worker &worker, Failure failure,
                                                                               const char *format, ...)
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

// As on a GPU, an access to an address that is no multiple of what its type needs ends the launch.
__attribute__((noreturn)) EMULATOR_COLD inline void fail_misaligned(Worker &worker, const char *type, size_t alignment,
                                                                    const Site &site)
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
    if (worker.ended != 0 && worker.block_number < worker.partial_block) {
        worker.partial_block = worker.block_number;
        worker.partial_barrier = worker.barrier;
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

EMULATOR_APART void let_others_run(Worker &worker, Thread *self)
{
    Thread *next = next_thread(worker);
    worker.current = next;
    switch_context(self->context, next->context);
}

// Waits until a phase is over, of whatever barrier.
EMULATOR_APART void wait_for_news(Worker &worker, const Phases &awaited, Site site)
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

// Waits until all threads of the block have arrived here or ended; returns for how many of those here `predicate` holds.
EMULATOR_APART unsigned wait_at_barrier(bool predicate, Site site, const void *call)
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

// Waits for all threads of the grid or the cluster: once those of the block are there, one of them leaves it to other
// blocks.
EMULATOR_APART void wait_for_blocks(bool are_grid, Site site, const void *call)
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

// An address in shared memory as it is in a block of the cluster.
EMULATOR_APART const void *map_shared(const void *address, unsigned rank, Site site)
{
    Worker &worker = this_worker();
    if (rank >= worker.cluster_blocks)
        fail(worker, Failure::other,
             "%s asks at %s:%d for the memory of block %u of a cluster of %u: the study's `cluster` says how many there "
             "are, here also for a kernel with __cluster_dims__",
             ThreadName(worker, *worker.current).text, site.file, site.line, rank, worker.cluster_blocks);
    return rank == worker.cluster_rank ? address : counting::shared_of(rank, address, site);
}

// Waits until all lanes of `mask` have arrived with the same operation and mask or have ended, then exchanges their
// values. Lanes that do not exist, in a block's last warp, may be named: the hardware counts them as ended.
EMULATOR_APART uint64_t exchange_in_warp(const WarpOperation &operation, Lanes mask, uint64_t value,
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

// A thread has come to its end: another one runs, or the block is done.
__attribute__((noreturn)) EMULATOR_APART void end_thread()
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
