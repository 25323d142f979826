// CUDA's vector types (int2, float4, ...) with their alignments, their make_ functions, and dim3.
#pragma once

// Alignments as nvcc has them: a vector whose size is 2, 4, 8 or 16 bytes is loaded in one access and aligned to it.
#define EMULATOR_VECTORS(Element, name)                                                                                \
    struct name##1 { Element x; };                                                                                     \
    struct alignas(2 * sizeof(Element)) name##2 { Element x, y; };                                                     \
    struct name##3 { Element x, y, z; };                                                                               \
    struct alignas(4 * sizeof(Element) < 16 ? 4 * sizeof(Element) : 16) name##4 { Element x, y, z, w; };               \
    inline name##1 make_##name##1(Element x) { return {x}; }                                                           \
    inline name##2 make_##name##2(Element x, Element y) { return {x, y}; }                                             \
    inline name##3 make_##name##3(Element x, Element y, Element z) { return {x, y, z}; }                               \
    inline name##4 make_##name##4(Element x, Element y, Element z, Element w) { return {x, y, z, w}; }

EMULATOR_VECTORS(signed char, char)
EMULATOR_VECTORS(unsigned char, uchar)
EMULATOR_VECTORS(short, short)
EMULATOR_VECTORS(unsigned short, ushort)
EMULATOR_VECTORS(int, int)
EMULATOR_VECTORS(unsigned, uint)
EMULATOR_VECTORS(long, long)
EMULATOR_VECTORS(unsigned long, ulong)
EMULATOR_VECTORS(long long, longlong)
EMULATOR_VECTORS(unsigned long long, ulonglong)
EMULATOR_VECTORS(float, float)
EMULATOR_VECTORS(double, double)

#undef EMULATOR_VECTORS

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 size) : x(size.x), y(size.y), z(size.z) {}
};
