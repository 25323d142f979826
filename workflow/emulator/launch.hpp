// Launching a kernel: blocks are dealt to workers, one on each core.
#pragma once

#include "entries.hpp"
#include "faults.hpp"

#include <pthread.h>
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

EMULATOR_COLD inline Worker *create_worker()
{
    const StackLayout layout = stack_layout(sizeof(Worker));
    unsigned char *region = map_region(layout.first);
    if (region == nullptr)
        return nullptr;
    Worker *worker = reinterpret_cast<Worker *>(region); // zero pages are a valid worker without stacks
    worker->next = all_workers;
    all_workers = worker;
    return worker;
}

inline void release_workers()
{
    while (Worker *worker = all_workers) {
        all_workers = worker->next;
        munmap(worker, region_size);
    }
}

// A stack and its guard are two memory maps. A process may have a limited number of maps; stacks may use half of them.
EMULATOR_COLD inline unsigned most_workers(unsigned block)
{
    long maps = 65530; // Linux's default
    if (FILE *file = fopen("/proc/sys/vm/max_map_count", "r")) {
        if (fscanf(file, "%ld", &maps) != 1)
            maps = 65530;
        fclose(file);
    }
    const long workers = maps / 2 / long(2 * block + 8);
    return workers < 1 ? 1 : unsigned(workers);
}

// What a worker has to say at the end of its share of a launch.
EMULATOR_COLD inline void report(Launch &launch, const Worker &worker)
{
    pthread_mutex_lock(&launch.lock);
    if (worker.failed && worker.block_number < launch.failed_block) {
        launch.failed_block = worker.block_number;
        memcpy(launch.message, worker.message, sizeof launch.message);
    }
    if (worker.partial_block < launch.partial_block) {
        launch.partial_block = worker.partial_block;
        launch.partial_barrier = worker.partial_barrier;
    }
    pthread_mutex_unlock(&launch.lock);
}

EMULATOR_COLD inline void run_blocks(Worker &worker)
{
    Launch &launch = *worker.launch;
    // Blocks are taken in order and always finished, so of the blocks that fail, the lowest is known whatever the
    // number of workers.
    while (__atomic_load_n(&launch.failed_block, __ATOMIC_RELAXED) == launch.blocks) {
        const uint64_t block = __atomic_fetch_add(&launch.next_block, uint64_t(1), __ATOMIC_RELAXED);
        if (block >= launch.blocks)
            return;
        run_block(worker, block, launch.entry->thread_main);
        if (worker.failed)
            return;
    }
}

// Runs a worker's share of a launch, on the stack of its operating-system thread.
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
    report(*worker.launch, worker);
    sigaltstack(&previous, nullptr);
}

inline void *work_on_thread(void *worker)
{
    work(*static_cast<Worker *>(worker));
    return nullptr;
}

// Up to `wanted` workers with stacks for a block, as a list; fewer where the system has no room for more.
EMULATOR_COLD inline unsigned find_workers(unsigned wanted, unsigned block)
{
    unsigned ready = 0;
    for (Worker *worker = all_workers; worker != nullptr && ready < wanted; worker = worker->next)
        ready += prepare_stacks(*worker, block);
    while (ready < wanted) {
        Worker *worker = create_worker();
        if (worker == nullptr || !prepare_stacks(*worker, block))
            break;
        ++ready;
    }
    return ready;
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
                                       void **arguments, unsigned workers, char *message, size_t message_capacity)
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
    unsigned wanted = most_workers(unsigned(threads));
    wanted = counting::most_workers < wanted ? counting::most_workers : wanted;
    wanted = workers < wanted ? workers : wanted;
    wanted = blocks < wanted ? unsigned(blocks) : wanted;
    const unsigned ready = find_workers(wanted < 1 ? 1 : wanted, unsigned(threads));
    if (ready == 0)
        return refuse("no room for the stacks of %zu threads: the limit of memory maps (vm.max_map_count) or of "
                      "address space (ulimit -v) is too low",
                      threads);

    const auto sides = [](const size_t *size) { return dim3(unsigned(size[0]), unsigned(size[1]), unsigned(size[2])); };
    const dim3 block_size = sides(block);
    const dim3 grid_size = sides(grid);
    Launch launch = {&entry, arguments, blocks, 0, blocks, {}, blocks, {}, PTHREAD_MUTEX_INITIALIZER};
    install_fault_handlers();
    Worker *own = nullptr; // the calling thread works too
    unsigned assigned = 0;
    for (Worker *worker = all_workers; assigned < ready; worker = worker->next) {
        if (worker->prepared_stacks < threads)
            continue;
        ++assigned;
        worker->launch = &launch;
        worker->block_threads = unsigned(threads);
        worker->block_size = block_size;
        worker->grid_size = grid_size;
        number_threads(*worker, block_size);
        worker->failed = false;
        worker->fault_address = nullptr;
        worker->partial_block = blocks;
        worker->on_thread = assigned < ready && pthread_create(&worker->thread, nullptr, work_on_thread, worker) == 0;
        own = worker;
    }
    work(*own);
    for (Worker *worker = all_workers; worker != nullptr; worker = worker->next) {
        if (worker->on_thread)
            pthread_join(worker->thread, nullptr);
        worker->on_thread = false;
    }
    restore_fault_handlers();

    partial_barrier[0] = 0;
    if (launch.partial_block != blocks)
        snprintf(partial_barrier, sizeof partial_barrier, "%s:%d", launch.partial_barrier.file,
                 launch.partial_barrier.line);
    if (launch.failed_block == launch.blocks)
        return 0;
    const uint3 at = place_of_block(launch.failed_block, grid_size);
    if (grid_size.y == 1 && grid_size.z == 1)
        snprintf(message, message_capacity, "%s: block %u: %s", entry.name, at.x, launch.message);
    else
        snprintf(message, message_capacity, "%s: block (%u, %u, %u): %s", entry.name, at.x, at.y, at.z, launch.message);
    return 1;
}

} // namespace emulator
