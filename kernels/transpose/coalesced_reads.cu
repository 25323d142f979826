// Coalesced reads: each thread moves one element, and neighbouring threads read neighbours in a row of the source.
//
// They write down a column of the target, whole rows apart. So a warp writes to 32 sectors, and needs 4 bytes of each.

template <typename Element>
__global__ void coalesced_reads(Element *target, const Element *source, int width, int height)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height)
        target[size_t(column) * height + row] = source[size_t(row) * width + column];
}
