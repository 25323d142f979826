// Launching a kernel: its blocks run one after another.
#pragma once

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

// Runs the blocks; a fault of theirs ends them.
EMULATOR_COLD inline void work(Worker &worker)
{
    stack_t previous;
    stack_t own = {};
    own.ss_sp = reinterpret_cast<unsigned char *>(&worker) + whole_pages(sizeof(Worker));
    own.ss_size = signal_stack_size;
    sigaltstack(&own, &previous);
    if (sigsetjmp(worker.recovery, 1) == 0)
        run_blocks(worker);
    else
        describe_fault(worker);
    sigaltstack(&previous, nullptr);
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
                                       void **arguments, char *message, size_t message_capacity)
{
    const Refusal refuse = {entry, message, message_capacity};
    for (unsigned side = 0; side < 3; ++side)
        if (block[side] < 1 || block[side] > largest_block[side])
            return refuse("a block of %zu threads in %c, where CUDA allows 1 to %zu", block[side], "xyz"[side],
                          largest_block[side]);
    const size_t threads = block[0] * block[1] * block[2];
    if (threads > most_threads)
        return refuse("a block of %zu threads, where CUDA allows at most %u", threads, most_threads);
    if (entry.bounds != 0 && threads > entry.bounds)
        return refuse("a block of %zu threads, where its __launch_bounds__ allows at most %zu", threads, entry.bounds);
    for (unsigned side = 0; side < 3; ++side)
        if (grid[side] < 1 || grid[side] > largest_grid[side])
            return refuse("a grid of %zu blocks in %c, where CUDA allows 1 to %zu", grid[side], "xyz"[side],
                          largest_grid[side]);
    const uint64_t blocks = uint64_t(grid[0]) * grid[1] * grid[2];
    if (shared_bytes > most_shared_bytes)
        return refuse("%zu bytes of dynamic shared memory, where at most %zu are possible", shared_bytes,
                      most_shared_bytes);

    if (!counting::prepare_launch(grid, block, shared_bytes))
        return refuse("no room to count the accesses of %zu blocks", size_t(blocks));
    Worker *const worker = ready_worker(unsigned(threads));
    if (worker == nullptr)
        return refuse("no room for the stacks of %zu threads: the limit of memory maps (vm.max_map_count) or of "
                      "address space (ulimit -v) is too low",
                      threads);

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
    install_fault_handlers();
    work(*worker);
    restore_fault_handlers();

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
