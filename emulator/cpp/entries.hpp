// A kernel's translation unit: the functions that can be launched, and the variables that the host sets.
//
// A translation unit for the emulator is of this form:
//
//     #include "emulator.hpp"
//     #include "<kernel>.cu"
//
//     static const emulator::Entry entries[] = {
//         EMULATOR_ENTRY("unrolled<int, Sum, 1u>", unrolled<int, Sum, 1u>),
//         EMULATOR_ENTRY("unrolled<int, Sum, 2u>", unrolled<int, Sum, 2u>),
//     };
//     static const emulator::Symbol symbols[] = {EMULATOR_SYMBOL(weights), {}};
//     EMULATOR_EXPORT(entries, symbols)
//
// The symbols name the __constant__ or __device__ variables that the host sets. Nothing runs when a library is loaded.
#pragma once

#include "block.hpp"

#include <type_traits>

namespace emulator {

using AnyFunction = void (*)();

template <int exponent_bits> struct SmallFloat; // small_floats.hpp, which few kernels include

// A kernel with its template arguments fixed.
struct Entry {
    const char *name;
    AnyFunction kernel;
    AnyFunction thread_main; // calls it with its arguments, once for each thread
    // Of each parameter, and then of what each points at; of the latter only numbers have a size.
    const size_t *parameter_sizes;
    const char *parameter_kinds; // one character each, as kind_of() gives them
};

// A variable that the host sets.
struct Symbol {
    const char *name;
    void *address;
    size_t size;
};

// What a parameter holds: p a pointer, f a float of IEEE 754, b a bfloat16, i and u a whole number with and without a
// sign, and s a structure.
template <typename Parameter>
constexpr char kind_of()
{
    if constexpr (std::is_enum_v<Parameter>)
        return kind_of<std::underlying_type_t<Parameter>>();
    else if constexpr (std::is_same_v<Parameter, SmallFloat<8>>)
        return 'b';
    else if constexpr (std::is_floating_point_v<Parameter> || std::is_same_v<Parameter, SmallFloat<5>>)
        return 'f';
    else if constexpr (std::is_integral_v<Parameter>)
        return std::is_signed_v<Parameter> ? 'i' : 'u';
    else
        return std::is_pointer_v<Parameter> ? 'p' : 's';
}

template <typename Pointed>
constexpr size_t size_of_number()
{
    if constexpr (std::is_void_v<Pointed> || kind_of<Pointed>() == 's' || kind_of<Pointed>() == 'p')
        return 0;
    else
        return sizeof(Pointed);
}

template <typename Parameter> using Pointed = std::remove_cv_t<std::remove_pointer_t<Parameter>>;

struct Launch {
    const Entry *entry;
    void **arguments;
    uint64_t blocks;
};

// Calls the kernel with the values that `arguments` points to; each step adds one behind those done.
template <typename Next, typename... Later, typename Kernel, typename... Done>
EMULATOR_APART void call(Kernel kernel, void **arguments, const Done &...done)
{
    const Next &next = *static_cast<const Next *>(arguments[sizeof...(Done)]);
    if constexpr (sizeof...(Later) == 0)
        kernel(done..., next);
    else
        call<Later...>(kernel, arguments, done..., next);
}

// Uncounted, because a launch's arguments are the host's memory.
template <typename... Parameters>
EMULATOR_UNCOUNTED void thread_main()
{
    static_assert((std::is_trivially_copyable_v<std::remove_reference_t<Parameters>> && ...),
                  "a kernel's parameter with a copy constructor of its own" EMULATOR_NOT_SUPPLIED);
    Worker &worker = this_worker();
    const auto kernel = reinterpret_cast<void (*)(Parameters...)>(worker.launch->entry->kernel);
    if constexpr (sizeof...(Parameters) == 0)
        kernel();
    else
        call<Parameters...>(kernel, worker.launch->arguments);
    end_thread();
}

template <typename Kernel> struct Of;

template <typename... Parameters>
struct Of<void (*)(Parameters...)> {
    static constexpr AnyFunction main = thread_main<Parameters...>;
    static constexpr size_t count = 2 * sizeof...(Parameters) + 1;
    static constexpr size_t sizes[count] = {sizeof(Parameters)..., size_of_number<Pointed<Parameters>>()..., 0};
    static constexpr char kinds[count] = {kind_of<std::remove_cv_t<Parameters>>()..., kind_of<Pointed<Parameters>>()...,
                                          0};
};

// What EMULATOR_EXPORT defines.
extern const Entry *const exported;
extern const unsigned exported_count;
extern const Symbol *const exported_symbols; // the last one has no name

} // namespace emulator

#define EMULATOR_ENTRY(name, ...)                                                                                      \
    {                                                                                                                  \
        name, reinterpret_cast<emulator::AnyFunction>(&__VA_ARGS__), emulator::Of<decltype(&__VA_ARGS__)>::main,       \
            emulator::Of<decltype(&__VA_ARGS__)>::sizes, emulator::Of<decltype(&__VA_ARGS__)>::kinds                   \
    }

#define EMULATOR_SYMBOL(variable)                                                                                      \
    {                                                                                                                  \
        #variable, const_cast<void *>(static_cast<const void *>(&variable)), sizeof(variable)                          \
    }

#define EMULATOR_EXPORT(entries, symbols)                                                                              \
    const emulator::Entry *const emulator::exported = entries;                                                         \
    const unsigned emulator::exported_count = unsigned(sizeof entries / sizeof entries[0]);                            \
    const emulator::Symbol *const emulator::exported_symbols = symbols;
