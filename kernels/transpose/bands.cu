// Bands: as `several_rows`, but the blocks that run at a time lie in a square rather than in a row, and what is read or
// written once is told to be so.
//
// Blocks start in the order of their numbers. Row by row, those that run at a time read whole rows of the source, and
// write a few hundred bytes of every row of the target, each in another page of the memory. Here they go down a band of
// `band` tiles before they go right, so that both sides are kilobytes in a row.

template <bool streaming, typename Element>
__device__ Element load_once(const Element *address)
{
    if constexpr (streaming)
        return __ldcs(address);
    else
        return *address;
}

template <bool streaming, typename Element>
__device__ void store_once(Element *address, Element value)
{
    if constexpr (streaming)
        __stcs(address, value);
    else
        *address = value;
}

template <typename Element, int tile_width, int tile_height, int rows, int band, bool streaming>
__global__ void __launch_bounds__(tile_width *tile_height / rows)
    bands(Element *target, const Element *source, int width, int height)
{
    constexpr int threads = tile_width * tile_height / rows;
    static_assert(threads % tile_width == 0 && threads % tile_height == 0, "the threads are whole rows and columns");
    __shared__ Element tile[tile_height][tile_width + 1];

    const int tiles_across = (width + tile_width - 1) / tile_width;
    const int tiles_down = (height + tile_height - 1) / tile_height;
    const int first_of_band = int(blockIdx.x) / (band * tiles_across) * band;
    const int tiles_of_band = min(band, tiles_down - first_of_band); // The last band may be lower.
    const int in_band = int(blockIdx.x) - first_of_band * tiles_across;
    const int first_column = in_band / tiles_of_band * tile_width;
    const int first_row = (first_of_band + in_band % tiles_of_band) * tile_height;

    int x = threadIdx.x % tile_width;
    int y = threadIdx.x / tile_width;
#pragma unroll
    for (int number = 0; number < rows; ++number, y += threads / tile_width)
        if (first_column + x < width && first_row + y < height)
            tile[y][x] = load_once<streaming>(source + size_t(first_row + y) * width + first_column + x);
    __syncthreads();

    x = threadIdx.x / tile_height;
    y = threadIdx.x % tile_height;
#pragma unroll
    for (int number = 0; number < rows; ++number, x += threads / tile_height)
        if (first_column + x < width && first_row + y < height)
            store_once<streaming>(target + size_t(first_column + x) * height + first_row + y, tile[y][x]);
}
