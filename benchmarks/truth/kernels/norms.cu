// Softmax and normalisation of rows of 64 elements, a block each.

// The sum of a block's values, for all of its threads. The array may be in use by the call before.
__device__ int block_sum(int value)
{
    __shared__ int sums[2];
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(~0u, value, distance);
    if (t % 32 == 0)
        sums[t / 32] = value;
    __syncthreads();
    return sums[0] + sums[1];
}

// right: the maximum, then the sum, in one array with barriers around
__global__ void softmax(const int *x, int *y, int *z)
{
    __shared__ float row[64];
    row[t] = x[i];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half)
            row[t] = fmaxf(row[t], row[t + half]);
        __syncthreads();
    }
    const float most = row[0];
    __syncthreads();
    const float own = expf(x[i] - most);
    row[t] = own;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half)
            row[t] += row[t + half];
        __syncthreads();
    }
    y[i] = int(1000 * own / row[0]);
}

// wrong (races: race): the maximum is read while others store into its place
__global__ void softmax_overwrites_maximum(const int *x, int *y, int *z)
{
    __shared__ float row[64];
    row[t] = x[i];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half)
            row[t] = fmaxf(row[t], row[t + half]);
        __syncthreads();
    }
    const float own = expf(x[i] - row[0]);
    row[t] = own;
    __syncthreads();
    if (t == 0) {
        float sum = 0;
        for (int at = 0; at < 64; ++at)
            sum += row[at];
        z[blockIdx.x] = int(sum);
    }
    y[i] = int(1000 * own);
}

// right: mean, then variance, with a barrier between the two uses of one array
__global__ void layer_norm(const int *x, int *y, int *z)
{
    const int mean = block_sum(x[i]) / 64;
    __syncthreads();
    const int off = x[i] - mean;
    y[i] = off * 100 / (1 + block_sum(off * off) / 64);
}

// wrong (races: race): one function's array is used twice, and nobody waits in between
__global__ void layer_norm_in_a_hurry(const int *x, int *y, int *z)
{
    const int mean = block_sum(x[i]) / 64;
    const int off = x[i] - mean;
    y[i] = off * 100 / (1 + block_sum(off * off) / 64);
}

// wrong (races: race): the mean is published by one thread, and read at once
__global__ void mean_not_awaited(const int *x, int *y, int *z)
{
    __shared__ int mean;
    const int sum = block_sum(x[i]);
    if (t == 0)
        mean = sum / 64;
    y[i] = x[i] - mean;
}

// right: mean and deviations of a row by one pass, combined by shuffles
__global__ void welford(const int *x, int *y, int *z)
{
    float mean = x[i], square = 0, count = 1;
    for (int distance = 1; distance < 32; distance *= 2) {
        const float other = __shfl_xor_sync(~0u, mean, distance), others = __shfl_xor_sync(~0u, square, distance);
        const float delta = other - mean;
        mean = (mean + other) / 2;
        square += others + delta * delta * count / 2;
        count *= 2;
    }
    y[i] = int((x[i] - mean) * 100 / sqrtf(square / count + 1));
}

// wrong (uninitialised: uninitialised): the sums of eight warps are added up, where the block has two
__global__ void sums_of_eight_warps(const int *x, int *y, int *z)
{
    __shared__ int sums[8];
    const int own = __reduce_add_sync(~0u, x[i]);
    if (t % 32 == 0)
        sums[t / 32] = own;
    __syncthreads();
    int sum = t < 8 ? sums[t] : 0;
    for (int distance = 4; distance > 0; distance /= 2)
        sum += __shfl_down_sync(~0u, sum, distance);
    if (t == 0)
        y[blockIdx.x] = sum;
}

// wrong (bounds: out_of_bounds): gamma is read by the element's place in all rows
__global__ void gamma_of_all_rows(const int *x, int *y, int *z)
{
    const int *const gamma = x + 192;
    y[i] = x[i] * gamma[i];
}

// right: a row in registers, four elements a lane, and the last warp idle
__global__ void row_in_registers(const int *x, int *y, int *z)
{
    if (t >= 32)
        return;
    const int4 own = reinterpret_cast<const int4 *>(x)[blockIdx.x * 32 + t];
    int sum = own.x + own.y + own.z + own.w;
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(~0u, sum, distance);
    reinterpret_cast<int4 *>(y)[blockIdx.x * 32 + t] = {own.x - sum, own.y - sum, own.z - sum, own.w - sum};
}

// wrong (bounds: out_of_bounds): the same with all warps, four elements a thread
__global__ void row_in_too_many_registers(const int *x, int *y, int *z)
{
    const int4 own = reinterpret_cast<const int4 *>(x)[i];
    reinterpret_cast<int4 *>(y)[i] = own;
}

// wrong (races: race): dropout's mask, two elements a byte, stored by two threads
__global__ void mask_of_two(const int *x, int *y, int *z)
{
    unsigned char *const mask = reinterpret_cast<unsigned char *>(z);
    mask[i / 2] |= (x[i] > 50) << (i % 2);
}
