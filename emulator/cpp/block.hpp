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

// turns.hpp defines the following, once for all kernels.

// Gives up the block: the message becomes the launch's error.
__attribute__((noreturn, format(printf, 3, 4))) void fail(Worker &worker, Failure failure, const char *format, ...);

// As on a GPU, an access to an address that is no multiple of what its type needs ends the launch.
__attribute__((noreturn)) void fail_misaligned(Worker &worker, const char *type, size_t alignment, const Site &site);

void let_others_run(Worker &worker, Thread *self);

// Waits until a phase is over, of whatever barrier.
void wait_for_news(Worker &worker, const Phases &awaited, Site site);

// Waits until all threads of the block have arrived here or ended; returns for how many of those here `predicate` holds.
unsigned wait_at_barrier(bool predicate, Site site, const void *call);

// Waits for all threads of the grid or the cluster: once those of the block are there, one of them leaves it to other
// blocks.
void wait_for_blocks(bool are_grid, Site site, const void *call);

// An address in shared memory as it is in a block of the cluster.
const void *map_shared(const void *address, unsigned rank, Site site);

// Waits until all lanes of `mask` have arrived with the same operation and mask or have ended, then exchanges their
// values. Lanes that do not exist, in a block's last warp, may be named: the hardware counts them as ended.
uint64_t exchange_in_warp(const WarpOperation &operation, Lanes mask, uint64_t value, int source_lane, Site site);

// A thread has come to its end: another one runs, or the block is done.
__attribute__((noreturn)) void end_thread();

} // namespace emulator
