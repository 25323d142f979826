// Atomic functions beside other accesses to the same words, and what they order.

// A thread waits here until it is its turn, then adds; by one thread a warp.
struct TicketLock {
    int next, serving;

    __device__ void add(int *sum, int value)
    {
        const int own = atomicAdd(&next, 1);
        while (atomicAdd(&serving, 0) != own) {
        }
        __threadfence();
        *sum += value;
        __threadfence();
        atomicAdd(&serving, 1);
    }
};

// right: a ticket lock
__global__ void ticket_lock(const int *x, int *y, int *z)
{
    if (t % 32 == 0)
        reinterpret_cast<TicketLock *>(z)->add(z + 2, x[i]);
}

// right: the last block reads the sum of all by a fence, and leaves zeros
__global__ void sum_of_blocks(const int *x, int *y, int *z)
{
    __shared__ bool is_last;
    atomicAdd(&z[0], x[i]);
    __syncthreads();
    if (t == 0) {
        __threadfence();
        is_last = atomicAdd(&z[1], 1) == int(gridDim.x) - 1;
        __threadfence();
    }
    __syncthreads();
    if (is_last && t == 0) {
        y[0] = z[0];
        z[0] = z[1] = 0;
    }
}

// right: a word counts blocks and adds their values, and the block that finds all others there leaves zero
__global__ void counted_in_one_word(const int *x, int *y, int *z)
{
    if (t != 0)
        return;
    unsigned long long *const counted = reinterpret_cast<unsigned long long *>(z);
    const unsigned long long own = (unsigned long long)(x[i]) << 32 | 1u, before = atomicAdd(counted, own);
    if (unsigned(before) != gridDim.x - 1)
        return;
    y[0] = int((before + own) >> 32);
    *counted = 0;
}

// right: Treiber's stack, filled by all, and read after a barrier
__global__ void stack(const int *x, int *y, int *z)
{
    __shared__ int top, next[64];
    if (t == 0)
        top = -1;
    __syncthreads();
    for (int seen = atomicAdd(&top, 0), old;; seen = old) {
        next[t] = seen;
        __threadfence_block();
        if ((old = atomicCAS(&top, seen, t)) == seen)
            break;
    }
    __syncthreads();
    int sum = 0;
    for (int node = top; node != -1; node = next[node])
        sum += x[64 * blockIdx.x + node];
    y[i] = sum;
}

// right: nodes are taken from Treiber's stack, by a fence, while others are put there
__global__ void stack_popped(const int *x, int *y, int *z)
{
    if (t % 32 != 0)
        return;
    int *const top = z, *const next = z + 1, node = 1 + i / 32; // 0: there is none
    for (int seen = atomicAdd(top, 0), old;; seen = old) {
        atomicExch(&next[node], seen);
        __threadfence();
        if ((old = atomicCAS(top, seen, node)) == seen)
            break;
    }
    for (int seen = atomicAdd(top, 0), old; seen != 0; seen = old) {
        __threadfence();
        if ((old = atomicCAS(top, seen, atomicAdd(&next[seen], 0))) == seen) {
            y[i] = seen;
            break;
        }
    }
}

// right: what is set up once, behind a flag that is looked at twice, with fences
__global__ void set_up_once(const int *x, int *y, int *z)
{
    if (t % 32 != 0)
        return;
    int *const is_there = z, *const lock = z + 1, *const table = z + 2;
    if (atomicAdd(is_there, 0) == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        if (atomicAdd(is_there, 0) == 0) {
            for (int k = 0; k < 4; ++k)
                table[k] = x[k];
            __threadfence();
            atomicExch(is_there, 1);
        }
        __threadfence();
        atomicExch(lock, 0);
    }
    __threadfence();
    y[i] = table[i / 32];
}

// right: one lane adds for all of its warp that want to, and hands out places
__global__ void aggregated(const int *x, int *y, int *z)
{
    if (!(x[i] & 1))
        return;
    const unsigned lanes = __activemask();
    const int leader = __ffs(int(lanes)) - 1, rank = __popc(lanes & ((1u << t % 32) - 1));
    int place = 0;
    if (t % 32 == leader)
        place = atomicAdd(z, __popc(lanes));
    y[__shfl_sync(lanes, place, leader) + rank] = x[i];
}

// right: a list that each thread puts itself in front of, by an exchange
__global__ void exchanged(const int *x, int *y, int *z)
{
    __shared__ int first, next[64];
    if (t == 0)
        first = -1;
    __syncthreads();
    next[t] = atomicExch(&first, t);
    __syncthreads();
    int length = 0;
    for (int node = first; node != -1; node = next[node])
        ++length;
    y[i] = length;
}

// right: values handed over in a box, by an exchange on either side
__global__ void mailbox(const int *x, int *y, int *z)
{
    __shared__ int box, value;
    if (t == 0)
        box = 0;
    __syncthreads();
    for (int round = 1; round <= 3 && t == 1; ++round) {
        value = x[round];
        __threadfence_block();
        atomicExch(&box, round);
        while (atomicAdd(&box, 0) != 0) {
        }
        __threadfence_block();
    }
    for (int round = 1; round <= 3 && t == 0; ++round) {
        while (atomicAdd(&box, 0) != round) {
        }
        __threadfence_block();
        y[3 * blockIdx.x + round] = value;
        __threadfence_block();
        atomicExch(&box, 0);
    }
}

// right: a barrier of two lanes, whose counter the last of them sets back
__global__ void block_barrier_by_hand(const int *x, int *y, int *z)
{
    __shared__ int arrived, phase, tile[2];
    if (t == 0)
        arrived = phase = 0;
    __syncthreads();
    for (int step = 0; step < 6 && t < 2; ++step) {
        if (step % 2 == 0)
            tile[t] = x[i] + step;
        else
            y[8 * blockIdx.x + 4 * t + step / 2] = tile[1 - t];
        __threadfence_block();
        if (atomicAdd(&arrived, 1) == 1) {
            arrived = 0;
            __threadfence_block();
            atomicAdd(&phase, 1);
        }
        while (atomicAdd(&phase, 0) <= step) {
        }
        __threadfence_block();
    }
}

// right: a histogram that is used again, with a barrier between each two steps
__global__ void bins_again(const int *x, int *y, int *z)
{
    __shared__ int bins[8];
    int sum = 0;
    for (int round = 0; round < 2; ++round) {
        if (t < 8)
            bins[t] = 0;
        __syncthreads();
        atomicAdd(&bins[x[64 * round + t] & 7], 1);
        __syncthreads();
        sum += bins[t & 7];
        __syncthreads();
    }
    y[i] = sum;
}

// right: a hash table, whose keys are compared and swapped in, and that is read after a barrier
__global__ void hash_table(const int *x, int *y, int *z)
{
    __shared__ int keys[128], counts[128];
    keys[t] = keys[64 + t] = -1;
    counts[t] = counts[64 + t] = 0;
    __syncthreads();
    int slot = 7 * x[i] & 127;
    for (int old; (old = atomicCAS(&keys[slot], -1, x[i])) != -1 && old != x[i];)
        slot = (slot + 1) & 127;
    atomicAdd(&counts[slot], 1);
    __syncthreads();
    y[i] = counts[slot] + (keys[slot] == x[i]);
}

// right: a compare-and-swap loop on the bits of a float, which an atomic function begins
__global__ void largest_float(const int *x, int *y, int *z)
{
    for (int seen = atomicAdd(z, 0), old; float(x[i]) > __int_as_float(seen); seen = old)
        if ((old = atomicCAS(z, seen, __float_as_int(float(x[i])))) == seen)
            break;
}

// right: the place of the largest, as half of a word
__global__ void place_of_largest(const int *x, int *y, int *z)
{
    unsigned long long *const largest = reinterpret_cast<unsigned long long *>(z) + blockIdx.x;
    atomicMax(largest, (unsigned long long)(x[i]) << 32 | unsigned(i));
    __syncthreads();
    if (t == 0)
        y[blockIdx.x] = int(unsigned(*largest));
}

// right: the functions of a block on words of its own, those of the system on all
__global__ void scopes(const int *x, int *y, int *z)
{
    __shared__ int sum;
    if (t == 0)
        sum = 0;
    __syncthreads();
    atomicAdd_block(&sum, x[i]);
    atomicMax_block(z + blockIdx.x, x[i]);
    __syncthreads();
    if (t == 0)
        atomicAdd_system(z + 2, sum);
}

// note (races: unordered_read): the compare-and-swap loop of CUDA's programming guide, which begins with a plain read
__global__ void begun_by_plain_read(const int *x, int *y, int *z)
{
    unsigned long long *const sum = reinterpret_cast<unsigned long long *>(z);
    unsigned long long old = *sum, assumed;
    do {
        assumed = old;
        old = atomicCAS(sum, assumed, assumed + x[i]);
    } while (assumed != old);
}

// wrong (races: race): a loop that begins with a plain read, and ends by it
__global__ void ended_by_plain_read(const int *x, int *y, int *z)
{
    int old = z[0], assumed;
    while (old < x[i]) {
        assumed = old;
        old = atomicCAS(z, assumed, x[i]);
        if (old == assumed)
            break;
    }
    y[i] = old;
}

// wrong (races: race): a thread waits for a flag by plain reads
__global__ void awaited_plainly(const int *x, int *y, int *z)
{
    if (t == 0 && blockIdx.x == 0)
        atomicExch(z, 1 + x[0]);
    if (t == 0 && blockIdx.x == 1) {
        while (*static_cast<volatile int *>(z) == 0) {
        }
        y[0] = *static_cast<volatile int *>(z);
    }
}

// wrong (races: race): a sum that one thread sets to zero, and all add to, without a barrier
__global__ void zero_without_barrier(const int *x, int *y, int *z)
{
    __shared__ int sum;
    if (t == 0)
        sum = 0;
    atomicAdd(&sum, x[i]);
    __syncthreads();
    y[i] = sum;
}

// wrong (races: race): a sum that the first block sets, and all add to
__global__ void set_by_first_block(const int *x, int *y, int *z)
{
    if (i == 0)
        z[0] = 5;
    __syncthreads();
    atomicAdd(z, x[i]);
    y[i] = 0;
}

// wrong (races: race): a sum that the last thread to come sets to zero, for others too early
__global__ void set_back_too_early(const int *x, int *y, int *z)
{
    __shared__ int sum, count;
    if (t == 0)
        sum = count = 0;
    __syncthreads();
    for (int round = 0; round < 2; ++round) {
        atomicAdd(&sum, x[i]);
        if (atomicAdd(&count, 1) % 64 == 63)
            sum = 0;
    }
    __syncthreads();
    y[i] = sum;
}

// wrong (races: race): the last block reads the sum of all without a fence
__global__ void sum_without_fence(const int *x, int *y, int *z)
{
    __shared__ bool is_last;
    atomicAdd(&z[0], x[i]);
    __syncthreads();
    if (t == 0)
        is_last = atomicAdd(&z[1], 1) == int(gridDim.x) - 1;
    __syncthreads();
    if (is_last && t == 0)
        y[0] = z[0];
}

// wrong (races: race): the last thread of a block reads what all have added, without a barrier
__global__ void last_thread_reads(const int *x, int *y, int *z)
{
    __shared__ int sum, count;
    if (t == 0)
        sum = count = 0;
    __syncthreads();
    atomicAdd(&sum, x[i]);
    if (atomicAdd(&count, 1) == 63)
        y[blockIdx.x] = sum;
}

// wrong (races: race): one thread counts in its block by a fence, and the others of the block have not come to it
__global__ void others_not_waited_for(const int *x, int *y, int *z)
{
    __shared__ bool is_last;
    atomicAdd(&z[0], x[i]);
    if (t == 0) {
        __threadfence();
        is_last = atomicAdd(&z[1], 1) == int(gridDim.x) - 1;
        __threadfence();
        if (is_last)
            y[0] = z[0];
    }
}

// wrong (races: race): the functions of a block, on a word of all blocks
__global__ void scope_of_a_block(const int *x, int *y, int *z)
{
    atomicAdd_block(z, x[i]);
    y[i] = 0;
}
