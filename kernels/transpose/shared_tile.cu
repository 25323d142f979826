// Shared tile: a block brings a tile of the source into shared memory, and writes it from there with its sides swapped.
//
// Both the reads and the writes of global memory are coalesced now. The swap happens in shared memory, where a warp reads
// down a column of the tile: 32 elements that all lie in the same bank, one after the other.

template <typename Element, int tile_side>
__global__ void __launch_bounds__(tile_side * tile_side)
    shared_tile(Element *target, const Element *source, int width, int height)
{
    __shared__ Element tile[tile_side][tile_side];
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
