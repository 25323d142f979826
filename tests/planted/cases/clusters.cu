// Clusters: the two blocks of each launch are one.

// right: blocks exchange their shared memory
__global__ void memory_is_exchanged(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    const auto cluster = cooperative_groups::this_cluster();
    tile[t] = x[i];
    cluster.sync();
    y[i] = cluster.map_shared_rank(tile, 1 - cluster.block_rank())[63 - t];
    cluster.sync();
    z[int(cluster.thread_rank())] = y[127 - i] + int(cluster.num_blocks());
}

// right: atomic functions on the first block's counter, after both have begun; the other may end
__global__ void first_block_counts(const int *x, int *y, int *z)
{
    __shared__ int count;
    const auto cluster = cooperative_groups::this_cluster();
    if (t == 0)
        count = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&count, 0), x[i]);
    cluster.sync();
    if (cluster.block_rank() == 0 && t == 0)
        z[0] = count;
}

// wrong (races: race): the block's barrier is not the cluster's
__global__ void barrier_of_one_block(const int *x, int *y, int *z)
{
    extern __shared__ int tile[];
    const auto cluster = cooperative_groups::this_cluster();
    tile[t] = x[i];
    __syncthreads();
    z[i] = cluster.map_shared_rank(tile, 1 - cluster.block_rank())[t];
    cluster.sync();
}

// wrong (races: race): a block writes its memory while the other reads it
__global__ void overwritten_while_read(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    const auto cluster = cooperative_groups::this_cluster();
    tile[t] = x[i];
    cluster.sync();
    z[i] = *cluster.map_shared_rank(tile + t, 1 - cluster.block_rank());
    tile[t] = 0;
    cluster.sync();
}

// wrong (bounds: out_of_bounds): past the end of the other block's array
__global__ void past_the_others_end(const int *x, int *y, int *z)
{
    extern __shared__ int tile[];
    const auto cluster = cooperative_groups::this_cluster();
    tile[t] = tile[64 + t] = x[i];
    cluster.sync();
    z[i] = cluster.map_shared_rank(tile, 1 - cluster.block_rank())[65 + t];
    cluster.sync();
}

// wrong (result: launch_failed): the first block may have ended before the other reads its memory
__global__ void ended_before_it_is_read(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    const auto cluster = cooperative_groups::this_cluster();
    tile[t] = x[i];
    cluster.sync();
    if (cluster.block_rank() == 1)
        z[i] = cluster.map_shared_rank(tile, 0)[t];
}

// wrong (result: launch_failed): a rank that no block has
__global__ void no_such_rank(const int *x, int *y, int *z)
{
    __shared__ int tile[64];
    tile[t] = x[i];
    cooperative_groups::this_cluster().sync();
    z[i] = cooperative_groups::this_cluster().map_shared_rank(tile, 2)[t];
}
