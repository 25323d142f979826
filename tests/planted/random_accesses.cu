// Each thread makes the accesses to a word that `program` has for it, by steps, with a synchronisation after each step.

__global__ void random_accesses(const int *program, const int *orders, int steps, unsigned char *z, int *other)
{
    __shared__ unsigned word;
    if (threadIdx.x == 0)
        word = 0;
    __syncthreads();
    unsigned char *const target = IS_SHARED ? reinterpret_cast<unsigned char *>(&word) : z;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int step = 0; step < steps; ++step) {
        const int access = program[thread * steps + step];
        volatile unsigned char *const byte = target + access % 4;
        volatile unsigned short *const half = reinterpret_cast<unsigned short *>(target + access % 4);
        unsigned *const whole = reinterpret_cast<unsigned *>(target);
        switch (access / 4) {
        case 1: other[thread] = *byte; break;
        case 2: *byte = 1; break;
        case 3: other[thread] = *half; break;
        case 4: *half = 1; break;
        case 5: other[thread] = *static_cast<volatile unsigned *>(whole); break;
        case 6: *whole = 1; break;
        case 7: atomicAdd(whole, 1); break;
        case 8: atomicAdd_block(whole, 1); break;
        }
        if (access != 0)
            atomicAdd(other + 256, 1); // An atomic function elsewhere: the one before tells nothing of others' any more.
        if (orders[step] == 1)
            __syncwarp();
        if (orders[step] == 2)
            __syncthreads();
    }
}
