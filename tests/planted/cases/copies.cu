// Asynchronous copies of 64 elements to shared memory, of which each thread reads its neighbour's; barriers with phases.

namespace cg = cooperative_groups;
namespace bulk = cuda::device::experimental;
using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;
using BlockPipeline = cuda::pipeline<cuda::thread_scope_block>;

__device__ void start(BlockBarrier *barrier)
{
    if (t == 0) {
        init(barrier, blockDim.x);
        bulk::fence_proxy_async_shared_cta();
    }
    __syncthreads();
}

// right: a copy, its wait, a barrier
__global__ void copy_and_wait(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[64];
    __pipeline_memcpy_async(s + t, x + i, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[i] = s[t ^ 1];
}

// right: two tiles on their way, of 16 bytes a copy, the last with zeros
__global__ void two_stages(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[2][64];
    const auto load = [&](int tile) {
        if (t < 16 && tile < 4)
            __pipeline_memcpy_async(s[tile % 2] + 4 * t, x + 64 * tile + 4 * t, 16, tile == 3 ? 8 : 0);
        __pipeline_commit();
    };
    load(0);
    for (int tile = 0; tile < 4; ++tile) {
        load(tile + 1);
        __pipeline_wait_prior(1);
        __syncthreads();
        if (blockIdx.x == 0)
            y[64 * tile + t] = s[tile % 2][t ^ 1];
        __syncthreads();
    }
}

// right: a copy of the block, and its wait
__global__ void group_copy(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[2][64];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, s[0], x, 64 * sizeof(int));
    cg::memcpy_async(block, s[1], 64, x, 64);
    cg::wait_prior<1>(block);
    y[i] = s[0][t ^ 1];
    cg::wait(block);
    y[i] += s[1][t ^ 1];
}

// right: a pipeline of the thread, two steps ahead
__global__ void thread_pipeline(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[2][64];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    for (int stage = 0; stage < 2; ++stage) {
        pipe.producer_acquire();
        cuda::memcpy_async(s[stage] + t, x + 64 * stage + t, cuda::aligned_size_t<4>(4), pipe);
        pipe.producer_commit();
    }
    for (int stage = 0; stage < 2; ++stage) {
        pipe.consumer_wait();
        __syncthreads();
        z[i] = s[stage][t ^ 1];
        pipe.consumer_release();
    }
}

template <bool waits, bool releases>
__device__ void by_block_pipeline(const int *x, int *z)
{
    __shared__ __align__(16) int s[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const cg::thread_block block = cg::this_thread_block();
    BlockPipeline pipe = cuda::make_pipeline(block, &state);
    for (int step = 0, loaded = 0; step < 4; ++step) {
        for (; loaded < 4 && loaded < step + 2; ++loaded) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[loaded % 2], x + 64 * loaded, cuda::aligned_size_t<16>(256), pipe);
            pipe.producer_commit();
        }
        if (waits)
            pipe.consumer_wait();
        z[i] += s[step % 2][t ^ 1];
        if (releases)
            pipe.consumer_release();
    }
}

// right: a pipeline of the block, two steps ahead
__global__ void block_pipeline(const int *x, int *y, int *z) { by_block_pipeline<true, true>(x, z); }

template <bool acquires>
__device__ void by_two_warps(const int *x, int *z)
{
    __shared__ __align__(16) int s[2][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const auto role = t < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    BlockPipeline pipe = cuda::make_pipeline(cg::this_thread_block(), &state, role);
    for (int step = 0; step < 6; ++step) {
        if (t < 32) {
            if (acquires)
                pipe.producer_acquire();
            cuda::memcpy_async(&s[step % 2][t], x + 32 * step + t, sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            z[i] += s[step % 2][t - 32 ^ 1];
            pipe.consumer_release();
        }
    }
}

// right: one warp produces, the other consumes
__global__ void warps_with_roles(const int *x, int *y, int *z) { by_two_warps<true>(x, z); }

// right: a copy that a barrier waits for
__global__ void barrier_copy(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[64];
    __shared__ BlockBarrier barrier;
    start(&barrier);
    for (int step = 0; step < 2; ++step) {
        cuda::memcpy_async(cg::this_thread_block(), s, x + 64 * step, 64 * sizeof(int), barrier);
        barrier.arrive_and_wait();
        z[i] += s[t ^ 1];
        barrier.arrive_and_wait();
    }
}

// right: arrived, other work, then waited
__global__ void split_barrier(const int *x, int *y, int *z)
{
    __shared__ int s[64];
    __shared__ BlockBarrier barrier;
    start(&barrier);
    s[t] = x[i];
    BlockBarrier::arrival_token token = barrier.arrive();
    const int own = 2 * x[i];
    barrier.wait(std::move(token));
    y[i] = s[t ^ 1] + own;
}

// right: two barriers hand a tile from warp to warp
__global__ void full_and_empty(const int *x, int *y, int *z)
{
    __shared__ int s[32];
    __shared__ BlockBarrier full, empty;
    start(&full);
    start(&empty);
    for (int step = 0; step < 4; ++step) {
        if (t < 32) {
            if (step > 0)
                empty.arrive_and_wait();
            s[t] = x[32 * step + t];
            (void)full.arrive();
        } else {
            full.arrive_and_wait();
            z[i] += s[(t + 1) % 32];
            if (step < 3)
                (void)empty.arrive();
        }
    }
}

template <bool waits, int more>
__device__ void by_bulk_copy(const int *x, int *z)
{
    __shared__ alignas(128) int s[64];
    __shared__ BlockBarrier barrier;
    start(&barrier);
    if (t == 0)
        bulk::cp_async_bulk_global_to_shared(s, x + i, sizeof s, barrier);
    BlockBarrier::arrival_token token =
        t == 0 ? cuda::device::barrier_arrive_tx(barrier, 1, sizeof s + more) : barrier.arrive();
    if (waits)
        barrier.wait(std::move(token));
    z[i] = s[t ^ 1];
}

// right: a bulk copy by one thread, whose bytes a barrier awaits
__global__ void bulk_copy(const int *x, int *y, int *z) { by_bulk_copy<true, 0>(x, z); }

// right: a bulk copy to global memory, whose group its thread waits for
__global__ void bulk_copy_back(const int *x, int *y, int *z)
{
    __shared__ alignas(128) int s[64];
    s[t] = x[i];
    bulk::fence_proxy_async_shared_cta();
    __syncthreads();
    if (t == 0) {
        bulk::cp_async_bulk_shared_to_global(y + i, s, sizeof s);
        bulk::cp_async_bulk_commit_group();
        bulk::cp_async_bulk_wait_group_read<0>();
    }
}

// right: one thread's fence, after the barrier
__global__ void bulk_fence_of_one(const int *x, int *y, int *z)
{
    __shared__ alignas(128) int s[64];
    s[t] = x[i];
    __syncthreads();
    if (t == 32) {
        bulk::fence_proxy_async_shared_cta();
        bulk::cp_async_bulk_shared_to_global(y + 64 * blockIdx.x, s, sizeof s);
        bulk::cp_async_bulk_commit_group();
        bulk::cp_async_bulk_wait_group_read<0>();
    }
}

// right: two tiles take turns, and a store of each waits for its fence alone
__global__ void bulk_stores_in_turn(const int *x, int *y, int *z)
{
    __shared__ alignas(128) int s[2][64];
    for (int step = 0; step < 4; ++step) {
        if (t == 0)
            bulk::cp_async_bulk_wait_group_read<1>();
        __syncthreads();
        s[step % 2][t] = x[64 * step + t];
        bulk::fence_proxy_async_shared_cta();
        __syncthreads();
        if (t == 0 && blockIdx.x == 0) {
            bulk::cp_async_bulk_shared_to_global(y + 64 * step, s[step % 2], sizeof *s);
            bulk::cp_async_bulk_commit_group();
        }
    }
    if (t == 0)
        bulk::cp_async_bulk_wait_group_read<0>();
}

// right: what a bulk copy brings, another one takes without a fence
__global__ void bulk_in_and_out(const int *x, int *y, int *z)
{
    __shared__ alignas(128) int s[64];
    __shared__ BlockBarrier landed;
    start(&landed);
    BlockBarrier::arrival_token token;
    if (t == 0) {
        bulk::cp_async_bulk_global_to_shared(s, x + i, sizeof s, landed);
        token = cuda::device::barrier_arrive_tx(landed, 1, sizeof s);
    } else {
        token = landed.arrive();
    }
    landed.wait(std::move(token));
    if (t == 0) {
        bulk::cp_async_bulk_shared_to_global(y + i, s, sizeof s);
        bulk::cp_async_bulk_commit_group();
        bulk::cp_async_bulk_wait_group_read<0>();
    }
}

// right: groups of copies and of bulk copies, each with its wait
__global__ void two_kinds_of_groups(const int *x, int *y, int *z)
{
    __shared__ alignas(128) int s[64], next[64];
    s[t] = x[i];
    bulk::fence_proxy_async_shared_cta();
    __syncthreads();
    if (t == 0) {
        bulk::cp_async_bulk_shared_to_global(y + i, s, sizeof s);
        bulk::cp_async_bulk_commit_group();
    }
    __pipeline_memcpy_async(next + t, x + t, 4);
    __pipeline_commit();
    if (t == 0)
        bulk::cp_async_bulk_wait_group_read<0>();
    __pipeline_wait_prior(0);
    __syncthreads();
    s[t] = next[t ^ 1];
    z[i] = s[t];
}

// wrong (races: race): a group of copies is no group of bulk copies, so that the wait is for none
__global__ void waits_for_other_groups(const int *x, int *y, int *z)
{
    __shared__ alignas(128) int s[64], next[64];
    s[t] = x[i];
    bulk::fence_proxy_async_shared_cta();
    __syncthreads();
    if (t == 0) {
        bulk::cp_async_bulk_shared_to_global(y + i, s, sizeof s);
        bulk::cp_async_bulk_commit_group();
    }
    __pipeline_memcpy_async(next + t, x + t, 4);
    __pipeline_commit();
    if (t == 0)
        bulk::cp_async_bulk_wait_group_read<1>();
    __pipeline_wait_prior(0);
    __syncthreads();
    s[t] = next[t ^ 1];
    z[i] = s[t];
}

// wrong (races: race): no fence between a thread's write and a bulk copy
__global__ void bulk_without_fence(const int *x, int *y, int *z)
{
    __shared__ alignas(128) int s[64];
    s[t] = x[i];
    __syncthreads();
    if (t == 0) {
        bulk::cp_async_bulk_shared_to_global(y + i, s, sizeof s);
        bulk::cp_async_bulk_commit_group();
        bulk::cp_async_bulk_wait_group_read<0>();
    }
}

// wrong (races: race): the fence comes before the writes
__global__ void bulk_fence_too_early(const int *x, int *y, int *z)
{
    __shared__ alignas(128) int s[64];
    bulk::fence_proxy_async_shared_cta();
    s[t] = x[i];
    __syncthreads();
    if (t == 0) {
        bulk::cp_async_bulk_shared_to_global(y + i, s, sizeof s);
        bulk::cp_async_bulk_commit_group();
        bulk::cp_async_bulk_wait_group_read<0>();
    }
}

// wrong (races: race): one thread's fence, before the barrier
__global__ void bulk_fence_before_others(const int *x, int *y, int *z)
{
    __shared__ alignas(128) int s[64];
    s[t] = x[i];
    if (t == 63)
        bulk::fence_proxy_async_shared_cta();
    __syncthreads();
    if (t == 63) {
        bulk::cp_async_bulk_shared_to_global(y + 64 * blockIdx.x, s, sizeof s);
        bulk::cp_async_bulk_commit_group();
        bulk::cp_async_bulk_wait_group_read<0>();
    }
}

// wrong (races: race): no wait
__global__ void no_wait(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[64];
    __pipeline_memcpy_async(s + t, x + i, 4);
    __pipeline_commit();
    __syncthreads();
    y[i] = s[t ^ 1];
}

// wrong (races: race): no commit before the wait
__global__ void no_commit(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[2][64];
    __pipeline_memcpy_async(s[0] + t, x + t, 4);
    __pipeline_memcpy_async(s[1] + t, x + 64 + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    y[i] = s[0][t ^ 1];
    __pipeline_wait_prior(0);
}

// wrong (races: race): a wait for too few groups
__global__ void later_group(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[64];
    __pipeline_memcpy_async(s + t, x + i, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    y[i] = s[t ^ 1];
}

// wrong (races: race): no barrier after the wait
__global__ void no_barrier(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[64];
    __pipeline_memcpy_async(s + t, x + i, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[i] = s[t ^ 1];
}

// wrong (races: race): a thread reads its own copy before the wait
__global__ void read_before_wait(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[64];
    __pipeline_memcpy_async(s + t, x + i, 4);
    __pipeline_commit();
    y[i] = s[t];
    __pipeline_wait_prior(0);
}

// wrong (races: race): the target is written before the wait
__global__ void target_written(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[64];
    __pipeline_memcpy_async(s + t, x + i, 4);
    __pipeline_commit();
    s[t] = 7;
    __pipeline_wait_prior(0);
    y[i] = s[t];
}

// wrong (races: race): the source is written before the wait
__global__ void source_written(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[64];
    __pipeline_memcpy_async(s + t, z + i, 4);
    __pipeline_commit();
    __syncthreads();
    z[i ^ 1] = 7;
    __pipeline_wait_prior(0);
    y[i] = s[t];
}

// wrong (races: race): a tile is loaded again before all have read it
__global__ void loaded_again(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[64];
    for (int step = 0; step < 2; ++step) {
        __pipeline_memcpy_async(s + t, x + 64 * step + t, 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        z[i] = s[t ^ 1];
    }
}

// wrong (races: race): the wait of a group, for one copy of two
__global__ void group_wait_prior(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[64];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, s, x, 64 * sizeof(int));
    cg::wait_prior<1>(block);
    y[i] = s[t ^ 1];
    cg::wait(block);
}

// wrong (races: race): a pipeline of the thread, without a barrier after its wait
__global__ void thread_pipeline_alone(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[64];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    cuda::memcpy_async(s + t, x + i, sizeof(int), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    y[i] = s[t ^ 1];
}

// wrong (races: race): a pipeline of the block, without its wait
__global__ void block_pipeline_unwaited(const int *x, int *y, int *z) { by_block_pipeline<false, true>(x, z); }

// wrong (barriers: barrier): a pipeline of the block that gives no stage back
__global__ void block_pipeline_kept(const int *x, int *y, int *z) { by_block_pipeline<true, false>(x, z); }

// wrong (races: race): a producer that waits for no stage
__global__ void producer_runs_ahead(const int *x, int *y, int *z) { by_two_warps<false>(x, z); }

// wrong (races: race): a barrier that is arrived at and not waited for
__global__ void arrived_only(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[64];
    __shared__ BlockBarrier barrier;
    start(&barrier);
    cuda::memcpy_async(cg::this_thread_block(), s, x, 64 * sizeof(int), barrier);
    (void)barrier.arrive();
    y[i] = s[t ^ 1];
}

// wrong (races: race): written between arrival and wait
__global__ void written_late(const int *x, int *y, int *z)
{
    __shared__ int s[64];
    __shared__ BlockBarrier barrier;
    start(&barrier);
    BlockBarrier::arrival_token token = barrier.arrive();
    s[t] = x[i];
    barrier.wait(std::move(token));
    y[i] = s[t ^ 1];
}

// wrong (races: race): a barrier whose initialisation others do not wait for
__global__ void barrier_not_ready(const int *x, int *y, int *z)
{
    __shared__ BlockBarrier barrier;
    if (t == 0)
        init(&barrier, blockDim.x);
    barrier.arrive_and_wait();
    y[i] = x[i];
}

// wrong (barriers: barrier): a barrier that expects more threads than come
__global__ void barrier_of_more(const int *x, int *y, int *z)
{
    __shared__ BlockBarrier barrier;
    if (t == 0)
        init(&barrier, blockDim.x + 1);
    __syncthreads();
    y[i] = x[i];
    barrier.arrive_and_wait();
}

// wrong (barriers: barrier): half of the threads wait for a phase, the others at another barrier
__global__ void barrier_and_barrier(const int *x, int *y, int *z)
{
    __shared__ BlockBarrier barrier;
    start(&barrier);
    y[i] = x[i];
    if (t < 40)
        barrier.arrive_and_wait();
    else
        __syncthreads();
}

// wrong (races: race): a bulk copy, without a wait for its barrier
__global__ void bulk_copy_unwaited(const int *x, int *y, int *z) { by_bulk_copy<false, 0>(x, z); }

// wrong (barriers: barrier): a barrier that awaits more bytes than come
__global__ void bulk_copy_of_fewer(const int *x, int *y, int *z) { by_bulk_copy<true, 16>(x, z); }

// wrong (barriers: barrier): a barrier that awaits fewer bytes than come
__global__ void bulk_copy_of_more(const int *x, int *y, int *z) { by_bulk_copy<true, -16>(x, z); }

// wrong (races: race): shared memory is written while a bulk copy reads it
__global__ void bulk_copy_overwritten(const int *x, int *y, int *z)
{
    __shared__ alignas(128) int s[64];
    s[t] = x[i];
    bulk::fence_proxy_async_shared_cta();
    __syncthreads();
    if (t == 0) {
        bulk::cp_async_bulk_shared_to_global(z + i, s, sizeof s);
        bulk::cp_async_bulk_commit_group();
        s[0] = 0;
        bulk::cp_async_bulk_wait_group_read<0>();
    }
}

// wrong (bounds: launch_failed): a copy of 12 bytes
__global__ void copy_of_twelve(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[64];
    __pipeline_memcpy_async(s, x, 12);
    y[i] = s[0];
}

// wrong (bounds: misaligned): a copy of 8 bytes to a multiple of 4
__global__ void misaligned_copy(const int *x, int *y, int *z)
{
    __shared__ __align__(16) int s[64];
    __pipeline_memcpy_async(s + 1, x, 8);
    y[i] = s[0];
}
