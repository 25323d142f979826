// Accesses at the ends of arrays: x and y have 256 elements.

// right: the last element
__global__ void last_element(const int *x, int *y, int *z)
{
    y[i + 128] = x[255 - i];
}

// right: a guarded neighbour
__global__ void guarded(const int *x, int *y, int *z)
{
    const int place = i + 128;
    y[place] = place + 1 < 256 ? x[place + 1] : 0;
}

// right: vectors to the end
__global__ void vectors_to_end(const int *x, int *y, int *z)
{
    if (i < 64)
        reinterpret_cast<int4 *>(y)[i] = reinterpret_cast<const int4 *>(x)[i];
}

// right: local arrays
__global__ void local_arrays(const int *x, int *y, int *z)
{
    int counts[4] = {};
    for (int place = i; place < 256; place += 128)
        ++counts[x[place] & 3];
    int sorted[2][2];
    for (int k = 0; k < 4; ++k)
        sorted[k / 2][k % 2] = counts[3 - k];
    y[i] = sorted[x[i] & 1][1];
}

struct Vector {
    int elements[4];
};

__constant__ int weights[4] = {1, 2, 3, 4};

// right: an array in constant memory
__global__ void constant_array(const int *x, int *y, int *z)
{
    y[i] = weights[x[i] & 3];
}

// right: a pointer to the end that nothing reads
__global__ void end_pointer(const int *x, int *y, int *z)
{
    const int *const end = x + 256;
    int sum = 0;
    for (const int *next = x + i; next < end; next += 128)
        sum += *next;
    y[i] = sum;
}

// right: a padded tile, as rows and through a pointer
__global__ void padded_tile(const int *x, int *y, int *z)
{
    __shared__ int tile[8][9];
    int *const elements = &tile[0][0];
    elements[t] = 0;
    if (t < 8)
        elements[64 + t] = 0;
    __syncthreads();
    tile[t / 8][t % 8] = x[i];
    __syncthreads();
    y[i] = tile[t % 8][t / 8];
}

// right: an array in a structure, in global memory
__global__ void structures(const int *x, int *y, int *z)
{
    if (i < 64)
        reinterpret_cast<Vector *>(y)[i].elements[3] = reinterpret_cast<const Vector *>(x)[i].elements[x[i] & 3];
}

// right: rows of shared memory through a pointer to arrays
__global__ void rows_of_dynamic(const int *x, int *y, int *z)
{
    extern __shared__ char raw[];
    int(*const rows)[8] = reinterpret_cast<int(*)[8]>(raw);
    rows[t / 8][t % 8] = x[i];
    __syncthreads();
    y[i] = rows[t % 8][t / 8];
}

// wrong (bounds: out_of_bounds): a read past the end
__global__ void read_past_end(const int *x, int *y, int *z)
{
    y[i] = x[i + 129];
}

// wrong (bounds: out_of_bounds): a read past the end whose value nothing uses
__global__ void unused_past_end(const int *x, int *y, int *z)
{
    const int next = x[i + 129];
    (void)next;
    y[i] = x[i];
}

// wrong (bounds: out_of_bounds): a condition past the end that decides nothing
__global__ void idle_condition(const int *x, int *y, int *z)
{
    if (x[i + 129] > 0) {
    }
    y[i] = x[i];
}

// wrong (bounds: out_of_bounds): a prefetch past the end
__global__ void prefetch_past_end(const int *x, int *y, int *z)
{
    int sum = 0, next = x[i];
    for (int place = i; place < 256; place += 128) {
        sum += next;
        next = x[place + 128];
    }
    y[i] = sum;
}

// wrong (bounds: out_of_bounds): a value past the end that a branch uses, never
__global__ void used_in_branch(const int *x, int *y, int *z)
{
    const int next = x[i + 129];
    y[i] = x[i];
    if (i > 1000)
        y[i] = next;
}

// wrong (bounds: out_of_bounds): a value past the end that becomes nothing
__global__ void multiplied_by_zero(const int *x, int *y, int *z)
{
    int sum = 0;
    for (int k = 0; k < 2; ++k)
        sum += x[i + 65 + 64 * k] * (k == 0);
    y[i] = sum;
}

// wrong (bounds: out_of_bounds): a read before the start
__global__ void read_before_start(const int *x, int *y, int *z)
{
    y[i] = x[i - 1];
}

// wrong (bounds: out_of_bounds): a write past the end
__global__ void write_past_end(const int *x, int *y, int *z)
{
    y[i + 129] = x[i];
}

// wrong (bounds: launch_failed): a read through a null pointer
__global__ void null_pointer(const int *x, int *y, int *z)
{
    const int *const nothing = x[i] == x[i] ? nullptr : x;
    y[i] = nothing[t];
}

// wrong (bounds: launch_failed): a read far from every array
__global__ void far_away(const int *x, int *y, int *z)
{
    y[i] = x[size_t(i) + 50000000];
}

// wrong (bounds: out_of_bounds): the index of a shared array
__global__ void shared_index(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t + 1] = x[i];
    __syncthreads();
    y[i] = tile[t == 0 ? 1 : t];
}

// wrong (bounds: out_of_bounds): a pointer past a shared array
__global__ void shared_pointer(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    int *const next = tile + 1;
    next[t] = x[i];
    __syncthreads();
    y[i] = tile[t == 0 ? 1 : t];
}

// wrong (bounds: out_of_bounds): past dynamic shared memory, of 512 bytes
__global__ void dynamic_past_end(const int *x, int *y, int *z)
{
    extern __shared__ int memory[];
    memory[t + 65] = x[i];
    __syncthreads();
    y[i] = memory[t + 65];
}

// wrong (bounds: out_of_bounds): a read past a local array
__global__ void local_read(const int *x, int *y, int *z)
{
    int values[4];
    for (int k = 0; k < 4; ++k)
        values[k] = x[i] + k;
    y[i] = values[(x[i] & 3) + 1];
}

// wrong (bounds: out_of_bounds): a write past a local array
__global__ void local_write(const int *x, int *y, int *z)
{
    int counts[4] = {};
    counts[x[i] & 7] = 1;
    y[i] = counts[0] + counts[3];
}

// wrong (bounds: out_of_bounds): past an array in a structure
__global__ void array_in_structure(const int *x, int *y, int *z)
{
    Vector vector;
    for (int k = 0; k <= 4; ++k)
        vector.elements[k] = x[i];
    y[i] = vector.elements[x[i] & 3];
}

// wrong (bounds: out_of_bounds): past an array in constant memory
__global__ void constant_past_end(const int *x, int *y, int *z)
{
    y[i] = weights[x[i] & 7];
}

// wrong (bounds: out_of_bounds): a vector partly past the end
__global__ void vector_past_end(const int *x, int *y, int *z)
{
    y[i] = i < 65 ? reinterpret_cast<const int4 *>(x)[i].x : 0;
}

// wrong (bounds: out_of_bounds): an atomic function past the end
__global__ void atomic_past_end(const int *x, int *y, int *z)
{
    atomicAdd(z + 129 + i, 1);
    y[i] = x[i];
}
