// The bulk copy engine of GPUs since sm_90: one thread asks for kilobytes from global into shared memory, and a barrier in
// shared memory says when they are there. No register holds them on the way, and no thread waits in a load.
//
// In PTX's own words (PTX ISA, "cp.async.bulk" and "mbarrier"), for which CUDA C++ has none that it promises to keep.
#pragma once

using CopyBarrier = unsigned long long;

__device__ inline unsigned shared_address(const void *address)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(address));
}

// For one thread, which is the only one to start copies on it; before others wait on it, a barrier must follow.
__device__ inline void initialise(CopyBarrier *barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // The engine sees it, too.
}

// Both addresses and the size are multiples of 16 bytes.
__device__ inline void start_copy(void *shared, const void *global, unsigned bytes, CopyBarrier *barrier)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(shared)),
                 "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

// Waits until a copy has come; `parity` is 0 for the first on this barrier, 1 for the second, 0 for the third.
__device__ inline void wait_for_copy(CopyBarrier *barrier, unsigned parity)
{
    unsigned there;
    do {
        asm volatile("{\n"
                     ".reg .pred there;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 there, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, there;\n"
                     "}"
                     : "=r"(there)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
    } while (!there);
}
