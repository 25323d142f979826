// It has the L2 keep the lines that it reads, for int32 and powers of two as block sizes.

#include "loaded_once.cuh"
#include "operations.cuh"

template <typename Element, typename Operation, unsigned unroll>
__global__ void marks_lines_to_stay(const Element *data, Element *partials, size_t array_size)
{
    static_assert(sizeof(Element) == 4);
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    combine_loaded<Operation, unroll>(data, partials, array_size, [policy](const Element *place) {
        unsigned bits;
        asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(bits) : "l"(place), "l"(policy));
        return static_cast<Element>(bits);
    });
}
