// Two kernels of one point: arrays of several types, scalars of every width, grids and blocks of three dimensions.

enum Fault { none, changes_input, changes_weights, leaves_scratch, leaves_total };

__device__ size_t thread_number()
{
    const size_t block = (size_t(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const size_t thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    return block * (blockDim.x * blockDim.y * blockDim.z) + thread;
}

__global__ void weigh(bool negative, const unsigned char *image, short *scratch, signed char shift, unsigned *histogram,
                      unsigned short factor, int fault, unsigned long long count)
{
    const size_t i = thread_number();
    if (i >= count)
        return;
    const int value = (negative ? -1 : 1) * (int(image[i]) * factor + shift);
    if (fault != leaves_scratch || i != count - 1)
        scratch[i] = short(value);
    atomicAdd(&histogram[image[i] % 4], 1u);
    if (fault == changes_input && i == count - 1)
        const_cast<unsigned char *>(image)[i] ^= 1;
}

__global__ void add(float *state, const short *scratch, double *weights, double *totals, float scale, double bias,
                    int fault, unsigned long long count)
{
    extern __shared__ double products[];
    const size_t i = thread_number();
    if (i >= count)
        return;
    products[threadIdx.x] = scratch[i] * weights[i] * scale;
    __syncthreads(); // partial barrier
    state[i] += float(products[threadIdx.x]);
    if (fault != leaves_total || i != count - 1)
        totals[i] = products[threadIdx.x] + bias;
    if (fault == changes_weights && i == 6)
        weights[i] += 1;
}
