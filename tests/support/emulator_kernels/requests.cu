// Kernels whose requests, sectors, wavefronts and conflicts can be counted by hand.

template <typename Element, int stride>
__global__ void strided_global(const Element *input, Element *output)
{
    output[threadIdx.x] = input[threadIdx.x * stride];
}

struct Record {
    double values[5];
};

__global__ void copy_records(const Record *input, Record *output) { output[threadIdx.x] = input[threadIdx.x]; }

template <typename Element, int stride>
__global__ void strided_shared(Element *output)
{
    __shared__ Element array[32 * stride];
    array[threadIdx.x * stride] = Element{};
    __syncthreads();
    output[threadIdx.x] = array[threadIdx.x * stride];
}

// Each lane reads one element more than the lane before it.
__global__ void ragged_loop(const int *input, int *output)
{
    int sum = 0;
    for (unsigned i = 0; i <= threadIdx.x; ++i)
        sum += input[i * 32 + threadIdx.x];
    output[threadIdx.x] = sum;
}

// Far more accesses than are held open at once.
__global__ void long_loop(const int *input, int *output, size_t count)
{
    int sum = 0;
    for (size_t i = threadIdx.x; i < count; i += blockDim.x)
        sum += input[i];
    output[threadIdx.x] = sum;
}

__global__ void two_branches(const int *input, int *output)
{
    if (threadIdx.x < 8)
        output[threadIdx.x] = input[threadIdx.x];
    else
        output[threadIdx.x] = input[64 + threadIdx.x];
}

__global__ void synchronises(unsigned *total, int *output)
{
    __shared__ unsigned votes;
    if (threadIdx.x == 0)
        votes = 0;
    __syncthreads();
    atomicAdd(&votes, 1u);
    __syncwarp();
    atomicAdd(total, 1u);
    output[threadIdx.x] = __shfl_xor_sync(0xffffffffu, int(threadIdx.x), 1);
    __syncthreads();
}

// Each lane's row of 64 bytes; the compiler does not know how many.
__global__ void copies_and_fills(const int *input, int *output, size_t bytes)
{
    memcpy(output + 16 * threadIdx.x, input + 16 * threadIdx.x, bytes);
    memset(output + 16 * (32 + threadIdx.x), 0, bytes);
}

// A block of 32 x 8 x 2 threads transposes a tile of 32 x 32; the second half of its threads leaves early.
template <int padding, bool synchronised>
__global__ void transpose(const int *input, int *output)
{
    __shared__ int tile[32][32 + padding];
    if (threadIdx.z == 1)
        return;
    const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (unsigned row = 0; row < 32; row += blockDim.y)
        tile[threadIdx.y + row][threadIdx.x] = input[(y + row) * gridDim.x * 32 + x]; // tile: write
    if (synchronised)
        __syncthreads();
    const unsigned to_x = blockIdx.y * 32 + threadIdx.x, to_y = blockIdx.x * 32 + threadIdx.y;
    for (unsigned row = 0; row < 32; row += blockDim.y)
        output[(to_y + row) * gridDim.y * 32 + to_x] = tile[threadIdx.x][threadIdx.y + row]; // tile: read
}
