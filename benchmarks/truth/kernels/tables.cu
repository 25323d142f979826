// Hash tables, queues and locks.

constexpr int slots = 128;

// right: a key claims its slot, and the value is added there
__global__ void inserted(const int *x, int *y, int *z)
{
    const int key = x[i] + 1;
    for (int slot = key * 7 % slots;; slot = (slot + 1) % slots) {
        const int seen = atomicCAS(&z[slot], 0, key);
        if (seen == 0 || seen == key) {
            atomicAdd(&z[slots + slot], 1);
            break;
        }
    }
}

// wrong (races: race): a slot is claimed by a look and a store
__global__ void inserted_by_look(const int *x, int *y, int *z)
{
    const int key = x[i] + 1;
    int slot = key * 7 % slots;
    while (z[slot] != 0 && z[slot] != key)
        slot = (slot + 1) % slots;
    z[slot] = key;
}

// wrong (races: race): a key is seen before its value is there
__global__ void value_after_key(const int *x, int *y, int *z)
{
    const int key = x[i] + 1;
    for (int slot = key % slots;; slot = (slot + 1) % slots) {
        const int seen = atomicCAS(&z[slot], 0, key);
        if (seen == 0) {
            z[slots + slot] = i;
            break;
        }
        if (seen == key) {
            y[i] = z[slots + slot];
            break;
        }
    }
}

// right: a table in shared memory, with a barrier between filling and asking
__global__ void table_of_a_block(const int *x, int *y, int *z)
{
    __shared__ int keys[slots], counts[slots];
    for (int slot = t; slot < slots; slot += 64)
        keys[slot] = counts[slot] = 0;
    __syncthreads();
    const int key = x[i] + 1;
    int slot = key % slots;
    for (int seen; (seen = atomicCAS(&keys[slot], 0, key)) != 0 && seen != key;)
        slot = (slot + 1) % slots;
    atomicAdd(&counts[slot], 1);
    __syncthreads();
    y[i] = counts[slot];
}

// wrong (races: race): a table in shared memory, asked while others fill it
__global__ void table_asked_early(const int *x, int *y, int *z)
{
    __shared__ int keys[slots];
    for (int slot = t; slot < slots; slot += 64)
        keys[slot] = 0;
    __syncthreads();
    const int key = x[i] % 64;
    atomicAdd(&keys[key], 1);
    y[i] = keys[63 - key];
}

// right: tickets, served in order
__global__ void tickets(const int *x, int *y, int *z)
{
    const int own = atomicAdd(&z[0], 1);
    while (atomicAdd(&z[1], 0) != own) {}
    __threadfence();
    z[2] += x[i];
    __threadfence();
    atomicAdd(&z[1], 1);
}

// wrong (races: race): the next one is served before the sum is published
__global__ void served_too_early(const int *x, int *y, int *z)
{
    const int own = atomicAdd(&z[0], 1);
    while (atomicAdd(&z[1], 0) != own) {}
    z[2] += x[i];
    atomicAdd(&z[1], 1);
}

// wrong (races: race): the lock is given back by a plain store
__global__ void given_back_plainly(const int *x, int *y, int *z)
{
    if (t % 32 != 0)
        return;
    while (atomicCAS(&z[0], 0, 1) != 0) {}
    __threadfence();
    z[1] += x[i];
    __threadfence();
    z[0] = 0;
}

// wrong (races: race): one writes after it has given the lock back
__global__ void writes_after_lock(const int *x, int *y, int *z)
{
    if (t % 32 != 0)
        return;
    while (atomicCAS(&z[0], 0, 1) != 0) {}
    __threadfence();
    z[1] += x[i];
    __threadfence();
    atomicExch(&z[0], 0);
    z[2] += 1;
}

// right: a lock for each bucket, tried until it is free
__global__ void bucket_locks(const int *x, int *y, int *z)
{
    const int bucket = x[i] % 16;
    for (bool is_done = false; !is_done;)
        if (atomicCAS(&z[bucket], 0, 1) == 0) {
            __threadfence();
            z[16 + 2 * bucket] += 1;
            z[17 + 2 * bucket] += x[i];
            __threadfence();
            atomicExch(&z[bucket], 0);
            is_done = true;
        }
}

// wrong (races: race): the buckets' locks guard other buckets
__global__ void lock_of_another_bucket(const int *x, int *y, int *z)
{
    const int bucket = x[i] % 16;
    for (bool is_done = false; !is_done;)
        if (atomicCAS(&z[bucket], 0, 1) == 0) {
            __threadfence();
            z[16 + x[i] % 8] += 1;
            __threadfence();
            atomicExch(&z[bucket], 0);
            is_done = true;
        }
}

// right: work from a queue, taken by one thread for its block
__global__ void queue_of_blocks(const int *x, int *y, int *z)
{
    __shared__ int chunk;
    while (true) {
        if (t == 0)
            chunk = atomicAdd(&z[0], 1);
        __syncthreads();
        const int own = chunk;
        __syncthreads();
        if (own >= 4)
            break;
        y[own * 64 + t] = x[own * 64 + t];
    }
}

// wrong (races: race): the next chunk is taken while others still look for this one's number
__global__ void queue_without_second_barrier(const int *x, int *y, int *z)
{
    __shared__ int chunk;
    while (true) {
        if (t == 0)
            chunk = atomicAdd(&z[0], 1);
        __syncthreads();
        if (chunk >= 4)
            break;
        y[chunk * 64 + t] = x[chunk * 64 + t];
    }
}

// wrong (barriers: barrier): each thread takes its own chunk, and leaves the loop at its own time
__global__ void queue_of_threads(const int *x, int *y, int *z)
{
    while (true) {
        const int own = atomicAdd(&z[0], 1 + t % 2);
        __syncthreads();
        if (own >= 100)
            break;
        y[own] = x[own];
    }
    __syncthreads_or(t);
}

// right: one warp fills a ring, the other empties it
__global__ void ring(const int *x, int *y, int *z)
{
    __shared__ int values[4], head, tail;
    if (t == 0)
        head = tail = 0;
    __syncthreads();
    if (t == 0)
        for (int at = 0; at < 16; ++at) {
            while (at - atomicAdd(&tail, 0) >= 4) {}
            __threadfence_block();
            values[at % 4] = x[i + at];
            __threadfence_block();
            atomicAdd(&head, 1);
        }
    if (t == 32)
        for (int at = 0; at < 16; ++at) {
            while (atomicAdd(&head, 0) <= at) {}
            __threadfence_block();
            y[blockIdx.x * 16 + at] = values[at % 4];
            __threadfence_block();
            atomicAdd(&tail, 1);
        }
}

// wrong (races: race): the ring is filled one element too far
__global__ void ring_too_full(const int *x, int *y, int *z)
{
    __shared__ int values[4], head, tail;
    if (t == 0)
        head = tail = 0;
    __syncthreads();
    if (t == 0)
        for (int at = 0; at < 16; ++at) {
            while (at - atomicAdd(&tail, 0) >= 5) {}
            __threadfence_block();
            values[at % 4] = x[i + at];
            __threadfence_block();
            atomicAdd(&head, 1);
        }
    if (t == 32)
        for (int at = 0; at < 16; ++at) {
            while (atomicAdd(&head, 0) <= at) {}
            __threadfence_block();
            y[blockIdx.x * 16 + at] = values[at % 4];
            __threadfence_block();
            atomicAdd(&tail, 1);
        }
}

// wrong (barriers: barrier): a thread waits for one that waits for it
__global__ void wait_for_each_other(const int *x, int *y, int *z)
{
    if (t == 0)
        while (atomicAdd(&z[1 + 2 * blockIdx.x], 0) == 0) {}
    if (t == 32)
        while (atomicAdd(&z[2 * blockIdx.x], 0) == 0) {}
    if (t % 32 == 0)
        atomicExch(&z[2 * blockIdx.x + t / 32], 1);
    y[i] = x[i];
}
