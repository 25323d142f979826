// Tiles of several warps.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

// Nine results a thread: of the tile of 64 its sum, scans, a broadcast and votes, its place; the largest of 128.
__global__ void by_two_warps(int *results, const int *values)
{
    __shared__ cg::block_tile_memory<256> memory;
    const cg::thread_block block = cg::this_thread_block(memory);
    const auto tile = cg::tiled_partition<64>(block);
    const int value = values[threadIdx.x];
    int *own = results + 9 * threadIdx.x;
    if (threadIdx.x >= 128) // the others' tiles have no part in it
        own[8] = int(cg::reduce(cg::tiled_partition<128>(block), float(value), cg::greater<float>()));
    own[0] = cg::reduce(tile, value, cg::plus<int>());
    own[1] = cg::inclusive_scan(tile, value);
    own[2] = cg::exclusive_scan(tile, value, cg::plus<int>());
    own[3] = tile.shfl(value, 40);
    own[4] = tile.any(threadIdx.x % 64 == 63) + 2 * tile.all(threadIdx.x % 64 == 63);
    own[5] = int(tile.meta_group_rank());
    own[6] = int(cg::tiled_partition<16>(tile).meta_group_rank());
    own[7] = cg::invoke_one_broadcast(tile, [] { return int(threadIdx.x); });
}

// A tile of two warps waits, and each thread reads what one at a distance has left.
__global__ void after_tile(int *results, int distance)
{
    __shared__ int left[256];
    left[threadIdx.x] = int(threadIdx.x);
    cg::tiled_partition<64>(cg::this_thread_block()).sync();
    results[threadIdx.x] = left[threadIdx.x ^ unsigned(distance)];
}
