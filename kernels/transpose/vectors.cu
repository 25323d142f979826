// Vectors: as `several_rows`, but every access, to global and to shared memory, moves 16 bytes.
//
// A thread takes a small square, as high as a vector is long, and swaps its sides in registers. What it then stores into
// shared memory are vectors of the target's rows. A quarter of the instructions of `several_rows` moves as many bytes.
//
// Tiles can be taken in bands, each from top to bottom. Those at work at a time then lie in a square of the matrix, not in
// a few of its rows, and write long runs of a few of the target's rows, not short ones of all of them.

#include "shared_array.cuh"
#include "vectors.cuh"

// The vector that begins at a column, less than a vector's length before the row's end at the most. Rows that aren't
// whole vectors begin at addresses that no vector may have; their elements are loaded one by one.
template <typename Element>
__device__ Vector<Element> load_vector(const Element *row, int column, int width)
{
    constexpr int length = Vector<Element>::elements;
    if (width % length == 0)
        return OrdinaryLoad::load(reinterpret_cast<const Vector<Element> *>(row + column));
    Vector<Element> vector = {};
#pragma unroll
    for (int element = 0; element < length; ++element)
        if (column + element < width)
            vector.at[element] = row[column + element];
    return vector;
}

template <typename Element>
__device__ void store_vector(Element *row, int column, int width, const Vector<Element> &vector)
{
    constexpr int length = Vector<Element>::elements;
    if (width % length == 0) {
        *reinterpret_cast<uint4 *>(row + column) = reinterpret_cast<const uint4 &>(vector);
        return;
    }
#pragma unroll
    for (int element = 0; element < length; ++element)
        if (column + element < width)
            row[column + element] = vector.at[element];
}

struct Place {
    int column, row;
};

// The tile of this block: the grid's own order without bands, or else bands of `band` columns of tiles, row by row.
template <int band>
__device__ Place tile_place()
{
    if constexpr (band == 0) {
        return {int(blockIdx.x), int(blockIdx.y)};
    } else {
        const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
        const unsigned first = block / (band * gridDim.y) * band;
        const unsigned left = gridDim.x - first;
        const unsigned columns = left < band ? left : band; // The last band can be narrower.
        const unsigned inside = block - first * gridDim.y;
        return {int(first + inside % columns), int(inside / columns)};
    }
}

template <typename Element, int tile_width, int tile_height, int rows, int band>
__global__ void __launch_bounds__(tile_width *tile_height / rows / Vector<Element>::elements)
    vectors(Element *target, const Element *source, int width, int height)
{
    constexpr int length = Vector<Element>::elements;
    constexpr int vectors_across = tile_width / length;
    constexpr int vectors_down = tile_height / length;
    constexpr int threads = vectors_across * tile_height / rows;
    constexpr int squares = rows / length; // of a thread
    static_assert(rows % length == 0 && vectors_across % 8 == 0 && vectors_down % 8 == 0, "squares, and 8 in a row");

    // A row holds the vectors of one row of the target. Each eight of them are stored in an order that depends on the row,
    // so that the eight lanes that store together, in rows a square apart, use different banks.
    auto *tile = reinterpret_cast<Vector<Element>(*)[vectors_down]>(dynamic_shared<Vector<Element>>());
    const auto place = [](int row, int vector) { return vector ^ (row / length % 8); };
    const Place of_tile = tile_place<band>();
    const int first_column = of_tile.column * tile_width;
    const int first_row = of_tile.row * tile_height;

    Vector<Element> loaded[squares][length];
#pragma unroll
    for (int number = 0; number < squares; ++number) {
        const int square = threadIdx.x + number * threads;
        const int column = first_column + square % vectors_across * length;
        const int row = first_row + square / vectors_across * length;
#pragma unroll
        for (int line = 0; line < length; ++line)
            if (column < width && row + line < height)
                loaded[number][line] = load_vector(source + size_t(row + line) * width, column, width);
    }
#pragma unroll
    for (int number = 0; number < squares; ++number) {
        const int square = threadIdx.x + number * threads;
        const int x = square % vectors_across * length;
#pragma unroll
        for (int line = 0; line < length; ++line) {
            Vector<Element> swapped;
#pragma unroll
            for (int element = 0; element < length; ++element)
                swapped.at[element] = loaded[number][element].at[line];
            tile[x + line][place(x + line, square / vectors_across)] = swapped;
        }
    }
    __syncthreads();

#pragma unroll
    for (int number = 0; number < rows; ++number) {
        const int vector = threadIdx.x + number * threads;
        const int x = vector / vectors_down;
        const int column = first_column + x;
        const int row = first_row + vector % vectors_down * length;
        if (column < width && row < height)
            store_vector(target + size_t(column) * height, row, height, tile[x][place(x, vector % vectors_down)]);
    }
}
