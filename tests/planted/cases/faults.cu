// What ends a launch, at a line that is told, and what does not.

// right: a local array of 80 KB
__global__ void large_local_array(const int *x, int *y, int *z)
{
    volatile int values[20000];
    for (int k = 0; k < 20000; ++k)
        values[k] = k;
    y[i] = values[x[i]];
}

__noinline__ __device__ int twice(int value) { return 2 * value; }

// right: a function that is not to be inlined
__global__ void kept_apart(const int *x, int *y, int *z)
{
    y[i] = twice(x[i]);
}

constexpr int lanes = 32;

// right: as many threads as its bounds allow
__launch_bounds__(2 * lanes) __global__ void within_bounds(const int *x, int *y, int *z)
{
    y[i] = x[i];
}

// wrong (result: launch_failed): more threads than its bounds allow
__launch_bounds__(32, 2) __global__ void beyond_bounds(const int *x, int *y, int *z)
{
    y[i] = x[i];
}

__device__ int deeper(int depth, const int *x)
{
    volatile int values[1000];
    values[depth % 1000] = x[depth & 63];
    return depth < 0 ? 0 : deeper(depth + 1, x) + values[depth % 1000];
}

// wrong (result: launch_failed): a recursion without an end
__global__ void endless_recursion(const int *x, int *y, int *z)
{
    y[i] = deeper(0, x);
}

// wrong (result: launch_failed): a division by zero
__global__ void divided_by_zero(const int *x, int *y, int *z)
{
    y[i] = x[i] / z[i];
}

// wrong (bounds: launch_failed): a write through a null pointer
__global__ void null_written(const int *x, int *y, int *z)
{
    int *const nothing = x[i] == x[i] ? nullptr : y;
    nothing[t] = 1;
}

// wrong (bounds: launch_failed): an element far before a shared array
__global__ void far_before(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    __syncthreads();
    y[i] = (&tile[0])[t - 100000000];
}

// right: memory that a kernel allocates
__global__ void allocated(const int *x, int *y, int *z)
{
    int *const own = static_cast<int *>(malloc(sizeof(int)));
    *own = x[i];
    y[i] = *own;
    free(own);
}
