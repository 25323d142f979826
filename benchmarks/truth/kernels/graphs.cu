// Sparse rows, graphs and lists. Element k's neighbours are x[k] and (k + 1) % 128.

// right: rows of two to four elements, a thread a row
__global__ void rows_by_threads(const int *x, int *y, int *z)
{
    const auto start = [](int row) { return row / 2 * 3 + row % 2; };
    int sum = 0;
    for (int at = start(i); at < start(i + 1); ++at)
        sum += x[at];
    y[i] = sum;
}

// wrong (bounds: out_of_bounds): the end of the last row is read from where no row begins
__global__ void rows_without_end(const int *x, int *y, int *z)
{
    const int *const starts = x + 128;
    y[i] = starts[i + 1] - starts[i];
}

// right: elements by their rows, added by atomic functions
__global__ void elements_added(const int *x, int *y, int *z)
{
    atomicAdd(&z[x[i]], x[128 + i]);
}

// wrong (races: race): sums of neighbours' runs, stored where a run ends
__global__ void runs_stored(const int *x, int *y, int *z)
{
    const int row = i / 3; // a run may end in two threads' chunks
    z[row] += x[i];
}

// right: the frontier's next level, each vertex claimed once
__global__ void frontier(const int *x, int *y, int *z)
{
    int *const level = z, *const count = &z[200];
    const int vertex = x[i];
    if (atomicCAS(&level[vertex], 0, 1) == 0)
        y[atomicAdd(count, 1)] = vertex;
}

// wrong (races: race): a vertex is claimed by a look and a store
__global__ void frontier_by_look(const int *x, int *y, int *z)
{
    int *const level = z, *const count = &z[200];
    const int vertex = x[i];
    if (level[vertex] == 0) {
        level[vertex] = 1 + t;
        y[atomicAdd(count, 1)] = vertex;
    }
}

// right: distances lowered by atomic functions
__global__ void relaxed(const int *x, int *y, int *z)
{
    atomicMin(&z[x[i]], -x[128 + i]);
    atomicMin(&z[(i + 1) % 128], -x[i]);
}

// wrong (races: race): distances lowered by a look and a store
__global__ void relaxed_plainly(const int *x, int *y, int *z)
{
    if (z[x[i]] > -x[128 + i])
        z[x[i]] = -x[128 + i];
}

// right: trees joined at their roots
__global__ void joined_by_roots(const int *x, int *y, int *z)
{
    int one = i, other = x[i];
    const auto parent = [z](int of) { return atomicAdd(&z[of], 0); };
    while (true) {
        for (int above; (above = parent(one)) != 0; one = above - 1) {}
        for (int above; (above = parent(other)) != 0; other = above - 1) {}
        if (one == other)
            break;
        const int low = min(one, other), high = max(one, other);
        if (atomicCAS(&z[high], 0, low + 1) == 0)
            break;
    }
}

// wrong (races: race): paths are cut short while others walk them
__global__ void pointers_jump(const int *x, int *y, int *z)
{
    __shared__ int next[64];
    next[t] = t > 0 ? t - 1 : 0;
    __syncthreads();
    for (int round = 0; round < 6; ++round) {
        next[t] = next[next[t]];
        __syncthreads();
    }
    y[i] = next[t];
}

// right: the same, with a barrier between the read and the write
__global__ void pointers_jump_in_step(const int *x, int *y, int *z)
{
    __shared__ int next[64];
    next[t] = t > 0 ? t - 1 : 0;
    __syncthreads();
    for (int round = 0; round < 6; ++round) {
        const int far = next[next[t]];
        __syncthreads();
        next[t] = far;
        __syncthreads();
    }
    y[i] = next[t];
}

// right: a node is pushed before a list's head
__global__ void pushed(const int *x, int *y, int *z)
{
    int *const head = &z[0], *const next = &z[1];
    int seen = atomicAdd(head, 0);
    for (int before = -1; before != seen;) {
        before = seen;
        next[i] = before;
        seen = atomicCAS(head, before, i + 1);
    }
}

// wrong (races: race): a node becomes the head by a store
__global__ void pushed_plainly(const int *x, int *y, int *z)
{
    int *const head = &z[0], *const next = &z[1];
    next[i] = *head;
    *head = i + 1;
}

// right: colours of a graph, of two rounds in two arrays
__global__ void coloured(const int *x, int *y, int *z)
{
    __shared__ int colours[2][64];
    colours[0][t] = t % 3;
    for (int round = 0; round < 2; ++round) {
        __syncthreads();
        const int left = colours[round % 2][(t + 63) % 64], right = colours[round % 2][(t + 1) % 64];
        colours[(round + 1) % 2][t] = (left + right + 1) % 3;
    }
    y[i] = colours[0][t];
}

// wrong (races: race): colours of a graph, of two rounds in one array
__global__ void coloured_at_once(const int *x, int *y, int *z)
{
    __shared__ int colours[64];
    colours[t] = t % 3;
    for (int round = 0; round < 2; ++round) {
        __syncthreads();
        colours[t] = (colours[(t + 63) % 64] + colours[(t + 1) % 64] + 1) % 3;
    }
    y[i] = colours[t];
}
