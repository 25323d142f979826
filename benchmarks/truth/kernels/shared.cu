// Shared memory of a launch, carved up: 512 bytes a block; and indices that go astray.

extern __shared__ int dynamic[];

// right: two arrays, one behind the other
__global__ void carved(const int *x, int *y, int *z)
{
    int *const first = dynamic, *const second = dynamic + 64;
    first[t] = x[i];
    second[t] = 2 * x[i];
    __syncthreads();
    y[i] = first[63 - t] + second[63 - t];
}

// wrong (races: race): two arrays that overlap by one element
__global__ void carved_overlap(const int *x, int *y, int *z)
{
    int *const first = dynamic, *const second = dynamic + 63;
    first[t] = x[i];
    if (t < 32)
        second[t] = 2 * x[i];
    __syncthreads();
    y[i] = first[63 - t] + second[t % 32];
}

// wrong (bounds: out_of_bounds): three arrays in the memory of two
__global__ void carved_too_often(const int *x, int *y, int *z)
{
    dynamic[t] = x[i];
    dynamic[64 + t] = x[i];
    dynamic[128 + t] = x[i];
    __syncthreads();
    y[i] = dynamic[128 + 63 - t];
}

// wrong (bounds: misaligned): doubles behind an odd number of ints
__global__ void carved_misaligned(const int *x, int *y, int *z)
{
    double *const second = reinterpret_cast<double *>(dynamic + 33);
    second[t % 32] = x[i];
    __syncthreads();
    y[i] = int(second[t % 32]);
}

// wrong (races: race): the scratch of one phase is the input of the next
__global__ void scratch_reused(const int *x, int *y, int *z)
{
    dynamic[t] = x[i];
    __syncthreads();
    const int left = dynamic[(t + 63) % 64];
    dynamic[t] = left + 1;
    __syncthreads();
    y[i] = dynamic[63 - t];
}

// right: a loop by strides over all of it
__global__ void cleared_by_strides(const int *x, int *y, int *z)
{
    for (int at = t; at < 128; at += 64)
        dynamic[at] = 0;
    __syncthreads();
    atomicAdd(&dynamic[x[i]], 1);
    __syncthreads();
    for (int at = t; at < 128; at += 64)
        atomicAdd(&z[at], dynamic[at]);
}

// wrong (uninitialised: uninitialised): a loop by strides that leaves the end out
__global__ void cleared_in_part(const int *x, int *y, int *z)
{
    for (int at = t; at < 90; at += 64)
        dynamic[at] = 0;
    __syncthreads();
    atomicAdd(&dynamic[x[i]], 1);
    __syncthreads();
    for (int at = t; at < 128; at += 64)
        atomicAdd(&z[at], at < 100 ? dynamic[at] : 0);
}

// wrong (bounds: launch_failed): an index that turns around below zero
__global__ void unsigned_below_zero(const int *x, int *y, int *z)
{
    const unsigned left = threadIdx.x - 1;
    y[i] = x[left];
}

// wrong (bounds: out_of_bounds): a thread for each element, and half a block too many
__global__ void no_guard(const int *x, int *y, int *z)
{
    y[192 + i] = x[i];
}

// right: a loop over the grid's strides
__global__ void by_grid_strides(const int *x, int *y, int *z)
{
    for (int at = i; at < 256; at += int(gridDim.x * blockDim.x))
        y[at] = x[at];
}

// wrong (races: race): a loop by strides of a block, in all blocks
__global__ void by_block_strides(const int *x, int *y, int *z)
{
    for (int at = t; at < 256; at += int(blockDim.x))
        z[at] += x[at];
}

// wrong (bounds: out_of_bounds): a loop by strides whose body looks one ahead
__global__ void looks_ahead(const int *x, int *y, int *z)
{
    for (int at = i; at < 256; at += 128)
        y[at] = x[at + 1] - x[at];
}

// right: an array of a thread's own, indexed by data
__global__ void own_array(const int *x, int *y, int *z)
{
    int counts[8] = {};
    for (int at = 0; at < 16; ++at)
        ++counts[x[at * 8 + t % 8] % 8];
    int most = 0;
    for (int count : counts)
        most = max(most, count);
    y[i] = most;
}

// wrong (bounds: out_of_bounds): an array of a thread's own, one element too short
__global__ void own_array_too_short(const int *x, int *y, int *z)
{
    int counts[7] = {};
    for (int at = 0; at < 16; ++at)
        ++counts[x[at * 8 + t % 8] % 8];
    int most = 0;
    for (int count : counts)
        most = max(most, count);
    y[i] = most;
}

// wrong (races: race): one array for all blocks' scratch
__global__ void scratch_of_all_blocks(const int *x, int *y, int *z)
{
    z[t] = x[i];
    __syncthreads();
    y[i] = z[63 - t];
}

// right: a part of the scratch for each block
__global__ void scratch_of_each_block(const int *x, int *y, int *z)
{
    int *const own = z + 64 * blockIdx.x;
    own[t] = x[i];
    __syncthreads();
    y[i] = own[63 - t];
}
