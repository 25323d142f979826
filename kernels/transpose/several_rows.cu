// Several rows a thread: as `padded_tile`, but each thread moves an element of `rows` rows, and the tile may be wider than
// high, or higher than wide.
//
// A thread starts all its reads before it waits for the first. That keeps more bytes on their way from memory, with fewer
// threads. The sides of the tile say how many bytes in a row are read, and how many are written.

#include "shared_array.cuh"

template <typename Element, int tile_width, int tile_height, int rows>
__global__ void __launch_bounds__(tile_width *tile_height / rows)
    several_rows(Element *target, const Element *source, int width, int height)
{
    constexpr int threads = tile_width * tile_height / rows;
    static_assert(threads % tile_width == 0 && threads % tile_height == 0, "the threads are whole rows and columns");
    auto *tile = reinterpret_cast<Element(*)[tile_width + 1]>(dynamic_shared<Element>());
    const int first_column = blockIdx.x * tile_width;
    const int first_row = blockIdx.y * tile_height;

    int x = threadIdx.x % tile_width;
    int y = threadIdx.x / tile_width;
#pragma unroll
    for (int number = 0; number < rows; ++number, y += threads / tile_width)
        if (first_column + x < width && first_row + y < height)
            tile[y][x] = source[size_t(first_row + y) * width + first_column + x];
    __syncthreads();

    x = threadIdx.x / tile_height;
    y = threadIdx.x % tile_height;
#pragma unroll
    for (int number = 0; number < rows; ++number, x += threads / tile_height)
        if (first_column + x < width && first_row + y < height)
            target[size_t(first_column + x) * height + first_row + y] = tile[y][x];
}
