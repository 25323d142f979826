// A thread's neighbouring elements, from memory into registers and back, where the array may end among them.
#pragma once

// The elements from `first` on; zeros past the array's end.
template <typename Element, unsigned elements>
__device__ void load_elements(Element (&values)[elements], const Element *input, size_t first, size_t array_size)
{
#pragma unroll
    for (unsigned index = 0; index < elements; ++index)
        values[index] = first + index < array_size ? input[first + index] : Element(0);
}

// The same places written; none past the array's end.
template <typename Element, unsigned elements>
__device__ void store_elements(const Element (&values)[elements], Element *output, size_t first, size_t array_size)
{
#pragma unroll
    for (unsigned index = 0; index < elements; ++index)
        if (first + index < array_size)
            output[first + index] = values[index];
}
