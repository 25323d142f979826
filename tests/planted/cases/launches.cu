// Programmatic dependent launches: each case is the last of a chain, `<case>_1`, `<case>_2` and the case itself.

__device__ int gathered(const int *x)
{
    return x[i] + x[(i + 64) % 128];
}

__global__ void waits_first_1(const int *x, int *y, int *z) { z[i] = x[i]; }

// right: the wait comes first
__global__ void waits_first(const int *x, int *y, int *z)
{
    cudaGridDependencySynchronize();
    y[i] = gathered(z);
}

__global__ void loads_input_early_1(const int *x, int *y, int *z)
{
    cudaTriggerProgrammaticLaunchCompletion();
    z[i] = x[i];
}

// right: what no launch writes is read before the wait
__global__ void loads_input_early(const int *x, int *y, int *z)
{
    __shared__ int weights[64];
    weights[t] = x[t];
    __syncthreads();
    cudaGridDependencySynchronize();
    y[i] = weights[t ^ 1] * gathered(z);
}

__global__ void one_thread_waits_1(const int *x, int *y, int *z) { z[i] = x[i]; }

// right: one thread waits, and a barrier tells the others
__global__ void one_thread_waits(const int *x, int *y, int *z)
{
    if (t == 0)
        cudaGridDependencySynchronize();
    __syncthreads();
    y[i] = gathered(z);
}

__global__ void one_lane_waits_1(const int *x, int *y, int *z) { z[i] = x[i]; }

// right: a lane of each warp waits
__global__ void one_lane_waits(const int *x, int *y, int *z)
{
    if (t % 32 == 0)
        cudaGridDependencySynchronize();
    __syncwarp();
    y[i] = gathered(z);
}

__global__ void chain_of_three_1(const int *x, int *y, int *z)
{
    cudaTriggerProgrammaticLaunchCompletion();
    z[i] = x[i];
}

__global__ void chain_of_three_2(const int *x, int *y, int *z)
{
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    z[128 + i] = gathered(z);
}

// right: the second of three has waited for the first, so that the third reads what both wrote
__global__ void chain_of_three(const int *x, int *y, int *z)
{
    cudaGridDependencySynchronize();
    y[i] = gathered(z) + gathered(z + 128);
}

__global__ void over_at_trigger_1(const int *x, int *y, int *z) { z[i] = x[i]; }

__global__ void over_at_trigger_2(const int *x, int *y, int *z)
{
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    z[128 + i] = x[i];
}

// right: the first had ended before the second triggered
__global__ void over_at_trigger(const int *x, int *y, int *z)
{
    const int early = gathered(z);
    cudaGridDependencySynchronize();
    y[i] = early + gathered(z + 128);
}

__global__ void reused_after_reads_1(const int *x, int *y, int *z)
{
    const int own = z[i] + x[i];
    __syncthreads();
    if (t == 0)
        cudaTriggerProgrammaticLaunchCompletion();
    y[i] = own;
}

// right: overwrites what all had read before their blocks triggered
__global__ void reused_after_reads(const int *x, int *y, int *z)
{
    z[i ^ 64] = x[i];
    cudaGridDependencySynchronize();
    y[i] += z[i ^ 64];
}

__global__ void both_add_1(const int *x, int *y, int *z) { atomicAdd(&z[0], x[i]); }

// right: both launches add atomically, and nobody reads
__global__ void both_add(const int *x, int *y, int *z)
{
    atomicAdd(&z[0], x[i]);
}

__global__ void wait_missing_1(const int *x, int *y, int *z) { z[i] = x[i]; }

// wrong (races: race): a launch that reads the one before's results never waits
__global__ void wait_missing(const int *x, int *y, int *z)
{
    y[i] = gathered(z);
}

__global__ void wait_too_late_1(const int *x, int *y, int *z)
{
    cudaTriggerProgrammaticLaunchCompletion();
    z[i] = x[i];
}

// wrong (races: race): the first tile is loaded before the wait
__global__ void wait_too_late(const int *x, int *y, int *z)
{
    const int first = z[i];
    cudaGridDependencySynchronize();
    y[i] = first + z[i ^ 64];
}

__global__ void written_before_trigger_1(const int *x, int *y, int *z)
{
    z[i] = x[i];
    __threadfence();
    __syncthreads();
    cudaTriggerProgrammaticLaunchCompletion();
}

// wrong (races: race): the trigger makes nothing visible: the wait does
__global__ void written_before_trigger(const int *x, int *y, int *z)
{
    y[i] = gathered(z);
    cudaGridDependencySynchronize();
}

__global__ void overwritten_early_1(const int *x, int *y, int *z)
{
    cudaTriggerProgrammaticLaunchCompletion();
    y[i] = z[i ^ 1];
}

// wrong (races: race): overwrites what the launch before still reads
__global__ void overwritten_early(const int *x, int *y, int *z)
{
    z[i] = x[i];
    cudaGridDependencySynchronize();
}

__global__ void half_waits_1(const int *x, int *y, int *z) { z[i] = x[i]; }

// wrong (races: race): one warp waits, and the other one reads without a barrier
__global__ void half_waits(const int *x, int *y, int *z)
{
    if (t < 32)
        cudaGridDependencySynchronize();
    y[i] = gathered(z);
}

__global__ void middle_never_waits_1(const int *x, int *y, int *z)
{
    cudaTriggerProgrammaticLaunchCompletion();
    z[i] = x[i];
}

__global__ void middle_never_waits_2(const int *x, int *y, int *z) { z[128 + i] = x[i]; }

// wrong (races: race): waits for the second launch, which does not wait for the first
__global__ void middle_never_waits(const int *x, int *y, int *z)
{
    cudaGridDependencySynchronize();
    y[i] = gathered(z) + gathered(z + 128);
}

__global__ void reads_two_before_1(const int *x, int *y, int *z) { z[i] = x[i]; }

__global__ void reads_two_before_2(const int *x, int *y, int *z)
{
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    z[128 + i] = gathered(z);
}

// wrong (races: race): reads the first launch's results before its wait; the second triggers before its own
__global__ void reads_two_before(const int *x, int *y, int *z)
{
    const int early = gathered(z);
    cudaGridDependencySynchronize();
    y[i] = early + gathered(z + 128);
}

__global__ void both_set_1(const int *x, int *y, int *z) { z[i] = x[i]; }

// wrong (races: race): both launches write, and none waits
__global__ void both_set(const int *x, int *y, int *z)
{
    z[i] = 2 * x[i] + 1;
}
