// Events that the emulator reports: a block's start and end, barriers, warp-level operations, fences, atomics.
#pragma once

#include "../stacks.hpp"

namespace emulator {
struct Site;
struct Worker;
}

namespace emulator::counting {

struct Resident;

// What follows from them is compiled once, with the runtime (on_events.hpp).
bool prepare_launch(const char *kernel, const size_t *grid_size, const size_t *block_size, size_t shared_bytes,
                    bool in_turns, bool is_programmatic);
void begin_steps(const char *kernel);
void start_block(Worker &worker, unsigned block, unsigned threads, Lanes existing_lanes);
void go_on_with_block(Worker &worker, unsigned block, unsigned warp, Lanes existing_lanes);
void end_block(); // or leave it at the barrier of blocks that take turns
void start_turns(Resident *cluster, unsigned blocks); // of some blocks
void pass_grid_barrier();
void pass_barrier(unsigned warps);
void observe_atomic(const void *address, size_t size, bool is_of_block, const void *caller, bool is_store = false);
void observe_word(const void *address, size_t size, bool is_store, const void *caller);
void observe_fence(bool is_of_device);
void observe_launch_wait();    // for the launch before
void observe_launch_trigger(); // of the launch after it

// A thread takes the value of a lane that takes no part in the shuffle, in place of its own. Returns what it gets.
uint64_t read_inactive_lane(unsigned thread, unsigned lane, const Site &site, uint64_t own);

// A thread waits at another barrier than others, as does its whole warp.
void note_other_barrier(unsigned thread, const Site &here, const Site &there);

// A thread has ended, and others of its block wait at a barrier.
void note_partial_barrier(unsigned thread, const Site &site);

// Asynchronous copies of a thread (copies.hpp): one of up to 16 bytes, of which the last `zeros` are not read but 0; all
// that it has started since the last commit become a group; all groups but the last ones land. A copy with a phase's flag
// is in no group: it lands with all others that have it. Bulk copies have groups of their own.
void start_copy(void *target, const void *source, size_t size, size_t zeros, const void *caller, uintptr_t flag,
                bool is_bulk = false);
void copy_at_once(void *target, const void *source, size_t size, const void *caller);
void commit_copies(bool are_bulk = false);
void wait_for_copies(size_t groups_on_their_way, bool are_bulk = false);
void observe_proxy_fence(bool of_shared, bool of_global); // before bulk copies
void land_copies(uintptr_t flag);

// A thread arrives at a barrier's phase, which has this flag; a thread has waited for it.
void release_at_phase(uintptr_t flag);
void learn_at_phase(uintptr_t flag);

bool is_shared(const void *address);
uint32_t shared_offset(const void *address); // from the start of shared memory, and back
void *shared_pointer(uint32_t offset);
const void *shared_of(unsigned rank, const void *address, const emulator::Site &site); // in another block of the cluster

// Whether a GPU copies between these addresses asynchronously: from global to shared memory.
bool copies_asynchronously(const void *target, const void *source);

// The running warp has no lane left that could go on.
void leave_warp(unsigned next, Lanes existing_lanes);

// Lanes have met in a warp-level operation; `alive` are the warp's lanes that have not ended.
void meet_in_warp(unsigned warp, Lanes lanes, Lanes alive, bool orders_memory);

// The lanes that were paused in mid-round, which go on now.
Lanes resume_paused_lanes();

// Whether lanes wait in loops for what others write; something has changed that they may wait for; whether their block can
// be left for others.
bool are_spinning(unsigned warp, Lanes lanes);
void note_change();
bool has_copies();

} // namespace emulator::counting
