// Addresses that are multiples of what is accessed there, or aren't. Arrays begin at multiples of 256 bytes.

// right: vectors in global memory
__global__ void aligned_vectors(const int *x, int *y, int *z)
{
    if (i < 32)
        reinterpret_cast<int4 *>(y)[i] = *reinterpret_cast<const int4 *>(x + 4 * i + 4);
}

// right: pairs at even elements
__global__ void aligned_pairs(const int *x, int *y, int *z)
{
    if (i < 64)
        *reinterpret_cast<int2 *>(y + 2 * i) = *reinterpret_cast<const int2 *>(x + 2 * i + 2);
}

struct Pair {
    double first, second;
};

// right: a structure of two doubles, at a multiple of 8
__global__ void two_doubles(const int *x, int *y, int *z)
{
    if (i < 32)
        *reinterpret_cast<Pair *>(y + 4 * i + 2) = *reinterpret_cast<const Pair *>(x + 4 * i + 2);
}

// right: doubles in dynamic shared memory
__global__ void shared_doubles(const int *x, int *y, int *z)
{
    extern __shared__ int memory[];
    double *const values = reinterpret_cast<double *>(memory);
    values[t] = x[i];
    __syncthreads();
    y[i] = int(values[63 - t]);
}

// right: bytes anywhere
__global__ void bytes_anywhere(const int *x, int *y, int *z)
{
    const unsigned char *const bytes = reinterpret_cast<const unsigned char *>(x);
    y[i] = bytes[i + 1] + bytes[4 * i + 3];
}

// right: 64-bit atomic functions at even elements
__global__ void aligned_atomics(const int *x, int *y, int *z)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(z + 2 * (i / 64)), 1ull);
    y[i] = 0;
}

// right: bytes copied to a variable of another type
__global__ void copied_bytes(const int *x, int *y, int *z)
{
    int value;
    memcpy(&value, reinterpret_cast<const char *>(x) + i + 1, sizeof value);
    y[i] = value;
}

// wrong (bounds: misaligned): an int4 at a multiple of 4 bytes
__global__ void vector_by_four(const int *x, int *y, int *z)
{
    if (i < 32)
        reinterpret_cast<int4 *>(y)[i] = *reinterpret_cast<const int4 *>(x + 4 * i + 1);
}

// wrong (bounds: misaligned): an int4 at a multiple of 8 bytes
__global__ void vector_by_eight(const int *x, int *y, int *z)
{
    if (i < 32)
        reinterpret_cast<int4 *>(y)[i] = *reinterpret_cast<const int4 *>(x + 4 * i + 2);
}

// wrong (bounds: misaligned): a store of an int2 at an odd element
__global__ void pair_store(const int *x, int *y, int *z)
{
    if (i < 64)
        *reinterpret_cast<int2 *>(y + 2 * i + 1) = make_int2(x[i], i);
}

// wrong (bounds: misaligned): a double in shared memory at a multiple of 4
__global__ void shared_double(const int *x, int *y, int *z)
{
    extern __shared__ int memory[];
    double *const values = reinterpret_cast<double *>(memory + 1);
    if (t < 32)
        values[t] = x[i];
    __syncthreads();
    y[i] = int(values[t / 2]);
}

// wrong (bounds: misaligned): a vector of which nothing is used
__global__ void unused_vector(const int *x, int *y, int *z)
{
    const int4 values = *reinterpret_cast<const int4 *>(x + 1);
    (void)values;
    y[i] = x[i];
}

// wrong (bounds: misaligned): a member of a vector
__global__ void member_of_vector(const int *x, int *y, int *z)
{
    y[i] = reinterpret_cast<const int4 *>(x + 1)->x;
}

// wrong (bounds: misaligned): __ldg of a float2 at an odd element
__global__ void loaded_pair(const int *x, int *y, int *z)
{
    const float2 pair = __ldg(reinterpret_cast<const float2 *>(x + 1));
    y[i] = int(pair.x) + int(pair.y);
}

// wrong (bounds: misaligned): an atomic function at an odd byte
__global__ void odd_atomic(const int *x, int *y, int *z)
{
    atomicAdd(reinterpret_cast<int *>(reinterpret_cast<char *>(z) + 2), 1);
    y[i] = x[i];
}

// wrong (bounds: misaligned): a 64-bit atomic function at an odd element
__global__ void wide_atomic(const int *x, int *y, int *z)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(z + 1), 1ull);
    y[i] = x[i];
}

// wrong (bounds: misaligned): a word read at a byte
__global__ void word_at_byte(const int *x, int *y, int *z)
{
    y[i] = *reinterpret_cast<const int *>(reinterpret_cast<const char *>(x) + i + 1);
}
