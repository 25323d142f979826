// What the words for copies of any size have in common: how they are made of what the hardware copies.
#pragma once

#include "block.hpp"

#include <type_traits>

namespace emulator {

__attribute__((noreturn)) EMULATOR_COLD inline void fail_copy(Site site, const char *why,
                                                              Failure failure = Failure::illegal_access)
{
    Worker &worker = this_worker();
    fail(worker, failure, "illegal memory access by %s: the asynchronous copy at %s:%d %s",
         ThreadName(worker, *worker.current).text, site.file, site.line, why);
}

EMULATOR_APART bool are_multiples(const void *target, const void *source, size_t size)
{
    return (uintptr_t(target) | uintptr_t(source)) % size == 0;
}

// The bytes that each of a group's copies has: the most that both addresses and the count are multiples of, if that is
// more than is known of them.
EMULATOR_APART size_t copied_at_once(const void *target, const void *source, size_t bytes, size_t known)
{
    size_t together = known < 16 ? known : 16;
    while (known < 4 && together < 16 && bytes % (2 * together) == 0 && are_multiples(target, source, 2 * together))
        together *= 2;
    return together;
}

// The group of a thread alone.
struct OneThread {
    static unsigned thread_rank() { return 0; }
    static unsigned num_threads() { return 1; }
};

// A group's threads copy in turn. Where a GPU copies asynchronously, parts that its hardware can't copy so are too: the
// documents promise nothing before the wait. With a phase's flag, the data land when the phase is over.
template <typename Group>
EMULATOR_UNCOUNTED void copy_by_group(const Group &group, void *target, const void *source, size_t bytes, size_t known,
                                      const void *caller, Site site, uintptr_t flag = 0)
{
    const size_t together = copied_at_once(target, source, bytes, known);
    if (!are_multiples(target, source, together))
        fail_copy(site, "has a misaligned address, which is no multiple of what its type says", Failure::misaligned);
    const bool is_asynchronous = counting::copies_asynchronously(target, source);
    for (size_t place = group.thread_rank() * together; place < bytes; place += group.num_threads() * together) {
        const size_t size = together < bytes - place ? together : bytes - place;
        void *const to = static_cast<char *>(target) + place;
        const void *const from = static_cast<const char *>(source) + place;
        if (is_asynchronous)
            counting::start_copy(to, from, size, 0, caller, flag);
        else
            counting::copy_at_once(to, from, size, caller);
    }
}

// What is known of the addresses' alignment: by the type of the count, such as cuda::aligned_size_t, else by the elements'.
template <typename Element, typename Count>
constexpr size_t known_alignment(const Count &)
{
    if constexpr (::std::is_class_v<Count>)
        return Count::align;
    else if constexpr (::std::is_void_v<Element>)
        return 1;
    else
        return alignof(Element);
}

} // namespace emulator
