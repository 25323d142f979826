// Accesses of a block's threads to one element.

// right: a barrier between writes and reads
__global__ void reversed(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    __syncthreads();
    y[i] = tile[63 - t];
}

// right: two buffers in turn, one barrier a round
__global__ void two_buffers(const int *x, int *y, int *z)
{
    __shared__ int tiles[2][64];
    tiles[0][t] = x[i];
    for (int round = 0; round < 4; ++round) {
        __syncthreads();
        tiles[(round + 1) % 2][t] = tiles[round % 2][63 - t] + round;
    }
    y[i] = tiles[0][t];
}

// right: a tree, a barrier a level
__global__ void tree(const int *x, int *y, int *z)
{
    __shared__ int sums[64];
    sums[t] = x[i];
    __syncthreads();
    for (int distance = 32; distance > 0; distance /= 2) {
        if (t < distance)
            sums[t] += sums[t + distance];
        __syncthreads();
    }
    if (t == 0)
        y[blockIdx.x] = sums[0];
}

// right: __syncwarp between the lanes of a warp
__global__ void within_warps(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    __syncwarp();
    y[i] = tile[t ^ 31];
}

// right: __syncwarp of half a warp each
__global__ void within_halves(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    __syncwarp(t % 32 < 16 ? 0xffffu : 0xffff0000u);
    y[i] = tile[t ^ 15];
}

// right: neighbours write the bytes of one word
__global__ void bytes_of_a_word(const int *x, int *y, int *z)
{
    __shared__ unsigned char bytes[64];
    bytes[t] = static_cast<unsigned char>(x[i]);
    __syncthreads();
    y[i] = bytes[63 - t];
}

// right: each thread updates its own element
__global__ void own_elements(const int *x, int *y, int *z)
{
    z[i] += x[i];
    z[i] *= 2;
    y[i] = z[i];
}

// right: a value of one thread, after a barrier
__global__ void broadcast(const int *x, int *y, int *z)
{
    __shared__ int value;
    if (t == 5)
        value = x[i];
    __syncthreads();
    y[i] = value;
}

// right: a tile that is used again, two barriers a round
__global__ void tile_again(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    int sum = 0;
    for (int round = 0; round < 2; ++round) {
        tile[t] = x[64 * round + t];
        __syncthreads();
        sum += tile[63 - t];
        __syncthreads();
    }
    y[i] = sum;
}

// right: atomic functions on one element
__global__ void counted(const int *x, int *y, int *z)
{
    atomicAdd(z, x[i] & 1);
    atomicMax(z + 1, x[i]);
    y[i] = 0;
}

// right: two arrays in dynamic shared memory
__global__ void two_dynamic_arrays(const int *x, int *y, int *z)
{
    extern __shared__ int memory[];
    int *const first = memory, *const second = memory + 64;
    first[t] = x[i];
    second[63 - t] = x[i];
    __syncthreads();
    y[i] = first[63 - t] + second[t];
}

// right: blocks write different parts
__global__ void parts_of_blocks(const int *x, int *y, int *z)
{
    for (int place = i; place < 256; place += 128)
        y[place] = x[place];
}

// right: places from an atomic counter
__global__ void queue(const int *x, int *y, int *z)
{
    if (x[i] & 1)
        y[atomicAdd(z, 1)] = x[i];
}

// note (races: same_value): all threads store one value
__global__ void same_value(const int *x, int *y, int *z)
{
    __shared__ int is_any;
    if (t == 0)
        is_any = 0;
    __syncthreads();
    if (x[i] & 1)
        is_any = 1;
    __syncthreads();
    y[i] = is_any;
}

// right: a shared array of a type with constructors, which g++ guards by a variable
__global__ void constructed(const int *x, int *y, int *z)
{
    __shared__ __half2 s[64];
    s[t] = __half2(x[i], 1);
    __syncthreads();
    y[i] = int(__low2float(s[t ^ 1]));
}

// wrong (races: race): no barrier between writes and reads
__global__ void missing_barrier(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    y[i] = tile[63 - t];
}

// wrong (races: race): no barrier before a tile is written again
__global__ void missing_second_barrier(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    int sum = 0;
    for (int round = 0; round < 2; ++round) {
        tile[t] = x[64 * round + t];
        __syncthreads();
        sum += tile[63 - t];
    }
    y[i] = sum;
}

// wrong (races: race): lanes that count on lockstep
__global__ void lockstep(const int *x, int *y, int *z)
{
    __shared__ volatile int tile[64];
    tile[t] = x[i];
    y[i] = tile[t ^ 1];
}

// wrong (races: race): a shuffle in the place of __syncwarp
__global__ void shuffle_for_syncwarp(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    const int other = __shfl_xor_sync(0xffffffffu, x[i], 1);
    y[i] = other + tile[t ^ 1];
}

// wrong (races: race): __syncwarp between warps
__global__ void syncwarp_between_warps(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    __syncwarp();
    y[i] = tile[63 - t];
}

// wrong (races: race): the halves of a warp, each synchronised by itself
__global__ void between_halves(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    __syncwarp(t % 32 < 16 ? 0xffffu : 0xffff0000u);
    y[i] = tile[t ^ 16];
}

// wrong (races: race): the upper half reads what the lower half, synchronised by itself, has written
__global__ void upper_half_reads(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    if (t % 32 < 16) {
        tile[t] = x[i];
        __syncwarp(0xffffu);
    } else
        y[i] = tile[t ^ 16];
}

// wrong (races: race): of two lanes that read a value, the one that overwrites it has waited for one
__global__ void one_reader_waited_for(const int *x, int *y, int *z)
{
    __shared__ int value;
    if (t == 0)
        value = x[i];
    __syncthreads();
    if (t < 2)
        y[i] = value;
    if (t == 0 || t == 2)
        __syncwarp(5u);
    if (t == 2)
        value = 0;
}

// wrong (races: race): two blocks write one element
__global__ void blocks_collide(const int *x, int *y, int *z)
{
    y[t] = x[i] + i;
}

// wrong (races: race): an exchange in global memory without a barrier
__global__ void global_exchange(const int *x, int *y, int *z)
{
    z[i] = x[i];
    y[i] = z[i ^ 63];
}

// wrong (races: race): a plain access beside an atomic function
__global__ void atomic_and_plain(const int *x, int *y, int *z)
{
    if (t == 0)
        z[blockIdx.x] = 5;
    else
        atomicAdd(z + blockIdx.x, x[i]);
    y[i] = 0;
}

// wrong (races: race): an update that is not atomic
__global__ void lost_update(const int *x, int *y, int *z)
{
    z[0] += x[i];
    y[i] = 0;
}

// wrong (races: race): a stencil in place
__global__ void in_place(const int *x, int *y, int *z)
{
    __shared__ int tile[65];
    tile[t] = x[i];
    if (t == 0)
        tile[64] = 0;
    __syncthreads();
    tile[t] += tile[t + 1];
    __syncthreads();
    y[i] = tile[t];
}

// wrong (races: race): vector stores that overlap
__global__ void overlapping_stores(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int tile[132];
    *reinterpret_cast<int2 *>(tile + 2 * (t / 2)) = make_int2(x[i], t);
    __syncthreads();
    y[i] = tile[t];
}

// wrong (races: race): a read whose value nothing uses
__global__ void unused_read(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    const int other = tile[63 - t];
    (void)other;
    y[i] = x[i];
}

__device__ int by_thread[128];

// right: a variable of the program, an element a thread
__global__ void variable_of_threads(const int *x, int *y, int *z)
{
    __builtin_assume(x != y);
    by_thread[i] = x[i];
    y[i] = by_thread[i];
}

// wrong (races: race): a variable of the program, of which a thread reads another one's element
__global__ void variable_of_program(const int *x, int *y, int *z)
{
    by_thread[i] = x[i];
    y[i] = by_thread[i ^ 1];
}
