// Textures made from an array: tex1Dfetch of one dimension, and tex2D of two, clamped, by the nearest texel or linear.
// A texel is a number, or a vector of two or four.
// What they compute: CUDA C++ Programming Guide, "Texture Fetching". A linear fetch's weights have 8 bits of a fraction.
#pragma once

#include "cuda_words.hpp"

using cudaTextureObject_t = unsigned long long;

namespace emulator {

// What a texture object is the address of; the host fills it.
struct Texture {
    const void *texels;
    int64_t width, height, is_linear, texel_bytes;
};

template <typename Value> EMULATOR_APART const Texture &texture_of(cudaTextureObject_t object, const char *word, Site site)
{
    const Texture &of = *reinterpret_cast<const Texture *>(uintptr_t(object));
    if (__builtin_expect(of.texel_bytes != int64_t(sizeof(Value)), 0))
        fail(this_worker(), Failure::other, "%s at %s:%d reads %u bytes of a texture whose texels have %u", word, site.file, site.line,
             unsigned(sizeof(Value)), unsigned(of.texel_bytes));
    return of;
}

EMULATOR_UNCOUNTED_INLINE int64_t clamped(float place, int64_t count)
{
    return !(place > 0) ? 0 : place >= float(count) ? count - 1 : int64_t(place);
}

template <typename Value>
EMULATOR_UNCOUNTED_INLINE Value texel(const Texture &of, float x, float y, const char *word, const void *caller, Site site)
{
    const int64_t place = clamped(y, of.height) * of.width + clamped(x, of.width);
    const Value *const address = static_cast<const Value *>(of.texels) + place;
    observe_word(address, word, false, caller, site);
    return *address;
}

} // namespace emulator

template <typename Value> EMULATOR_APART Value tex1Dfetch(cudaTextureObject_t object, int x, EMULATOR_SITE)
{
    const emulator::Texture &of = emulator::texture_of<Value>(object, "tex1Dfetch", site);
    if (x < 0 || x >= of.width)
        return Value();
    const Value *const address = static_cast<const Value *>(of.texels) + x;
    emulator::observe_word(address, "tex1Dfetch", false, __builtin_return_address(0), site);
    return *address;
}

template <typename Value> EMULATOR_APART Value tex2D(cudaTextureObject_t object, float x, float y, EMULATOR_SITE)
{
    const emulator::Texture &of = emulator::texture_of<Value>(object, "tex2D", site);
    const void *const caller = __builtin_return_address(0);
    if (!of.is_linear)
        return emulator::texel<Value>(of, x, y, "tex2D", caller, site);
    x -= 0.5f;
    y -= 0.5f;
    const float left = floorf(x), top = floorf(y);
    const float a = roundf((x - left) * 256) / 256, b = roundf((y - top) * 256) / 256;
    constexpr size_t components = (sizeof(Value) + sizeof(float) - 1) / sizeof(float);
    float sums[components] = {};
    for (int corner = 0; corner < 4; ++corner) {
        const int right = corner % 2, down = corner / 2;
        const Value read = emulator::texel<Value>(of, left + float(right), top + float(down), "tex2D", caller, site);
        float texel[components];
        __builtin_memcpy(texel, &read, sizeof read);
        for (size_t i = 0; i < components; ++i)
            sums[i] += (right ? a : 1 - a) * (down ? b : 1 - b) * texel[i];
    }
    Value value;
    __builtin_memcpy(&value, sums, sizeof value);
    return value;
}
