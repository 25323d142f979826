// A kernel that touches memory it must not, or overflows its stack, ends its launch with an error, not the process.
//
// The handlers are installed for the duration of a launch. They run on a stack of the worker's own, since the kernel's
// may be the one that is full, note what happened, and jump back to where the worker takes its next block.
//
// SIGUSR1 ends a launch that lasts too long, so that it says where its threads are, in a process that ignores the signal
// otherwise. It may come while a function of the system's runs, which must not be left: then nothing happens.
#pragma once

#include "block.hpp"

#include <signal.h>
#include <ucontext.h>

namespace emulator {

constexpr int fault_signals[] = {SIGUSR1, SIGSEGV, SIGBUS, SIGFPE};
constexpr unsigned fault_signal_count = sizeof fault_signals / sizeof fault_signals[0];

inline Worker *the_worker = nullptr; // of this library
inline struct sigaction previous_actions[fault_signal_count];

// Where the thread was that SIGUSR1 has ended, and the functions that had called there, the innermost first.
struct RunningPlaces {
    uintptr_t of[32];
    unsigned count;
};
inline RunningPlaces running_places;

// Addresses of code on a thread's stack: those of its callers, and perhaps some that were left there.
EMULATOR_UNCOUNTED inline void find_running_places(const Worker &worker, uintptr_t place)
{
    const unsigned char *const top = worker.current->stack_top;
    const uintptr_t local = uintptr_t(worker.fault_address);
    running_places.of[0] = place;
    running_places.count = 1;
    if (uintptr_t(top) - local > stack_size) // a switch to another thread is under way
        return;
    for (uintptr_t at = local; at < uintptr_t(top) && running_places.count < 32; at += sizeof at) {
        const uintptr_t word = *reinterpret_cast<const uintptr_t *>(at);
        if (counting::is_in_code(word))
            running_places.of[running_places.count++] = word;
    }
}

// Where a thread was, behind whose instruction; 0 on other processors.
EMULATOR_UNCOUNTED inline uintptr_t place_of_fault([[maybe_unused]] const void *context)
{
#if defined(__x86_64__)
    return uintptr_t(static_cast<const ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP]) + 1;
#elif defined(__aarch64__)
    return uintptr_t(static_cast<const ucontext_t *>(context)->uc_mcontext.pc) + 1;
#else
    return 0;
#endif
}

// The stack pointer of that thread; null on other processors.
EMULATOR_UNCOUNTED inline void *stack_of_fault([[maybe_unused]] const void *context)
{
#if defined(__x86_64__)
    return reinterpret_cast<void *>(static_cast<const ucontext_t *>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
    return reinterpret_cast<void *>(static_cast<const ucontext_t *>(context)->uc_mcontext.sp);
#else
    return nullptr;
#endif
}

EMULATOR_UNCOUNTED inline void on_fault(int signal, siginfo_t *information, void *context)
{
    // Any thread of the process may have faulted. Ours is on the signal stack of our region.
    Worker *const worker = the_worker;
    if (worker != nullptr && worker == &this_worker() && worker->current != nullptr) {
        // A positive code means that the processor reports the address; SI_KERNEL, that there is none to report.
        const bool has_address = information->si_code > 0 && information->si_code != SI_KERNEL;
        worker->fault_signal = signal;
        worker->fault_address = has_address ? information->si_addr : nullptr;
        worker->fault_place = place_of_fault(context);
        if (signal == SIGUSR1) {
            if (!counting::is_in_code(worker->fault_place))
                return;
            worker->fault_address = stack_of_fault(context);
            find_running_places(*worker, worker->fault_place);
        }
        siglongjmp(worker->recovery, 1);
    }
    if (signal == SIGUSR1)
        return;
    // This fault is not ours: restore the previous handler, which gets it when the instruction faults again.
    for (unsigned i = 0; i < fault_signal_count; ++i)
        if (fault_signals[i] == signal)
            sigaction(signal, &previous_actions[i], nullptr);
}

inline void install_fault_handlers()
{
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    running_places.count = 0;
    for (unsigned i = 0; i < fault_signal_count; ++i) {
        sigaction(fault_signals[i], nullptr, &previous_actions[i]);
        if (fault_signals[i] != SIGUSR1 || previous_actions[i].sa_handler == SIG_IGN)
            sigaction(fault_signals[i], &action, nullptr);
    }
}

inline void restore_fault_handlers()
{
    for (unsigned i = 0; i < fault_signal_count; ++i)
        sigaction(fault_signals[i], &previous_actions[i], nullptr);
}

// A launch lasts too long: how many of its threads wait where, and who runs.
EMULATOR_UNCOUNTED inline void describe_running(Worker &worker)
{
    const Thread *stalled = nullptr, *const warp = worker.running_warp;
    unsigned stalled_count = 0;
    for (unsigned rest = worker.stalled_warps; rest != 0; rest &= rest - 1) {
        const unsigned index = unsigned(__builtin_ctz(rest));
        stalled_count += count_of(worker.stalled[index]);
        if (stalled == nullptr && worker.stalled[index] != 0)
            stalled = &worker.threads[index * lanes_of_a_warp + first_of(worker.stalled[index])];
    }
    const struct {
        unsigned count;
        const char *where;
        const Site *site;
    } groups[] = {{worker.arrived, "at the barrier", &worker.barrier},
                  {worker.astray, "at the barrier", worker.astray == 0 ? nullptr : &worker.first_astray->site},
                  {stalled_count, "for others", stalled == nullptr ? nullptr : &stalled->site},
                  {count_of(worker.waiting_lanes), "for lanes of their warp",
                   worker.waiting_lanes == 0 ? nullptr : &warp[first_of(worker.waiting_lanes)].site}};
    size_t length = 0;
    const auto left = [&]() EMULATOR_UNCOUNTED { return length < sizeof worker.message ? sizeof worker.message - length : 0; };
    for (const auto &group : groups)
        if (group.count != 0 && group.site != nullptr && group.site->file == nullptr)
            length += size_t(snprintf(worker.message + length, left(), "%u of %u threads wait %s in a loop, ", group.count,
                                      worker.block_threads, group.where));
        else if (group.count != 0 && group.site != nullptr)
            length += size_t(snprintf(worker.message + length, left(), "%u of %u threads wait %s at %s:%d, ", group.count,
                                      worker.block_threads, group.where, group.site->file, group.site->line));
    if (worker.ended != 0)
        length += size_t(snprintf(worker.message + length, left(), "%u have ended, ", worker.ended));
    snprintf(worker.message + length, left(), "%s%s runs", length == 0 ? "" : "and ", ThreadName(worker, *worker.current).text);
    worker.failure = Failure::other;
    worker.current = nullptr;
}

// After a fault: its cause, as the launch's message.
inline void describe_fault(Worker &worker)
{
    if (worker.fault_signal == SIGUSR1)
        return describe_running(worker);
    const Thread &thread = *worker.current;
    const StackLayout layout = stack_layout(sizeof(Worker));
    const unsigned char *address = static_cast<unsigned char *>(worker.fault_address);
    const unsigned char *region = reinterpret_cast<unsigned char *>(&worker);
    const unsigned char *guard = region + layout.first + thread.index * layout.stride();
    const ThreadName name(worker, thread);
    char *text = worker.message;
    constexpr size_t capacity = sizeof worker.message;
    worker.failure = Failure::other;
    if (worker.fault_signal == SIGFPE)
        snprintf(text, capacity, "%s divided an integer by zero", name.text);
    else if (address >= guard && address < guard + layout.guard)
        snprintf(text, capacity,
                 "stack overflow in %s: more than %zu KiB of local memory (arrays and recursion)", name.text,
                 most_local_bytes / 1024);
    else { // Without the address, which is another in every run.
        worker.failure = Failure::illegal_access;
        snprintf(text, capacity,
                 address == nullptr ? "illegal memory access at a null or malformed address by %s"
                                    : "illegal memory access by %s, where there is no memory",
                 name.text);
    }
    worker.current = nullptr;
}

} // namespace emulator
