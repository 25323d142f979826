// Threads that wait for others that never come. The tests look for the line numbers of the lines marked so.

// Each thread that does not leave early counts those that have stayed, at three barriers.
__global__ void early_return(int first_block, int stride, int offset, int *results)
{
    if (int(blockIdx.x) >= first_block && int(threadIdx.x) % stride >= offset)
        return;
    const int count = __syncthreads_count(1); // early_return
    const int every = __syncthreads_and(int(threadIdx.x) % stride < offset);
    __syncthreads();
    results[blockIdx.x * blockDim.x + threadIdx.x] = 2 * count + every;
}

// A part of the block skips a barrier and runs on to the next one.
__global__ void skipped_barrier()
{
    if (threadIdx.x < 8)
        __syncthreads(); // skipped
    __syncthreads(); // next
}

__global__ void fails_in_block(int block)
{
    if (int(blockIdx.x) >= block && threadIdx.x == 5)
        __syncthreads();
    __syncthreads();
}

// Lanes 20 and above have ended. The others name them, and halves of the others meet on their own.
__global__ void ended_lanes(int distance, int *results)
{
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned lane = thread % 32;
    if (lane >= 20)
        return;
    __syncwarp();
    const int sum = __reduce_add_sync(0xffffffffu, 1);
    const unsigned votes = __ballot_sync(lane < 4 ? 0xf000000fu : 0x0ffffff0u, 1);
    results[thread] = sum + int(votes);
    results[thread] += __shfl_down_sync(0xffffffffu, 1000, distance); // ended_lanes
}
