// CUDA's primitives for asynchronous copies to shared memory.
#pragma once

#include "../copies.hpp"
#include "../emulator.hpp"

EMULATOR_APART void __pipeline_memcpy_async(void *shared, const void *global, size_t size, size_t zeros = 0, EMULATOR_SITE)
{
    if (size != 4 && size != 8 && size != 16)
        emulator::fail_copy(site, "has another size than 4, 8 or 16 bytes");
    if (zeros > size)
        emulator::fail_copy(site, "fills more bytes with zeros than it has");
    if (!emulator::are_multiples(shared, global, size))
        emulator::fail_copy(site, "has a misaligned address, which is no multiple of its size",
                            emulator::Failure::misaligned);
    if (!emulator::counting::is_shared(shared))
        emulator::fail_copy(site, "goes to memory that is not shared");
    emulator::counting::start_copy(shared, global, size, zeros, __builtin_return_address(0), 0);
}

EMULATOR_APART void __pipeline_commit() { emulator::counting::commit_copies(); }

EMULATOR_APART void __pipeline_wait_prior(size_t groups)
{
    emulator::counting::wait_for_copies(groups < 8 ? groups : 8); // as CUDA's own, which counts no further
}
