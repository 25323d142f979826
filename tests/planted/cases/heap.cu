// Memory that kernels allocate.

struct Node { int value; Node *next; };

// right: each thread allocates, uses and frees its own
__global__ void own(const int *x, int *y, int *z)
{
    int *const mine = static_cast<int *>(malloc(10 * sizeof(int)));
    for (int k = 0; k < 10; ++k)
        mine[k] = x[i] + k;
    y[i] = mine[9];
    free(mine);
}

// right: one thread allocates for its block, and frees after a barrier
__global__ void of_block(const int *x, int *y, int *z)
{
    __shared__ int *tile;
    if (t == 0)
        tile = new int[64];
    __syncthreads();
    if (tile == nullptr)
        return;
    tile[t] = x[i];
    __syncthreads();
    y[i] = tile[63 - t];
    __syncthreads();
    if (t == 0)
        delete[] tile;
}

// right: a list that nobody frees
__global__ void list(const int *x, int *y, int *z)
{
    Node *first = nullptr;
    for (int k = 0; k < 4; ++k)
        first = new Node{x[i] + k, first};
    int sum = 0;
    for (Node *node = first; node; node = node->next)
        sum += node->value;
    y[i] = sum;
}

// right: too much gives null, and freeing null is nothing
__global__ void too_much(const int *x, int *y, int *z)
{
    void *const large = malloc(size_t(1) << 30);
    char *const other = new char[size_t(64) << 20];
    y[i] = (large == nullptr) + 2 * (other == nullptr);
    free(large);
    delete[] other;
}

// right: again and again
__global__ void again(const int *x, int *y, int *z)
{
    int sum = 0;
    for (int k = 0; k < 4 && t % 8 == 0; ++k) {
        int *const mine = static_cast<int *>(malloc(50000 * sizeof(int)));
        if (mine) {
            mine[k] = x[i];
            sum += mine[k];
        }
        free(mine);
    }
    y[i] = sum;
}

// wrong (bounds: out_of_bounds): one element too far
__global__ void past_end(const int *x, int *y, int *z)
{
    int *const mine = static_cast<int *>(malloc(10 * sizeof(int)));
    for (int k = 0; k <= 10; ++k)
        mine[k] = x[i] + k;
    y[i] = mine[9];
    free(mine);
}

// wrong (bounds: out_of_bounds): one element before
__global__ void before_start(const int *x, int *y, int *z)
{
    int *const mine = static_cast<int *>(malloc(10 * sizeof(int)));
    mine[0] = x[i];
    y[i] = mine[t == 5 ? -1 : 0];
    free(mine);
}

// wrong (bounds: out_of_bounds): read after it is freed
__global__ void after_free(const int *x, int *y, int *z)
{
    int *const mine = static_cast<int *>(malloc(10 * sizeof(int)));
    mine[0] = x[i];
    free(mine);
    y[i] = mine[0];
}

// wrong (bounds: out_of_bounds): freed twice
__global__ void twice(const int *x, int *y, int *z)
{
    int *const mine = new int(x[i]);
    y[i] = *mine;
    delete mine;
    delete mine;
}

// wrong (uninitialised: uninitialised): read before it is written
__global__ void not_set(const int *x, int *y, int *z)
{
    int *const mine = new int[2];
    mine[0] = x[i];
    y[i] = mine[0] + mine[t == 7];
    delete[] mine;
}

// wrong (races: race): one thread frees, and others may still read
__global__ void freed_early(const int *x, int *y, int *z)
{
    __shared__ int *tile;
    if (t == 0)
        tile = new int[64];
    __syncthreads();
    tile[t] = x[i];
    __syncthreads();
    y[i] = tile[63 - t];
    if (t == 63)
        delete[] tile;
}

// wrong (races: race): the block's memory without a barrier
__global__ void no_barrier(const int *x, int *y, int *z)
{
    __shared__ int *tile;
    if (t == 0)
        tile = new int[64];
    __syncthreads();
    tile[t] = x[i];
    y[i] = tile[63 - t];
    __syncthreads();
    if (t == 0)
        delete[] tile;
}

// wrong (bounds: launch_failed): null, because there is no room
__global__ void unchecked(const int *x, int *y, int *z)
{
    int *const mine = static_cast<int *>(malloc(size_t(1) << 30));
    mine[0] = x[i];
    y[i] = mine[0];
}

// wrong (bounds: launch_failed): frees what is inside of an allocation
__global__ void inside(const int *x, int *y, int *z)
{
    int *const mine = static_cast<int *>(malloc(64));
    free(mine + 8);
    y[i] = x[i];
}

