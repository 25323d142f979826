// Threads that wait for others that never come. The tests look for the line numbers of the lines marked so.

__global__ void early_return(int limit)
{
    if (threadIdx.x % 8 == 3 && int(threadIdx.x) < limit)
        return;
    __syncthreads(); // early_return
}

__global__ void different_barriers()
{
    if (threadIdx.x < 40)
        __syncthreads(); // first barrier
    else
        __syncthreads(); // second barrier
}

__global__ void fails_in_block(int block)
{
    if (int(blockIdx.x) >= block && threadIdx.x == 5)
        return;
    __syncthreads();
}

__global__ void ended_lane()
{
    if (threadIdx.x == 35)
        return;
    __syncwarp(); // ended_lane
}

__global__ void not_in_own_mask()
{
    __shfl_sync(0x0000fffeu, 1, 2); // not_in_own_mask
}

__global__ void mixed_operations()
{
    if (threadIdx.x % 2 == 0)
        __shfl_xor_sync(0xffffffffu, 1, 2); // mixed xor
    else
        __shfl_down_sync(0xffffffffu, 1, 2); // mixed down
}

__global__ void different_masks()
{
    __syncwarp(threadIdx.x < 4 ? 0x0000ffffu : 0xffffffffu);
}

__global__ void lane_at_barrier()
{
    if (threadIdx.x == 2)
        __syncthreads(); // lane at barrier
    else
        __syncwarp(); // lanes in warp
    __syncthreads();
}
