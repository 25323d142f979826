// Memory that is read, and whether it was written.

// right: all is written
__global__ void all_written(const int *x, int *y, int *z)
{
    __shared__ int tile[65];
    tile[t] = x[i];
    if (t == 0)
        tile[64] = 0;
    __syncthreads();
    y[i] = tile[t + 1];
}

// right: only what is written is read
__global__ void half_written(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    if (t < 32)
        tile[t] = x[i];
    __syncthreads();
    y[i] = tile[t / 2];
}

// right: counters set to zero
__global__ void set_to_zero(const int *x, int *y, int *z)
{
    __shared__ int counts[8];
    if (t < 8)
        counts[t] = 0;
    __syncthreads();
    atomicAdd(&counts[x[i] & 7], 1);
    __syncthreads();
    y[i] = counts[t & 7];
}

// right: an output that is written, then read
__global__ void output_again(const int *x, int *y, int *z)
{
    y[i] = x[i];
    y[i] += 1;
}

// right: bytes written, a word read
__global__ void word_of_bytes(const int *x, int *y, int *z)
{
    __shared__ __align__(4) unsigned char bytes[64];
    bytes[t] = static_cast<unsigned char>(x[i]);
    __syncthreads();
    y[i] = reinterpret_cast<int *>(bytes)[t / 4];
}

// right: filled by memset
__global__ void filled(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    if (t == 0)
        memset(tile, 0, sizeof tile);
    __syncthreads();
    y[i] = tile[t] + x[i];
}

// note (uninitialised: indifferent_read): a read that no result depends on
__global__ void no_result_depends(const int *x, int *y, int *z)
{
    __shared__ int tile[65];
    tile[t] = x[i];
    __syncthreads();
    const int next = tile[t + 1];
    y[i] = t < 63 ? next : 0;
}

// wrong (uninitialised: uninitialised): an array that nothing ever writes
__global__ void never_written(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    y[i] = tile[t] + x[i];
}

// wrong (uninitialised: uninitialised): a variable that nothing ever writes
__global__ void variable_never_written(const int *x, int *y, int *z)
{
    __shared__ int offset;
    y[i] = x[i] + offset;
}

// wrong (uninitialised: uninitialised): dynamic memory that nothing ever writes
__global__ void dynamic_never_written(const int *x, int *y, int *z)
{
    extern __shared__ int memory[];
    y[i] = memory[t] + x[i];
}

// wrong (uninitialised: uninitialised): the last element is not written
__global__ void partly_written(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    if (t < 63)
        tile[t] = x[i];
    __syncthreads();
    y[i] = tile[t];
}

// wrong (uninitialised: uninitialised): an output is added to
__global__ void output_added_to(const int *x, int *y, int *z)
{
    y[i] += x[i];
}

// wrong (uninitialised: uninitialised): counters that are not set to zero
__global__ void not_set_to_zero(const int *x, int *y, int *z)
{
    __shared__ int counts[8];
    atomicAdd(&counts[x[i] & 7], 1);
    __syncthreads();
    y[i] = counts[t & 7];
}

// wrong (uninitialised: uninitialised): one byte of a word is not written
__global__ void byte_missing(const int *x, int *y, int *z)
{
    __shared__ __align__(4) unsigned char bytes[64];
    if (t % 4 != 3)
        bytes[t] = static_cast<unsigned char>(x[i]);
    __syncthreads();
    y[i] = reinterpret_cast<int *>(bytes)[t / 4];
}

// wrong (uninitialised: uninitialised): what the block before has left
__global__ void left_by_block_before(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    if (blockIdx.x == 0)
        tile[t] = x[i];
    __syncthreads();
    y[i] = tile[t];
}

// wrong (uninitialised: uninitialised): read before it is written
__global__ void read_first(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    const int before = tile[t];
    tile[t] = x[i];
    y[i] = before + tile[t];
}

// wrong (uninitialised: uninitialised): the end of a tile, which matters to a minimum if it is less than all negative values
__global__ void least(const int *x, int *y, int *z)
{
    __shared__ float tile[64];
    if (t < 60)
        tile[t] = float(-1 - x[i]);
    __syncthreads();
    float found = 0;
    for (int k = 0; k < 64; ++k)
        found = fminf(found, tile[k]);
    y[i] = int(found);
}

// wrong (uninitialised: uninitialised): the end of a tile, which matters to a maximum of halves
__global__ void largest_half(const int *x, int *y, int *z)
{
    __shared__ __half tile[64];
    if (t < 60)
        tile[t] = __float2half(float(x[i]));
    __syncthreads();
    __half found = __float2half(0.0f);
    for (int k = 0; k < 64; ++k)
        found = __hmax(found, tile[k]);
    y[i] = int(__half2float(found));
}

// wrong (uninitialised: uninitialised): the halo of a tile is not written
__global__ void halo(const int *x, int *y, int *z)
{
    __shared__ int tile[66];
    tile[t + 1] = x[i];
    __syncthreads();
    y[i] = tile[t] + tile[t + 1] + tile[t + 2];
}

struct Marked {
    int value, mark;
};

// wrong (uninitialised: uninitialised): a member that nothing sets, of structures in rows
__global__ void member_not_set(const int *x, int *y, int *z)
{
    __shared__ Marked rows[8][8];
    rows[t / 8][t % 8].value = x[i];
    __syncthreads();
    y[i] = rows[t % 8][t / 8].value + rows[7][t / 8].mark;
}
