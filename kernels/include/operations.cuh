// The associative operations that a reduction can apply, each with its identity element.
//
// A kernel is a template over one of these: Operation::combine(a, b) takes the place of a + b in the textbook's sum.
// Integer sums and products are modulo 2^bits, computed on the unsigned type, where wrapping around is defined.
// Minimum and maximum of floats follow IEEE 754-2019's minimum and maximum, which do not depend on the order in which a
// kernel combines: a NaN anywhere gives NaN, -0 is less than +0, and infinities are values like any other.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

// The ends of a type's values, computed where its functions may be called: on the host, while compiling.
template <typename Element>
struct Ends {
    using Limits = std::numeric_limits<Element>;
    static constexpr Element smallest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    static constexpr Element largest = Limits::has_infinity ? Limits::infinity() : Limits::max();
};

struct Sum {
    template <typename Element>
    static __device__ Element identity() { return Element(0); }

    template <typename Element>
    static __device__ Element combine(Element a, Element b)
    {
        if constexpr (std::is_integral_v<Element>) {
            using Unsigned = std::make_unsigned_t<Element>;
            return Element(Unsigned(a) + Unsigned(b));
        } else {
            return a + b;
        }
    }
};

struct Product {
    template <typename Element>
    static __device__ Element identity() { return Element(1); }

    template <typename Element>
    static __device__ Element combine(Element a, Element b)
    {
        if constexpr (std::is_integral_v<Element>) {
            using Unsigned = std::make_unsigned_t<Element>;
            return Element(Unsigned(a) * Unsigned(b));
        } else {
            return a * b;
        }
    }
};

struct Minimum {
    template <typename Element>
    static __device__ Element identity() { return Ends<Element>::largest; }

    template <typename Element>
    static __device__ Element combine(Element a, Element b)
    {
        if constexpr (std::is_integral_v<Element>) {
            return b < a ? b : a;
        } else {
            // Without branches, which || and && would bring: five instructions a float.
            const bool is_nan = b != b;
            const bool is_less = (b < a) | ((b == a) & !std::signbit(a)); // +0 gives way to -0
            return is_less | is_nan ? b : a;
        }
    }
};

struct Maximum {
    template <typename Element>
    static __device__ Element identity() { return Ends<Element>::smallest; }

    template <typename Element>
    static __device__ Element combine(Element a, Element b)
    {
        if constexpr (std::is_integral_v<Element>) {
            return a < b ? b : a;
        } else {
            // Without branches, as in Minimum.
            const bool is_nan = b != b;
            const bool is_greater = (b > a) | ((b == a) & !std::signbit(b)); // -0 gives way to +0
            return is_greater | is_nan ? b : a;
        }
    }
};
