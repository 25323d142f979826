// The sums on the host's processor that tables set beside the kernels: one thread, compiled without vectorisation.
//
// Integer sums are modulo 2^bits, computed on the unsigned type, where wrapping around is defined.

#include <cstddef>
#include <cstdint>
#include <type_traits>

template <typename Element>
static Element add(Element a, Element b)
{
    if constexpr (std::is_integral_v<Element>) {
        using Unsigned = std::make_unsigned_t<Element>;
        return Element(Unsigned(a) + Unsigned(b));
    } else {
        return a + b;
    }
}

// A plain loop over the elements.
template <typename Element>
static Element scalar_loop(const Element *data, std::size_t count)
{
    Element sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        sum = add(sum, data[i]);
    }
    return sum;
}

// The same loop, unrolled by two: its end is tested half as often.
template <typename Element>
static Element unrolled_loop(const Element *data, std::size_t count)
{
    Element sum = 0;
    std::size_t i = 0;
    for (; i + 1 < count; i += 2) {
        sum = add(sum, data[i]);
        sum = add(sum, data[i + 1]);
    }
    return i < count ? add(sum, data[i]) : sum;
}

// Adds the upper half onto the lower one in place, then does the same with the lower half. If the number of elements
// is odd, the lower half has one more element, to which nothing is added.
template <typename Element>
static Element recursive_pairwise(Element *data, std::size_t count)
{
    if (count == 1) {
        return data[0];
    }
    const std::size_t upper = count / 2;
    const std::size_t lower = count - upper;
    for (std::size_t i = 0; i < upper; ++i) {
        data[i] = add(data[i], data[lower + i]);
    }
    return recursive_pairwise(data, lower);
}

// Entries for Python: <sum>_<NumPy's name of the type>(data, count), for 1 or more elements.
extern "C" {

std::int32_t scalar_loop_int32(const std::int32_t *data, std::size_t count) { return scalar_loop(data, count); }
std::int64_t scalar_loop_int64(const std::int64_t *data, std::size_t count) { return scalar_loop(data, count); }
float scalar_loop_float32(const float *data, std::size_t count) { return scalar_loop(data, count); }
double scalar_loop_float64(const double *data, std::size_t count) { return scalar_loop(data, count); }

std::int32_t unrolled_loop_int32(const std::int32_t *data, std::size_t count) { return unrolled_loop(data, count); }
std::int64_t unrolled_loop_int64(const std::int64_t *data, std::size_t count) { return unrolled_loop(data, count); }
float unrolled_loop_float32(const float *data, std::size_t count) { return unrolled_loop(data, count); }
double unrolled_loop_float64(const double *data, std::size_t count) { return unrolled_loop(data, count); }

std::int32_t recursive_pairwise_int32(std::int32_t *data, std::size_t count) { return recursive_pairwise(data, count); }
std::int64_t recursive_pairwise_int64(std::int64_t *data, std::size_t count) { return recursive_pairwise(data, count); }
float recursive_pairwise_float32(float *data, std::size_t count) { return recursive_pairwise(data, count); }
double recursive_pairwise_float64(double *data, std::size_t count) { return recursive_pairwise(data, count); }

}
