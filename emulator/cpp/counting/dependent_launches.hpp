// Programmatic dependent launches: what of the launches before it comes before what a thread does.
//
// Such a launch may begin once each block of the launch before it, its prerequisite, has triggered: has called
// cudaTriggerProgrammaticLaunchCompletion() in one of its threads, or has ended. What the prerequisite wrote is visible
// after cudaGridDependencySynchronize() alone, which returns once it has ended. So, if `later` is such a launch:
//
// - after a thread's wait, or what that one orders after it, all accesses of the prerequisite come before. So do those of
//   the launches that had ended before the prerequisite has; of one that never waits, no more than when it began;
// - before the wait, only launches are over that were when the prerequisite's blocks triggered;
// - a read comes before all that follows its block's trigger, also without a wait, since its value is there already.
//
// Any other launch begins once all before it have ended. Launches farther apart than `most_launches` are ordered.
#pragma once

#include "ordering.hpp"

namespace emulator::counting {

constexpr unsigned most_launches = 64;

// What is remembered of a launch. In a set of launches, bit k is the one k + 1 before it.
struct LaunchRecord {
    uint32_t first_run; // of its blocks
    uint32_t threads;   // of a block
    uint32_t grid[3];
    uint32_t block_size[3];
    const char *kernel;
    uint64_t over_at_start;
    uint64_t over_after_wait;
    bool waits;                // whether some thread has waited
    bool triggers_after_wait;  // whether some block has triggered only after a wait
    // A row a block: the moment up to which each thread's reads, each warp's and all come before its triggers, and
    // whether it has any. Null while no block has.
    uint32_t *triggers;
    size_t triggers_bytes;
};

struct DependentLaunches {
    LaunchRecord records[most_launches];
    unsigned count;        // of all launches
    bool is_dependent;     // the running one
    bool all_have_waited;  // of the block
    uint32_t waiters[most_threads];
    uint32_t waited[most_threads]; // moments; 0: not
    unsigned waiter_count;
    bool has_triggered; // the block
    bool has_triggered_early;
};

inline DependentLaunches launches;

EMULATOR_UNCOUNTED inline LaunchRecord &launch_before(unsigned distance)
{
    return launches.records[(launches.count - 1 - distance) % most_launches];
}

EMULATOR_UNCOUNTED inline size_t row_length(const LaunchRecord &record)
{
    return record.threads + (record.threads + lanes_of_a_warp - 1) / lanes_of_a_warp + 2;
}

// Begins a launch whose blocks' runs begin with the ordering's.
EMULATOR_COLD inline void record_launch(bool is_programmatic, const uint32_t *grid, const uint32_t *block_size,
                                        const char *kernel)
{
    LaunchRecord &record = launches.records[launches.count % most_launches];
    if (record.triggers != nullptr)
        munmap(record.triggers, record.triggers_bytes);
    record = {ordering.first_run, block_size[0] * block_size[1] * block_size[2], {}, {}, kernel, ~uint64_t(0),
              ~uint64_t(0), false, false, nullptr, 0};
    for (unsigned side = 0; side < 3; ++side) {
        record.grid[side] = grid[side];
        record.block_size[side] = block_size[side];
    }
    launches.is_dependent = is_programmatic && launches.count != 0;
    ordering.first_open_run = ordering.first_run;
    ++launches.count;
    if (!launches.is_dependent)
        return;
    const LaunchRecord &before = launch_before(1);
    const uint64_t at_end = before.over_at_start | (before.waits ? before.over_after_wait : 0);
    const uint64_t at_triggers = before.over_at_start | (before.triggers_after_wait ? before.over_after_wait : 0);
    const uint64_t too_far = launches.count > most_launches ? uint64_t(1) << (most_launches - 1)
                                                            : ~uint64_t(0) << (launches.count - 1);
    record.over_at_start = at_triggers << 1 | too_far;
    record.over_after_wait = at_end << 1 | too_far | 1;
    const unsigned first = most_launches - 1 - unsigned(__builtin_clzll(~record.over_at_start));
    ordering.first_open_run = launch_before(first + 1).first_run;
}

EMULATOR_UNCOUNTED inline void forget_launches()
{
    launches.count = 0;
    launches.is_dependent = false;
}

EMULATOR_UNCOUNTED inline void forget_waits(bool all_have_waited)
{
    for (unsigned i = 0; i < launches.waiter_count; ++i)
        launches.waited[launches.waiters[i]] = 0;
    launches.waiter_count = 0;
    launches.all_have_waited = all_have_waited;
    launches.has_triggered = launches.has_triggered_early = false;
}

// Whether a thread's accesses come after a wait: its own, or another one's with a synchronisation in between.
EMULATOR_UNCOUNTED inline bool has_waited(unsigned thread)
{
    if (launches.all_have_waited || launches.waited[thread] != 0)
        return true;
    for (unsigned i = 0; i < launches.waiter_count; ++i)
        if (is_ordered(launches.waiters[i], launches.waited[launches.waiters[i]], thread))
            return true;
    return ordering.learned_count != 0 && launch_before(0).waits; // from blocks that may have waited
}

EMULATOR_UNCOUNTED inline void pass_wait(unsigned thread)
{
    launch_before(0).waits = true;
    if (launches.waited[thread] != 0)
        return;
    launches.waited[thread] = ordering.moment;
    launches.waiters[launches.waiter_count++] = thread;
}

EMULATOR_UNCOUNTED inline void pass_trigger(unsigned thread)
{
    LaunchRecord &record = launch_before(0);
    launches.has_triggered = true;
    launches.has_triggered_early |= !has_waited(thread);
    const size_t length = row_length(record);
    if (record.triggers == nullptr) {
        record.triggers_bytes = length * sizeof(uint32_t) * record.grid[0] * record.grid[1] * record.grid[2];
        void *const memory = mmap(nullptr, record.triggers_bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return; // Its reads are taken to come before.
        record.triggers = static_cast<uint32_t *>(memory);
    }
    uint32_t *const row = record.triggers + length * requests.block;
    row[thread] = advance();
    row[record.threads + thread / lanes_of_a_warp] = ordering.warps[thread / lanes_of_a_warp].ordered;
    row[length - 2] = ordering.block_ordered;
    row[length - 1] = true;
}

// A block has ended, or waits for the others of its launch.
EMULATOR_UNCOUNTED inline void note_triggers()
{
    const bool is_after_wait = launches.has_triggered ? !launches.has_triggered_early : launches.waiter_count != 0;
    LaunchRecord &record = launch_before(0);
    record.triggers_after_wait |= is_after_wait || (ordering.in_turns && record.waits);
}

// How many launches before the running one a run was.
EMULATOR_UNCOUNTED inline unsigned distance_of(uint32_t run)
{
    unsigned distance = 0;
    while (run < launch_before(distance).first_run && distance + 1 < launches.count && distance + 1 < most_launches)
        ++distance;
    return distance;
}

// Whether an access of an earlier launch, not before ordering.first_open_run, comes before what a thread does now.
EMULATOR_COLD inline bool is_of_earlier_launch_over(uint32_t run, unsigned earlier, uint32_t moment, bool is_read,
                                                    unsigned thread)
{
    const unsigned distance = distance_of(run);
    const LaunchRecord &now = launch_before(0), &then = launch_before(distance);
    const uint64_t bit = uint64_t(1) << (distance - 1);
    if ((now.over_at_start & bit) != 0 || ((now.over_after_wait & bit) != 0 && has_waited(thread)))
        return true;
    if (!is_read)
        return false;
    const size_t length = row_length(then);
    const uint32_t *const row = then.triggers + length * (run - then.first_run);
    return then.triggers == nullptr || row[length - 1] == 0 || moment <= row[earlier] ||
           moment <= row[then.threads + earlier / lanes_of_a_warp] || moment <= row[length - 2];
}

} // namespace emulator::counting
