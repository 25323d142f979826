// Last steps in one warp, step 5: as `staged_any_block`, but for blocks of 256 to 512 threads the tree is written out,
// and its last five steps run inside the first warp.
//
// Only the first step has to ask whether the partner exists. No barrier for the whole block stands between the last
// five; __syncwarp orders the first warp's reads and writes. Each step has half as many lanes as the one before, so that
// no lane writes where another reads. The other warps go through the tests, too.

#include "loads.cuh"
#include "operations.cuh"
#include "shared_array.cuh"
#include "tree.cuh"

// One step of the first warp: each of its first `stride` lanes combines its element with the one at that distance.
template <typename Operation, typename Element>
__device__ void warp_tree_step(Element *shared, unsigned stride)
{
    const unsigned thread = threadIdx.x;
    if (thread < stride)
        shared[thread] = Operation::combine(shared[thread], shared[thread + stride]);
    __syncwarp();
}

template <typename Element, typename Operation>
__global__ void staged_warp(const Element *data, Element *partials, size_t count)
{
    Element *shared = dynamic_shared<Element>();
    const unsigned thread = threadIdx.x;

    shared[thread] = combine_grid_stride<Operation>(data, count);
    __syncthreads();

    if (thread + 256 < blockDim.x)
        shared[thread] = Operation::combine(shared[thread], shared[thread + 256]);
    __syncthreads();
    tree_step<Operation>(shared, 128);
    tree_step<Operation>(shared, 64);
    tree_step<Operation>(shared, 32);
    warp_tree_step<Operation>(shared, 16);
    warp_tree_step<Operation>(shared, 8);
    warp_tree_step<Operation>(shared, 4);
    warp_tree_step<Operation>(shared, 2);

    if (thread == 0)
        partials[blockIdx.x] = Operation::combine(shared[0], shared[1]);
}
