// Last steps in one warp, step 5: as `staged_any_block`, but for blocks of 256 to 512 threads the tree is written out,
// and its last five steps run inside the first warp.
//
// Only the first step has to ask whether the partner exists. No barrier for the whole block stands between the last
// five; reads and writes inside the warp are ordered by __syncwarp.
//
// kernelsweep:
//   plan: two_stages
//   block_size: any
//   smallest_block_size: 256
//   largest_block_size: 512
//   shared_elements: block_size
//   summation_depth: >-
//     ceil(array_size / (grid_size * block_size)) + ceil(grid_size / block_size)
//     + launches * ceil(log2(block_size))

#include "loads.cuh"
#include "operations.cuh"
#include "shared_array.cuh"
#include "tree.cuh"

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
    if (thread < 32) {
        warp_step<Operation, 64>(shared, 16);
        warp_step<Operation, 64>(shared, 8);
        warp_step<Operation, 64>(shared, 4);
        warp_step<Operation, 64>(shared, 2);
        warp_step<Operation, 64>(shared, 1);
    }

    if (thread == 0)
        partials[blockIdx.x] = shared[0];
}
