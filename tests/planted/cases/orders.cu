// libcu++'s atomics: what their orders and scopes order.

template <cuda::thread_scope scope>
using Number = cuda::atomic_ref<int, scope>;

template <cuda::thread_scope scope>
__device__ void publish(const int *x, int *y, int *flag, cuda::memory_order stored, cuda::memory_order loaded)
{
    const Number<scope> ready(*flag);
    if (t == 0 && blockIdx.x == 0) {
        y[0] = x[0];
        ready.store(1, stored);
    } else if (t == 0) {
        while (ready.load(loaded) == 0)
            ;
        y[1] = y[0];
    }
}

// right: stored with release, loaded with acquire
__global__ void release_and_acquire(const int *x, int *y, int *z)
{
    publish<cuda::thread_scope_device>(x, y, z, cuda::memory_order_release, cuda::memory_order_acquire);
}

// right: fences beside relaxed functions
__global__ void fences_and_relaxed(const int *x, int *y, int *z)
{
    const Number<cuda::thread_scope_device> ready(z[0]);
    if (t == 0 && blockIdx.x == 0) {
        y[0] = x[0];
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        ready.store(1, cuda::memory_order_relaxed);
    } else if (t == 0) {
        while (ready.load(cuda::memory_order_relaxed) == 0)
            ;
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        y[1] = y[0];
    }
}

// right: a counter in shared memory, which a store begins
__global__ void counter_of_block(const int *x, int *y, int *z)
{
    __shared__ cuda::atomic<int, cuda::thread_scope_block> counter;
    if (t == 0)
        counter = 0;
    __syncthreads();
    counter.fetch_add(1, cuda::memory_order_relaxed);
    __syncthreads();
    y[i] = counter + cuda::std::numeric_limits<signed char>::max();
}

// right: a lock of a warp's first threads
__global__ void lock_by_exchange(const int *x, int *y, int *z)
{
    const Number<cuda::thread_scope_device> lock(z[0]);
    if (t % 32 == 0) {
        while (lock.exchange(1, cuda::memory_order_acquire) == 1)
            ;
        z[1] += x[i];
        lock.store(0, cuda::memory_order_release);
    }
}

// right: a scan of a tile, and one thread's function
__global__ void scan_of_tiles(const int *x, int *y, int *z)
{
    const auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
    const int before = cooperative_groups::exclusive_scan(tile, x[i]);
    const int all = cooperative_groups::inclusive_scan(tile, x[i], cooperative_groups::greater<int>());
    cooperative_groups::invoke_one(tile, [&] { z[i] = 1; });
    y[i] = before + all + cooperative_groups::invoke_one_broadcast(tile, [&] { return x[i]; });
}

// wrong (races: race): stored with no order
__global__ void relaxed_store(const int *x, int *y, int *z)
{
    publish<cuda::thread_scope_device>(x, y, z, cuda::memory_order_relaxed, cuda::memory_order_acquire);
}

// wrong (races: race): loaded with no order
__global__ void relaxed_load(const int *x, int *y, int *z)
{
    publish<cuda::thread_scope_device>(x, y, z, cuda::memory_order_release, cuda::memory_order_relaxed);
}

// wrong (races: race): atomic for a block, between two
__global__ void scope_too_small(const int *x, int *y, int *z)
{
    publish<cuda::thread_scope_block>(x, y, z, cuda::memory_order_release, cuda::memory_order_acquire);
}

// wrong (races: race): a plain read of what others add
__global__ void plain_beside_atomic(const int *x, int *y, int *z)
{
    Number<cuda::thread_scope_device>(z[0]) += x[i];
    y[i] = z[0];
}
