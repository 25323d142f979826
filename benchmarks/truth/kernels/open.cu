// Mistakes of which docs/proofs.md says that the emulator does not find them, or not always.

// wrong (not: found): a pointer that runs past a local array
__global__ void pointer_past_own_array(const int *x, int *y, int *z)
{
    int own[4] = {x[i], 1, 2, 3}, sum = 0;
    for (const int *at = own; at <= own + 4 + x[i] % 2; ++at)
        sum += *at;
    y[i] = sum;
}

// wrong (not: found): a variable that one branch does not set
__global__ void set_in_one_branch(const int *x, int *y, int *z)
{
    int own;
    if (x[i] > 50)
        own = x[i];
    y[i] = own;
}

// wrong (not: found): a shift by all bits of a word
__global__ void shift_by_a_word(const int *x, int *y, int *z)
{
    y[i] = int(1u << (32 - x[i] % 2));
}

// wrong (not: found): a product beyond 31 bits
__global__ void product_too_large(const int *x, int *y, int *z)
{
    y[i] = (x[i] + 1) * (1 << 30) / 2;
}

// wrong (not: found): a float that no int holds
__global__ void float_too_large(const int *x, int *y, int *z)
{
    y[i] = int(3e9f + x[i]);
}

// wrong (not: found): __ldg of what the kernel has written
__global__ void reads_what_it_wrote_by_ldg(const int *x, int *y, int *z)
{
    z[i] = x[i];
    y[i] = __ldg(&z[i]);
}

// wrong (not: found): all add, and the last to add reads without a barrier
__global__ void last_to_add_reads(const int *x, int *y, int *z)
{
    __shared__ int sum;
    if (t == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[i]);
    if (t == 63)
        y[blockIdx.x] = sum;
}

// wrong (not: found): a look and a store by atomic functions, in which an update is lost
__global__ void lost_update(const int *x, int *y, int *z)
{
    const int seen = atomicAdd(&z[0], 0);
    atomicExch(&z[0], seen + x[i]);
}

// wrong (not: found): a sum by a tree whose last step is left out
__global__ void last_step_left_out(const int *x, int *y, int *z)
{
    int sum = x[i];
    for (int distance = 16; distance > 1; distance /= 2)
        sum += __shfl_xor_sync(~0u, sum, distance);
    y[i] = sum;
}
