// Launching a kernel: its blocks run one after another, or take turns in a cooperative launch, in a cluster, and where the
// schedule says so.
#pragma once

#include "counting/spins.hpp"
#include "entries.hpp"
#include "faults.hpp"
#include "turns.hpp"

#include <stdlib.h>

namespace emulator {

constexpr size_t largest_grid[] = {0x7fffffff, 65535, 65535};
constexpr size_t largest_block[] = {most_threads, most_threads, 64};
constexpr size_t most_shared_bytes = 227 * 1024; // of a block, on compute capability 9.0

inline uintptr_t fault_place;     // likewise

#if defined(__aarch64__)
using Instruction = uint32_t;
constexpr Instruction no_operation = 0xd503201f;
#else
using Instruction = unsigned char;
constexpr Instruction no_operation = 0x90;
#endif

// The places in front of kernels with __launch_bounds__ (cuda_words.hpp), which the linker collects.
extern "C" {
extern const Instruction *const __start___patchable_function_entries[] __attribute__((weak, visibility("hidden")));
extern const Instruction *const __stop___patchable_function_entries[] __attribute__((weak, visibility("hidden")));
}

// The most threads that a kernel's block may have by its __launch_bounds__; 0 where it has none.
EMULATOR_COLD inline size_t launch_bound_of(AnyFunction kernel)
{
    const Instruction *const entry = reinterpret_cast<const Instruction *>(kernel);
    for (auto place = __start___patchable_function_entries; place != __stop___patchable_function_entries; ++place) {
        const Instruction *next = *place;
        while (next < entry && *next == no_operation)
            ++next;
        if (next == entry)
            return size_t(entry - *place);
    }
    return 0;
}

// Stacks for a block of `threads`, or false where the system gives no more memory maps.
EMULATOR_COLD inline bool prepare_stacks(Worker &worker, unsigned threads)
{
    const StackLayout layout = stack_layout(sizeof(Worker));
    unsigned char *const region = reinterpret_cast<unsigned char *>(&worker);
    for (; worker.prepared_stacks < threads; ++worker.prepared_stacks) {
        const unsigned index = worker.prepared_stacks;
        unsigned char *const stack = region + layout.first + index * layout.stride() + layout.guard;
        if (mprotect(stack, layout.usable, PROT_READ | PROT_WRITE) != 0)
            return false;
        worker.threads[index].index = index;
        worker.threads[index].stack_top = stack + layout.usable - index % stack_colours * cache_line;
    }
    return true;
}

// Gives each thread its place in a block of that size, x fastest, then y.
EMULATOR_COLD inline void number_threads(Worker &worker, dim3 block)
{
    if (worker.numbered.x == block.x && worker.numbered.y == block.y && worker.numbered.z == block.z)
        return;
    worker.numbered = block;
    Thread *next = worker.threads;
    for (uint3 at = {0, 0, 0}; at.z < block.z; ++at.z)
        for (at.y = 0; at.y < block.y; ++at.y)
            for (at.x = 0; at.x < block.x; ++at.x)
                (next++)->index_in_block = at;
}

// The worker of this library, with stacks for a block of `threads`; null where the system has no room for them.
EMULATOR_COLD inline Worker *ready_worker(unsigned threads)
{
    if (the_worker == nullptr)
        the_worker = reinterpret_cast<Worker *>(map_region(stack_layout(sizeof(Worker)).first)); // zero pages are valid
    return the_worker != nullptr && prepare_stacks(*the_worker, threads) ? the_worker : nullptr;
}

inline void release_worker()
{
    if (the_worker != nullptr)
        munmap(the_worker, region_size);
    the_worker = nullptr;
}

// Runs the blocks of a launch in order, up to the first that fails.
EMULATOR_COLD inline void run_blocks(Worker &worker)
{
    const Launch &launch = *worker.launch;
    for (uint64_t block = 0; block < launch.blocks && worker.failure == Failure::none; ++block)
        run_block(worker, block, launch.entry->thread_main);
}

// Runs the block that the worker has, up to the next barrier of the blocks that take turns, or to its end.
EMULATOR_COLD inline void run_on(Worker &worker)
{
    if (worker.yields)
        resume_block(worker);
    else if (worker.at_grid != nullptr)
        go_on_with_block(worker);
    else
        run_block(worker, worker.block_number, worker.launch->entry->thread_main);
}

// Runs blocks; a fault of theirs ends them.
EMULATOR_COLD inline void work(Worker &worker, bool in_turns)
{
    stack_t previous;
    stack_t own = {};
    own.ss_sp = reinterpret_cast<unsigned char *>(&worker) + whole_pages(sizeof(Worker));
    own.ss_size = signal_stack_size;
    sigaltstack(&own, &previous);
    if (sigsetjmp(worker.recovery, 1) == 0)
        (in_turns ? run_on : run_blocks)(worker);
    else {
        describe_fault(worker);
        counting::end_block();
    }
    sigaltstack(&previous, nullptr);
}

using counting::Resident;

// A worker for one of the blocks that take turns, like the launch's own; null in it, or in one of the others, where there
// is no room.
EMULATOR_COLD inline Resident make_resident(const Worker &first, unsigned rank)
{
    the_worker = nullptr;
    const size_t shared_size = counting::spaces.shared_size;
    const Resident made = {ready_worker(first.block_threads), static_cast<unsigned char *>(calloc(shared_size, 1)),
                           counting::make_shadow(shared_size), nullptr, false, false, false, nullptr, 0};
    if (made.worker != nullptr) {
        made.worker->launch = first.launch;
        made.worker->is_cooperative = first.is_cooperative;
        made.worker->takes_turns = true;
        made.worker->cluster = first.cluster;
        made.worker->cluster_blocks = first.cluster_blocks;
        made.worker->cluster_rank = first.cluster_blocks == 1 ? 0 : rank;
        made.worker->block_threads = first.block_threads;
        made.worker->block_size = first.block_size;
        made.worker->grid_size = first.grid_size;
        number_threads(*made.worker, first.block_size);
    } else {
        release_worker();
    }
    return made;
}

// Has a block run on, and leaves in the launch's own worker what it has to tell.
EMULATOR_COLD inline void take_turn(Worker &first, Resident &block)
{
    Worker &worker = *(the_worker = block.worker);
    unsigned char *const shared = reinterpret_cast<unsigned char *>(counting::spaces.shared);
    counting::spaces.shared_shadow = &block.shadow;
    memcpy(shared, block.shared, counting::spaces.shared_size);
    if (worker.yields) {
        const unsigned warp = worker.current->index / lanes_of_a_warp;
        counting::go_on_after_spin(worker, unsigned(worker.block_number), warp, worker.lanes_of(warp), *block.order);
    }
    work(worker, true);
    if (worker.yields) {
        if (block.order == nullptr)
            block.order = static_cast<counting::KeptOrder *>(malloc(sizeof *block.order));
        counting::keep_order(*block.order);
    }
    memcpy(block.shared, shared, counting::spaces.shared_size);
    first.block_number = worker.block_number;
    first.failure = worker.failure;
    first.fault_place = worker.fault_place;
    memcpy(first.message, worker.message, sizeof first.message);
    block.waits = worker.at_grid != nullptr;
    block.has_ended = !block.waits && !worker.yields;
}

// The message of a block that has ended while others wait for it, or use its memory.
__attribute__((format(printf, 4, 5))) EMULATOR_COLD inline void fail_turns(Worker &first, const Resident &block,
                                                                           Failure failure, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(first.message, sizeof first.message, format, values);
    va_end(values);
    first.failure = failure;
    first.block_number = block.worker->block_number;
}

// Has blocks run up to the next barrier of all or to their ends; returns how many have ended. Those that wait for others in
// loops go on after these.
EMULATOR_COLD inline uint64_t run_to_barrier(Worker &first, Resident *blocks, uint64_t count)
{
    uint64_t ended = 0;
    for (uint64_t at = 0; at < count; ++at)
        blocks[at].is_visited = blocks[at].waits = false;
    for (bool yields = true; yields && first.failure == Failure::none;) {
        yields = false;
        for (uint64_t place = 0; place < count && first.failure == Failure::none; ++place) {
            Resident &block = blocks[schedule.block_at(place, count)];
            if (!block.has_ended && !block.waits) {
                take_turn(first, block);
                ended += block.has_ended;
                yields = yields || block.worker->yields;
            }
        }
    }
    return ended;
}

// Has blocks run to their ends, from barrier to barrier in turn.
EMULATOR_COLD inline void run_turns(Worker &first, Resident *blocks, uint64_t count)
{
    for (uint64_t ended = 0; ended != count && first.failure == Failure::none; counting::pass_grid_barrier()) {
        ended += run_to_barrier(first, blocks, count);
        for (uint64_t at = 0; at < count && first.failure == Failure::none && ended != 0; ++at) {
            const Resident &block = blocks[at];
            if (block.has_ended && block.is_visited)
                fail_turns(first, block, Failure::other,
                           "it may have ended when another block of its cluster uses its shared memory, which that one "
                           "asked for at %s:%d: no cluster.sync() comes between", block.mapped, block.mapped_line);
            else if (!block.has_ended && first.is_cooperative)
                fail_turns(first, block, Failure::barrier,
                           "waits for the grid at %s:%d, and %zu of %zu blocks have ended",
                           block.worker->at_grid->site.file, block.worker->at_grid->site.line, size_t(ended),
                           size_t(count));
        }
    }
}

// Runs a launch whose blocks all take turns, or one cluster after another; false where there is no room.
EMULATOR_COLD inline bool run_in_turns(Worker &first)
{
    const bool are_all = first.cluster_blocks == 1;
    const dim3 grid = first.grid_size, sides = are_all ? grid : first.cluster;
    const uint64_t count = uint64_t(sides.x) * sides.y * sides.z;
    const dim3 groups(grid.x / sides.x, grid.y / sides.y, grid.z / sides.z);
    Resident *const residents = static_cast<Resident *>(calloc(count, sizeof(Resident)));
    bool has_room = residents != nullptr;
    for (uint64_t rank = 0; rank < count && has_room; ++rank) {
        const Resident &made = residents[rank] = make_resident(first, unsigned(rank));
        has_room = made.worker != nullptr && made.shared != nullptr && made.shadow.cells != nullptr;
    }
    for (uint64_t group = 0; group < first.launch->blocks / count && has_room && first.failure == Failure::none; ++group) {
        const uint3 of = place_of_block(group, groups);
        counting::start_turns(residents, are_all ? 0 : unsigned(count));
        for (uint64_t rank = 0; rank < count; ++rank) {
            const uint3 at = place_of_block(rank, sides);
            residents[rank].has_ended = false;
            residents[rank].worker->at_grid = nullptr;
            residents[rank].worker->block_number =
                (uint64_t(of.z * sides.z + at.z) * grid.y + of.y * sides.y + at.y) * grid.x + of.x * sides.x + at.x;
        }
        run_turns(first, residents, count);
    }
    counting::spaces.cluster_blocks = 0;
    for (uint64_t rank = 0; residents != nullptr && rank < count; ++rank) {
        the_worker = residents[rank].worker;
        release_worker();
        free(residents[rank].shared);
        free(residents[rank].order);
        counting::release_shadow(residents[rank].shadow);
    }
    free(residents);
    counting::spaces.shared_shadow = &counting::spaces.own_shadow;
    the_worker = &first;
    return has_room;
}

// Why a launch cannot begin, as its message.
struct Refusal {
    const Entry &entry;
    char *message;
    size_t capacity;

    __attribute__((format(printf, 2, 3))) EMULATOR_COLD Failure operator()(const char *format, ...) const
    {
        va_list values;
        va_start(values, format);
        char reason[256];
        vsnprintf(reason, sizeof reason, format, values);
        va_end(values);
        snprintf(message, capacity, "%s: %s", entry.name, reason);
        return Failure::other;
    }
};

EMULATOR_COLD inline Failure launch_kernel(const Entry &entry, const size_t *grid, const size_t *block,
                                           const size_t *cluster, size_t shared_bytes, bool is_cooperative,
                                           bool is_programmatic, void **arguments, char *message,
                                           size_t message_capacity)
{
    const Refusal refuse = {entry, message, message_capacity};
    for (unsigned side = 0; side < 3; ++side)
        if (block[side] < 1 || block[side] > largest_block[side])
            return refuse("a block of %zu threads in %c, where CUDA allows 1 to %zu", block[side], "xyz"[side],
                          largest_block[side]);
    const size_t threads = block[0] * block[1] * block[2];
    if (threads > most_threads)
        return refuse("a block of %zu threads, where CUDA allows at most %u", threads, most_threads);
    const size_t bound = launch_bound_of(entry.kernel);
    if (bound != 0 && threads > bound)
        return refuse("a block of %zu threads, where the kernel's __launch_bounds__ allows %zu", threads, bound);
    for (unsigned side = 0; side < 3; ++side)
        if (grid[side] < 1 || grid[side] > largest_grid[side])
            return refuse("a grid of %zu blocks in %c, where CUDA allows 1 to %zu", grid[side], "xyz"[side],
                          largest_grid[side]);
    const uint64_t blocks = uint64_t(grid[0]) * grid[1] * grid[2];
    if (shared_bytes > most_shared_bytes)
        return refuse("%zu bytes of dynamic shared memory, where at most %zu are possible", shared_bytes,
                      most_shared_bytes);

    const bool is_mixed = schedule.number != 0 && !is_programmatic && blocks > 1 && blocks * threads <= most_mixed;
    const bool in_turns = is_cooperative || is_mixed || cluster[0] * cluster[1] * cluster[2] > 1;
    if (is_cooperative && cluster[0] * cluster[1] * cluster[2] > 1) {
        refuse("a cooperative launch of clusters, which the emulator does not supply");
        return Failure::not_supplied;
    }
    counting::begin_steps(entry.name);
    if (!counting::prepare_launch(entry.name, grid, block, shared_bytes, in_turns, is_programmatic))
        return refuse("no room to count the accesses of %zu blocks", size_t(blocks));
    const auto refuse_stacks = [&](size_t count) {
        return refuse("no room for the stacks of %zu threads: the limit of memory maps (vm.max_map_count) or of "
                      "address space (ulimit -v) is too low",
                      count);
    };
    Worker *const worker = ready_worker(unsigned(threads));
    if (worker == nullptr)
        return refuse_stacks(threads);

    const auto sides = [](const size_t *size) { return dim3(unsigned(size[0]), unsigned(size[1]), unsigned(size[2])); };
    const dim3 block_size = sides(block);
    const dim3 grid_size = sides(grid);
    schedule.random = 0x9e3779b9u * (schedule.number + 1);
    const Launch launch = {&entry, arguments, blocks};
    worker->launch = &launch;
    worker->block_threads = unsigned(threads);
    worker->block_size = block_size;
    worker->grid_size = grid_size;
    number_threads(*worker, block_size);
    worker->failure = Failure::none;
    worker->fault_address = nullptr;
    worker->fault_place = 0;
    worker->is_cooperative = is_cooperative;
    worker->takes_turns = in_turns;
    worker->cluster = is_cooperative ? dim3() : sides(cluster);
    worker->cluster_blocks = worker->cluster.x * worker->cluster.y * worker->cluster.z;
    install_fault_handlers();
    const bool has_room = !in_turns || run_in_turns(*worker);
    if (!in_turns)
        work(*worker, false);
    restore_fault_handlers();
    if (!has_room)
        return refuse_stacks(blocks * threads);

    fault_place = worker->fault_place;
    if (worker->failure == Failure::none)
        return Failure::none;
    const uint3 at = place_of_block(worker->block_number, grid_size);
    if (grid_size.y == 1 && grid_size.z == 1)
        snprintf(message, message_capacity, "%s: block %u: %s", entry.name, at.x, worker->message);
    else
        snprintf(message, message_capacity, "%s: block (%u, %u, %u): %s", entry.name, at.x, at.y, at.z, worker->message);
    return worker->failure;
}

} // namespace emulator
