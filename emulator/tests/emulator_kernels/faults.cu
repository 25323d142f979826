#include <memory> // has __attribute__((__noinline__))
// What must end a launch and not the process, and a kernel that shows that the process still works.

__device__ __noinline__ unsigned recurse(unsigned depth, volatile unsigned *seed)
{
    volatile unsigned frame[5000];
    frame[depth % 5000] = *seed;
    return depth == 0 ? frame[0] : recurse(depth - 1, seed) + frame[depth % 5000];
}

__global__ void deep(unsigned *data, unsigned depth)
{
    if (threadIdx.x == 7)
        data[0] = recurse(depth, data + 1);
    __syncthreads();
}

__global__ void wild(char *address)
{
    if (blockIdx.x == 2 && threadIdx.x == 33)
        *reinterpret_cast<volatile int *>(address) = 1; // wild
    __syncthreads();
}

__global__ void divide(int *data, int divisor)
{
    data[0] = data[1] / divisor; // divided
}

__global__ void trap()
{
    if (threadIdx.x == 9)
        __trap();
}

__global__ void fill(unsigned *data)
{
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    __syncthreads();
    data[index] = index;
}
