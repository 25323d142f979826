// A thread of a block is a coroutine: the means to leave one and continue another.
//
// The switch is inlined where a kernel waits. Every register but the stack and frame pointers is listed as overwritten,
// so the compiler saves exactly the values that are live there, usually two or three, and the switch costs a few
// stores, a few loads and one well-predicted jump. Nothing is pushed, so a red zone below the stack pointer stays
// intact.
// (Shadow stacks do not know about such a jump; compile with -fcf-protection=none.)
#pragma once

#include <stddef.h>
#include <stdint.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

// Kept out of the kernels, whose accesses are watched by -fsanitize, so that the emulator's own are not.
#define EMULATOR_UNWATCHED no_sanitize("thread,alignment,bounds,bounds-strict")
#define EMULATOR_APART __attribute__((noinline, unused, EMULATOR_UNWATCHED)) inline
#define EMULATOR_COLD __attribute__((noinline, cold, EMULATOR_UNWATCHED))
#define EMULATOR_UNCOUNTED __attribute__((EMULATOR_UNWATCHED))
#define EMULATOR_UNCOUNTED_INLINE __attribute__((always_inline, EMULATOR_UNWATCHED)) inline

namespace emulator {

#if defined(__x86_64__) || defined(__aarch64__)

// Where a coroutine goes on.
struct Context {
    void *stack_pointer;
    void *resume_at;
    void *frame_pointer;
};

// Makes the next switch to `context` enter `main`, which must never return, on the stack that ends below `stack_top`.
inline void prepare(Context &context, unsigned char *stack_top, void (*main)())
{
    uintptr_t top = uintptr_t(stack_top) & ~uintptr_t(15);
#if defined(__x86_64__)
    top -= 8; // a function expects to be entered by a call, which has pushed a return address
    *reinterpret_cast<void **>(top) = nullptr;
#endif
    context = {reinterpret_cast<void *>(top), reinterpret_cast<void *>(main), nullptr};
}

#else

// Other processors: the C library's contexts, slow but right.
struct Context {
    ucontext_t state;
};

inline void prepare(Context &context, unsigned char *stack_top, void (*main)())
{
    constexpr size_t least_stack = 64 * 1024;
    getcontext(&context.state);
    context.state.uc_stack.ss_sp = stack_top - least_stack;
    context.state.uc_stack.ss_size = least_stack;
    context.state.uc_link = nullptr;
    makecontext(&context.state, main, 0);
}

#endif

#if defined(__x86_64__)

EMULATOR_APART uintptr_t stack_pointer()
{
    uintptr_t value;
    asm("movq %%rsp, %0" : "=r"(value));
    return value;
}

EMULATOR_APART void switch_context(Context &from, const Context &to)
{
    Context *leave = &from;
    const Context *enter = &to;
    asm volatile("leaq 1f(%%rip), %%rax\n\t"
                 "movq %%rsp, 0(%0)\n\t"
                 "movq %%rax, 8(%0)\n\t"
                 "movq %%rbp, 16(%0)\n\t"
                 "movq 0(%1), %%rsp\n\t"
                 "movq 16(%1), %%rbp\n\t"
                 "jmpq *8(%1)\n"
                 "1:"
                 : "+D"(leave), "+S"(enter)
                 :
                 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
                   "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                   "xmm14", "xmm15",
#if defined(__AVX512F__)
                   "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26",
                   "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
#endif
                   "memory", "cc");
}

#elif defined(__aarch64__)

EMULATOR_APART uintptr_t stack_pointer()
{
    uintptr_t value;
    asm("mov %0, sp" : "=r"(value));
    return value;
}

EMULATOR_APART void switch_context(Context &from, const Context &to)
{
    register Context *leave asm("x0") = &from;
    register const Context *enter asm("x1") = &to;
    asm volatile("adr x9, 1f\n\t"
                 "mov x10, sp\n\t"
                 "stp x10, x9, [%0]\n\t"
                 "str x29, [%0, #16]\n\t"
                 "ldp x10, x11, [%1]\n\t"
                 "ldr x29, [%1, #16]\n\t"
                 "mov sp, x10\n\t"
                 "br x11\n"
                 "1:\n\t"
                 "hint #36" // a landing pad ("bti j"), in case branch targets are checked
                 : "+r"(leave), "+r"(enter)
                 :
                 : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
                   "x17", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2",
                   "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17",
                   "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31",
                   "memory", "cc");
}

#else

EMULATOR_APART uintptr_t stack_pointer() { return uintptr_t(__builtin_frame_address(0)); }

EMULATOR_APART void switch_context(Context &from, const Context &to) { swapcontext(&from.state, &to.state); }

#endif

} // namespace emulator
