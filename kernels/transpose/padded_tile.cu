// Padded tile: as `shared_tile`, but each row of the tile is one element longer.
//
// The elements of a column then lie in 32 different banks, and a warp reads them all at once.

template <typename Element, int tile_side>
__global__ void __launch_bounds__(tile_side * tile_side)
    padded_tile(Element *target, const Element *source, int width, int height)
{
    __shared__ Element tile[tile_side][tile_side + 1];
    const int first_column = blockIdx.x * tile_side;
    const int first_row = blockIdx.y * tile_side;

    int column = first_column + threadIdx.x;
    int row = first_row + threadIdx.y;
    if (column < width && row < height)
        tile[threadIdx.y][threadIdx.x] = source[size_t(row) * width + column];
    __syncthreads();

    column = first_column + threadIdx.y;
    row = first_row + threadIdx.x;
    if (column < width && row < height)
        target[size_t(column) * height + row] = tile[threadIdx.x][threadIdx.y];
}
