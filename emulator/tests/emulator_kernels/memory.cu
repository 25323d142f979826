// Shared memory, static and dynamic, device variables, and atomic functions.

#include <cub/cub.cuh>

__device__ unsigned long long total;

template <typename Element>
__global__ void reverse_blocks(Element *data)
{
    __shared__ Element reversed[6144];
    const unsigned thread = threadIdx.x;
    reversed[blockDim.x - 1 - thread] = data[blockIdx.x * blockDim.x + thread];
    __syncthreads();
    data[blockIdx.x * blockDim.x + thread] = reversed[thread];
}

__global__ void reverse_dynamic(float *data)
{
    extern __shared__ __align__(16) float buffer[];
    const unsigned thread = threadIdx.x;
    buffer[blockDim.x - 1 - thread] = data[blockIdx.x * blockDim.x + thread];
    __syncthreads();
    data[blockIdx.x * blockDim.x + thread] = buffer[thread];
}

__global__ void count_all(int *integers, unsigned *unsigneds, unsigned long long *longs, float *floats, double *doubles)
{
    const int index = int(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&integers[0], 1);
    atomicSub(&integers[1], index);
    atomicMin(&integers[2], -index);
    atomicMax(&integers[3], index);
    atomicXor(&integers[4], index);
    atomicOr(&integers[5], 1 << index % 31);
    atomicAnd(&integers[6], ~(1 << index % 31));
    atomicInc(&unsigneds[0], 999);
    atomicExch(&unsigneds[1], 5u);
    for (unsigned seen = unsigneds[2], old; (old = atomicCAS(&unsigneds[2], seen, seen + 3)) != seen; seen = old) {
    }
    atomicAdd(&longs[0], 1ull << 33);
    atomicAdd(&total, 1ull);
    atomicAdd(&floats[0], 1.0f);
    atomicAdd(&doubles[0], 0.5);
}

__global__ void read_total(unsigned long long *result)
{
    *result = total;
}

// A row a thread: where it is, in a block and a grid of which sizes, and its lane.
__global__ void places(unsigned *results)
{
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const size_t block = (size_t(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned row[] = {threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z,
                            blockDim.x,  blockDim.y,  blockDim.z,  gridDim.x,  gridDim.y,  gridDim.z};
    for (unsigned i = 0; i < 12; ++i)
        results[(block * blockDim.x * blockDim.y * blockDim.z + thread) * 13 + i] = row[i];
    const unsigned before = __ballot_sync(0xffffffffu, 1) & ((1u << thread % 32) - 1);
    results[(block * blockDim.x * blockDim.y * blockDim.z + thread) * 13 + 12] = __popc(before);
}


// A block's sum, the largest of its first values with its place, and sums before each thread and up to each of its pairs.
extern "C" __global__ void block_sums(const int *data, int *sum, int *largest, int *before, int *pairs, int valid)
{
    using Pair = cub::KeyValuePair<int, int>;
    using Sum = cub::BlockReduce<int, 96>;
    using Largest = cub::BlockReduce<Pair, 96>;
    using Scan = cub::BlockScan<int, 96>;
    __shared__ union {
        Sum::TempStorage sum;
        Largest::TempStorage largest;
        Scan::TempStorage scan;
    } storage;
    const int value = data[threadIdx.x];
    const int all = Sum(storage.sum).Sum(value);
    __syncthreads();
    const Pair top = Largest(storage.largest).Reduce(Pair{int(threadIdx.x), value}, cub::ArgMax(), valid);
    if (threadIdx.x == 0) {
        *sum = all;
        largest[0] = top.key;
        largest[1] = top.value;
    }
    __syncthreads();
    int total;
    Scan(storage.scan).ExclusiveSum(value, before[threadIdx.x], total);
    __syncthreads();
    int two[2] = {value, total};
    Scan(storage.scan).InclusiveSum(two, two);
    pairs[2 * threadIdx.x] = two[0];
    pairs[2 * threadIdx.x + 1] = two[1];
}
