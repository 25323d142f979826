// Launching a kernel: its blocks run one after another, or take turns in a cooperative launch.
#pragma once

#include "counting/races.hpp"
#include "entries.hpp"
#include "faults.hpp"

#include <stdlib.h>

namespace emulator {

constexpr size_t largest_grid[] = {0x7fffffff, 65535, 65535};
constexpr size_t largest_block[] = {most_threads, most_threads, 64};
constexpr size_t most_shared_bytes = 227 * 1024; // of a block, on compute capability 9.0

inline char partial_barrier[512]; // of the last launch

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
    for (uint64_t block = 0; block < launch.blocks && !worker.failed; ++block)
        run_block(worker, block, launch.entry->thread_main);
}

// Runs the block that the worker of a cooperative launch has, up to the grid's next barrier or its end.
EMULATOR_COLD inline void run_on(Worker &worker)
{
    if (worker.at_grid != nullptr)
        go_on_with_block(worker);
    else
        run_block(worker, worker.block_number, worker.launch->entry->thread_main);
}

// Runs blocks; a fault of theirs ends them.
EMULATOR_COLD inline void work(Worker &worker)
{
    stack_t previous;
    stack_t own = {};
    own.ss_sp = reinterpret_cast<unsigned char *>(&worker) + whole_pages(sizeof(Worker));
    own.ss_size = signal_stack_size;
    sigaltstack(&own, &previous);
    if (sigsetjmp(worker.recovery, 1) == 0)
        (worker.is_cooperative ? run_on : run_blocks)(worker);
    else
        describe_fault(worker);
    sigaltstack(&previous, nullptr);
}

// A block of a cooperative launch: its worker, its contents of shared memory, and what is remembered of these.
struct Resident {
    Worker *worker;
    unsigned char *shared;
    counting::Cell *cells;
};

// A worker for a block, like the launch's own; null in it, or in one of the others, where there is no room.
EMULATOR_COLD inline Resident make_resident(const Worker &first, uint64_t block)
{
    the_worker = nullptr;
    const size_t shared_size = counting::spaces.shared_size;
    const Resident made = {ready_worker(first.block_threads), static_cast<unsigned char *>(calloc(shared_size, 1)),
                           counting::make_cells(shared_size)};
    if (made.worker != nullptr) {
        made.worker->launch = first.launch;
        made.worker->is_cooperative = true;
        made.worker->block_threads = first.block_threads;
        made.worker->block_size = first.block_size;
        made.worker->grid_size = first.grid_size;
        made.worker->block_number = block;
        made.worker->partial_block = first.partial_block;
        number_threads(*made.worker, first.block_size);
    } else {
        release_worker();
    }
    return made;
}

// Has a block run on, and leaves in the launch's own worker what it has to tell. Whether it waits for the grid.
EMULATOR_COLD inline bool take_turn(Worker &first, const Resident &block)
{
    Worker &worker = *(the_worker = block.worker);
    unsigned char *const shared = reinterpret_cast<unsigned char *>(counting::spaces.shared);
    counting::spaces.shared_cells = block.cells;
    memcpy(shared, block.shared, counting::spaces.shared_size);
    work(worker);
    memcpy(block.shared, shared, counting::spaces.shared_size);
    first.block_number = worker.block_number;
    first.failed = worker.failed;
    memcpy(first.message, worker.message, sizeof first.message);
    if (worker.partial_block < first.partial_block) {
        first.partial_block = worker.partial_block;
        first.partial_barrier = worker.partial_barrier;
    }
    return worker.at_grid != nullptr;
}

// Has the blocks of a cooperative launch take turns at the grid's barrier; false where there is no room for them.
EMULATOR_COLD inline bool run_cooperatively(Worker &first)
{
    const uint64_t blocks = first.launch->blocks;
    counting::Cell *const own_cells = counting::spaces.shared_cells;
    Resident *const residents = static_cast<Resident *>(calloc(blocks, sizeof(Resident)));
    bool has_room = residents != nullptr;
    for (uint64_t block = 0; block < blocks && has_room; ++block) {
        const Resident &made = residents[block] = make_resident(first, block);
        has_room = made.worker != nullptr && made.shared != nullptr && made.cells != nullptr;
    }
    for (uint64_t waiting = has_room; waiting != 0 && !first.failed; counting::pass_grid_barrier()) {
        const Worker *at_grid = nullptr;
        waiting = 0;
        for (uint64_t block = 0; block < blocks && !first.failed; ++block)
            if (take_turn(first, residents[block])) {
                at_grid = residents[block].worker;
                ++waiting;
            }
        if (waiting == 0 || waiting == blocks || first.failed)
            continue;
        first.failed = true;
        first.block_number = at_grid->block_number;
        snprintf(first.message, sizeof first.message, "waits for the grid at %s:%d, and %zu of %zu blocks have ended",
                 at_grid->at_grid->site.file, at_grid->at_grid->site.line, size_t(blocks - waiting), size_t(blocks));
    }
    for (uint64_t block = 0; residents != nullptr && block < blocks; ++block) {
        the_worker = residents[block].worker;
        release_worker();
        free(residents[block].shared);
        if (residents[block].cells != nullptr)
            counting::release_cells(residents[block].cells, counting::spaces.shared_size);
    }
    free(residents);
    counting::spaces.shared_cells = own_cells;
    the_worker = &first;
    return has_room;
}

// Why a launch cannot begin, as its message.
struct Refusal {
    const Entry &entry;
    char *message;
    size_t capacity;

    __attribute__((format(printf, 2, 3))) EMULATOR_COLD int operator()(const char *format, ...) const
    {
        va_list values;
        va_start(values, format);
        char reason[256];
        vsnprintf(reason, sizeof reason, format, values);
        va_end(values);
        snprintf(message, capacity, "%s: %s", entry.name, reason);
        return 1;
    }
};

EMULATOR_COLD inline int launch_kernel(const Entry &entry, const size_t *grid, const size_t *block, size_t shared_bytes,
                                       bool is_cooperative, void **arguments, char *message, size_t message_capacity)
{
    const Refusal refuse = {entry, message, message_capacity};
    for (unsigned side = 0; side < 3; ++side)
        if (block[side] < 1 || block[side] > largest_block[side])
            return refuse("a block of %zu threads in %c, where CUDA allows 1 to %zu", block[side], "xyz"[side],
                          largest_block[side]);
    const size_t threads = block[0] * block[1] * block[2];
    if (threads > most_threads)
        return refuse("a block of %zu threads, where CUDA allows at most %u", threads, most_threads);
    for (unsigned side = 0; side < 3; ++side)
        if (grid[side] < 1 || grid[side] > largest_grid[side])
            return refuse("a grid of %zu blocks in %c, where CUDA allows 1 to %zu", grid[side], "xyz"[side],
                          largest_grid[side]);
    const uint64_t blocks = uint64_t(grid[0]) * grid[1] * grid[2];
    if (shared_bytes > most_shared_bytes)
        return refuse("%zu bytes of dynamic shared memory, where at most %zu are possible", shared_bytes,
                      most_shared_bytes);

    if (!counting::prepare_launch(grid, block, shared_bytes, is_cooperative))
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
    const Launch launch = {&entry, arguments, blocks};
    worker->launch = &launch;
    worker->block_threads = unsigned(threads);
    worker->block_size = block_size;
    worker->grid_size = grid_size;
    number_threads(*worker, block_size);
    worker->failed = false;
    worker->fault_address = nullptr;
    worker->partial_block = blocks;
    worker->is_cooperative = false;
    install_fault_handlers();
    const bool has_room = !is_cooperative || run_cooperatively(*worker);
    if (!is_cooperative)
        work(*worker);
    restore_fault_handlers();
    if (!has_room)
        return refuse_stacks(blocks * threads);

    partial_barrier[0] = 0;
    if (worker->partial_block != blocks)
        snprintf(partial_barrier, sizeof partial_barrier, "%s:%d", worker->partial_barrier.file,
                 worker->partial_barrier.line);
    if (!worker->failed)
        return 0;
    const uint3 at = place_of_block(worker->block_number, grid_size);
    if (grid_size.y == 1 && grid_size.z == 1)
        snprintf(message, message_capacity, "%s: block %u: %s", entry.name, at.x, worker->message);
    else
        snprintf(message, message_capacity, "%s: block (%u, %u, %u): %s", entry.name, at.x, at.y, at.z, worker->message);
    return 1;
}

} // namespace emulator
