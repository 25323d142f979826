// The emulator itself, which every kernel's library contains. It is compiled once, and linked with each kernel's unit,
// whose form entries.hpp describes. Both are compiled with -fsanitize=thread, or neither. A library exports:
//
//     int emulator_launch(unsigned entry, const size_t grid[3], const size_t block[3], const size_t cluster[3],
//                         size_t shared_bytes, int cooperative, int programmatic, void **arguments, char *message,
//                         size_t message_capacity)
//         Runs the kernel to its end, on one core; sizes in the order x, y, z; `arguments` as
//         for cudaLaunchKernel. Returns the number of a Failure (block.hpp), and what has failed in `message`.
//         One launch at a time in a process: the signal handlers are the process's.
//     unsigned emulator_entry_count()
//     const char *emulator_entry_name(unsigned entry)
//     void *emulator_entry_kernel(unsigned entry)
//         The kernel's address in memory.
//     const char *emulator_parameter_kinds(unsigned entry)
//         A character for each parameter, and then for what each points at, as in entries.hpp.
//     size_t emulator_parameter_size(unsigned entry, unsigned parameter)
//         In the same order; 0 for what is no number behind a pointer.
//     void *emulator_symbol(const char *name, size_t *size)
//         The address of a variable, and its size in bytes; null if no EMULATOR_SYMBOL names it.
//     size_t emulator_fault_place()
//         Where a thread of the last launch has ended it by an illegal access, a stack overflow or a division by zero: the
//         place in the code from the library's start, or 0.
//     unsigned emulator_running_places(size_t *places)
//         Of a launch that SIGUSR1 has ended: up to 32 such places on the stack of the thread that ran, the innermost first.
//     void emulator_set_schedule(unsigned number)
//         The order in which blocks, warps and lanes run from now on, as Schedule in block.hpp numbers them.
//     void emulator_release()
//         Gives back the stacks, which are kept from launch to launch.
//
// And the functions that counting/hooks.hpp describes.

#include "emulator.hpp"
#include "launch.hpp"

#define EMULATOR_EXPORTED extern "C" __attribute__((visibility("default")))

#include "counting/hooks.hpp" // which exports functions as well

EMULATOR_EXPORTED unsigned emulator_entry_count() { return emulator::exported_count; }
EMULATOR_EXPORTED const char *emulator_entry_name(unsigned entry) { return emulator::exported[entry].name; }
EMULATOR_EXPORTED void *emulator_entry_kernel(unsigned entry)
{
    return reinterpret_cast<void *>(emulator::exported[entry].kernel);
}
EMULATOR_EXPORTED const char *emulator_parameter_kinds(unsigned entry)
{
    return emulator::exported[entry].parameter_kinds;
}
EMULATOR_EXPORTED size_t emulator_parameter_size(unsigned entry, unsigned parameter)
{
    return emulator::exported[entry].parameter_sizes[parameter];
}
EMULATOR_EXPORTED int emulator_launch(unsigned entry, const size_t *grid, const size_t *block, const size_t *cluster,
                                      size_t shared_bytes, int cooperative, int programmatic, void **arguments,
                                      char *message, size_t message_capacity)
{
    return int(emulator::launch_kernel(emulator::exported[entry], grid, block, cluster, shared_bytes, cooperative != 0,
                                       programmatic != 0, arguments, message, message_capacity));
}
EMULATOR_EXPORTED void *emulator_symbol(const char *name, size_t *size)
{
    for (const emulator::Symbol *symbol = emulator::exported_symbols; symbol->name != nullptr; ++symbol)
        if (strcmp(symbol->name, name) == 0) {
            *size = symbol->size;
            return symbol->address;
        }
    return nullptr;
}
EMULATOR_EXPORTED unsigned emulator_running_places(size_t *places)
{
    for (unsigned place = 0; place < emulator::running_places.count; ++place)
        places[place] = emulator::counting::place_in_code(emulator::running_places.of[place]);
    return emulator::running_places.count;
}
EMULATOR_EXPORTED size_t emulator_fault_place()
{
    using namespace emulator::counting;
    return is_in_library(emulator::fault_place) ? emulator::fault_place - spaces.library : 0;
}
EMULATOR_EXPORTED void emulator_set_schedule(unsigned number) { emulator::schedule.number = number; }
EMULATOR_EXPORTED void emulator_release() { emulator::release_worker(); }

