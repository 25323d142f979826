// A kernel that touches memory it must not, or overflows its stack, ends its launch with an error, not the process.
//
// The handlers are installed for the duration of a launch. They run on a stack of the worker's own, since the kernel's
// may be the one that is full, note what happened, and jump back to where the worker takes its next block.
#pragma once

#include "block.hpp"

#include <signal.h>
#include <ucontext.h>

namespace emulator {

constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE};
constexpr unsigned fault_signal_count = sizeof fault_signals / sizeof fault_signals[0];

inline Worker *the_worker = nullptr; // of this library
inline struct sigaction previous_actions[fault_signal_count];

// Where a thread was, behind whose instruction; 0 on other processors.
inline uintptr_t place_of_fault([[maybe_unused]] const void *context)
{
#if defined(__x86_64__)
    return uintptr_t(static_cast<const ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP]) + 1;
#elif defined(__aarch64__)
    return uintptr_t(static_cast<const ucontext_t *>(context)->uc_mcontext.pc) + 1;
#else
    return 0;
#endif
}

inline void on_fault(int signal, siginfo_t *information, void *context)
{
    // Any thread of the process may have faulted. Ours is on the signal stack of our region.
    Worker *const worker = the_worker;
    if (worker != nullptr && worker == &this_worker() && worker->current != nullptr) {
        // A positive code means that the processor reports the address; SI_KERNEL, that there is none to report.
        const bool has_address = information->si_code > 0 && information->si_code != SI_KERNEL;
        worker->fault_signal = signal;
        worker->fault_address = has_address ? information->si_addr : nullptr;
        worker->fault_place = place_of_fault(context);
        siglongjmp(worker->recovery, 1);
    }
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
    for (unsigned i = 0; i < fault_signal_count; ++i)
        sigaction(fault_signals[i], &action, &previous_actions[i]);
}

inline void restore_fault_handlers()
{
    for (unsigned i = 0; i < fault_signal_count; ++i)
        sigaction(fault_signals[i], &previous_actions[i], nullptr);
}

// After a fault: its cause, as the launch's message.
inline void describe_fault(Worker &worker)
{
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
