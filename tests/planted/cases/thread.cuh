// What the kernels of this folder share. Each is launched with two blocks of 64 threads and 512 bytes of dynamic shared
// memory, for arrays of 256 elements: x has numbers from 0 to 99, y is not initialised, z is zero.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/limits>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#define t int(threadIdx.x)
#define i int(blockIdx.x * 64 + threadIdx.x)
