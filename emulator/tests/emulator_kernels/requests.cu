// Kernels whose requests, sectors, wavefronts and conflicts can be counted by hand.

template <typename Element, int stride>
__global__ void strided_global(const Element *input, Element *output)
{
    output[threadIdx.x] = input[threadIdx.x * stride];
}

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
