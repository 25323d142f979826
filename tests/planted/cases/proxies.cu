// Bulk copies of what threads have written in global memory, and their barriers: fences for the asynchronous proxy.

namespace bulk = cuda::device::experimental;
using Arrivals = cuda::barrier<cuda::thread_scope_block>;

enum class Fence { none, of_shared, of_global, of_all, of_barrier };

template <Fence fence>
__device__ void pass_proxy_fence()
{
    if (fence == Fence::of_shared)
        bulk::fence_proxy_async_shared_cta();
    if (fence == Fence::of_global)
        asm volatile("fence.proxy.async.global;" ::: "memory");
    if (fence == Fence::of_all)
        asm volatile("fence.proxy.async;" ::: "memory");
    if (fence == Fence::of_barrier)
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Copies 64 elements to shared memory in bulk; each thread takes another one's.
template <Fence after_init, Fence before_copy>
__device__ int taken_from(const int *source)
{
    __shared__ alignas(128) int tile[64];
    __shared__ Arrivals landed;
    if (t == 0) {
        init(&landed, blockDim.x);
        pass_proxy_fence<after_init>();
    }
    __syncthreads();
    Arrivals::arrival_token token;
    if (t == 0) {
        pass_proxy_fence<before_copy>();
        bulk::cp_async_bulk_global_to_shared(tile, source, sizeof tile, landed);
        token = cuda::device::barrier_arrive_tx(landed, 1, sizeof tile);
    } else {
        token = landed.arrive();
    }
    landed.wait(std::move(token));
    return tile[63 - t];
}

template <Fence after_store, Fence before_copy>
__device__ void within_block(const int *x, int *y, int *z)
{
    z[i] = x[i];
    pass_proxy_fence<after_store>();
    __syncthreads();
    y[i] = taken_from<Fence::of_shared, before_copy>(z + 64 * blockIdx.x);
}

template <Fence before_copy>
__device__ void from_block_before(const int *x, int *y, int *z)
{
    if (blockIdx.x == 0) {
        z[64 + t] = x[t];
        __threadfence();
        __syncthreads();
        if (t == 0)
            atomicExch(&z[0], 1);
        return;
    }
    while (t == 0 && atomicAdd(&z[0], 0) == 0) {
    }
    __threadfence();
    __syncthreads();
    y[i] = taken_from<Fence::of_shared, before_copy>(z + 64);
}

// right: each thread's fence for global memory, after its store
__global__ void stored_and_fenced(const int *x, int *y, int *z) { within_block<Fence::of_global, Fence::none>(x, y, z); }

// right: one fence for all memory, before the copy
__global__ void fenced_before_copy(const int *x, int *y, int *z) { within_block<Fence::none, Fence::of_all>(x, y, z); }

// right: what another block has stored, with a fence before the copy
__global__ void fenced_after_flag(const int *x, int *y, int *z) { from_block_before<Fence::of_global>(x, y, z); }

// right: a fence for the barrier's initialisation alone
__global__ void fenced_barrier(const int *x, int *y, int *z) { y[i] = taken_from<Fence::of_barrier, Fence::none>(x); }

// note (barriers: unfenced_barrier): no fence between a barrier's initialisation and the copy that it awaits
__global__ void unfenced(const int *x, int *y, int *z) { y[i] = taken_from<Fence::none, Fence::none>(x); }

// wrong (races: race): no fence between stores to global memory and a bulk copy of them
__global__ void stored_unfenced(const int *x, int *y, int *z) { within_block<Fence::none, Fence::none>(x, y, z); }

// wrong (races: race): a fence for shared memory, where the stores are to global memory
__global__ void fenced_elsewhere(const int *x, int *y, int *z) { within_block<Fence::of_shared, Fence::none>(x, y, z); }

// wrong (races: race): what another block has stored, without a fence
__global__ void unfenced_after_flag(const int *x, int *y, int *z) { from_block_before<Fence::none>(x, y, z); }
