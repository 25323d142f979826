// Coalesced writes: as `coalesced_reads`, but neighbouring threads write neighbours in a row of the target, and read down
// a column of the source.
//
// The cache keeps the sectors that were read for one element until the others of the sector are wanted, too. A sector
// that was written in part can't be kept as cheaply. So this is the better half to coalesce.

template <typename Element>
__global__ void coalesced_writes(Element *target, const Element *source, int width, int height)
{
    const int column = blockIdx.y * blockDim.y + threadIdx.y;
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < width && row < height)
        target[size_t(column) * height + row] = source[size_t(row) * width + column];
}
