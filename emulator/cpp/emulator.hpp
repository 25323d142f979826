// The emulator: CUDA kernels, their sources unchanged, compiled by a C++17 compiler and run on the CPU.
//
//     coroutines.hpp    the switch from one thread of a block to the next
//     vector_types.hpp  int2, float4, dim3, ...
//     stacks.hpp        where the threads' stacks lie
//     block.hpp         a block's threads; turns.hpp is which of them runs next, at barriers and in warps
//     warp.hpp          __syncthreads, __shfl_*_sync, __reduce_*_sync, votes
//     atomics.hpp       atomicAdd, __threadfence, ...
//     cuda_words.hpp    threadIdx, __shared__, __ldg, ...
//     textures.hpp      tex1Dfetch, tex2D
//     tensor_maps.hpp   CUtensorMap and bulk copies: a part of <cuda/barrier>
//     arithmetic.hpp    __popc, min, __fmaf_rn, rsqrtf, ...
//     small_floats.hpp  __half, __nv_bfloat16: what <cuda_fp16.h> and <cuda_bf16.h> are made from
//     matrices.hpp      products of small matrices by a warp: what <mma.h> is made from
//     copies.hpp        asynchronous copies of any size; barriers.hpp is <cuda/barrier>, pipeline.hpp <cuda/pipeline>
//     faults.hpp        a segmentation fault becomes an error of the launch
//     counting/         memory accesses and mistakes in them; units are compiled with -fsanitize=thread
//     launch.hpp        a grid's blocks, one after another; what a library exports, and the form of a translation unit
//     include/          what kernels include: <cooperative_groups.h>, <cuda_fp16.h>, ...
#pragma once

#include "arithmetic.hpp"
#include "atomics.hpp"
#include "coroutines.hpp"
#include "cuda_words.hpp"
#include "entries.hpp"
#include "stacks.hpp"
#include "textures.hpp"
#include "vector_types.hpp"
#include "warp.hpp"
