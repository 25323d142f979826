// Addresses that a type of pointers with a name makes misaligned; no other cast is in this file.

typedef const int4 *Vectors;
using Pairs = const int2 *;

// right: vectors at multiples of 16 bytes
__global__ void aligned_by_name(const int *x, int *y, int *z)
{
    y[i] = Vectors(x + 4)[i % 32].x + Pairs(x + 2)[i % 32].y;
}

// wrong (bounds: misaligned): a vector at a multiple of 8 bytes
__global__ void vector_by_name(const int *x, int *y, int *z)
{
    const int4 vector = *Vectors(x + 2);
    y[i] = vector.x + vector.w;
}

// wrong (bounds: misaligned): a pair at an odd element
__global__ void pair_by_name(const int *x, int *y, int *z)
{
    y[i] = ((Pairs)(x + 1))[i % 32].y;
}

// wrong (bounds: misaligned): a pair at an odd element, by its bits
__global__ void pair_by_bits(const int *x, int *y, int *z)
{
    y[i] = __builtin_bit_cast(Pairs, x + 1)[i % 32].y;
}
