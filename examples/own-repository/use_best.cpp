// Launches axpy as the study axpy found it fastest. `snakemake header` makes axpy.h. Here only the launch is shown:
//
//     g++ -std=c++17 -I results/nvidia-h200/best use_best.cpp
#include "axpy.h"

#include <cstdio>

namespace best = kernelsweep::axpy::axpy_vectors;

// A constant can be a template argument, so a kernel template can be given it, too.
template <int block>
void launch(long long n)
{
    std::printf("axpy_vectors<<<%lld, %d>>> for %lld elements on %s\n", (n / 4 + block - 1) / block, block, n,
                kernelsweep::axpy::device);
}

int main()
{
    launch<best::n_1048576::block>(best::n_1048576::n);
    launch<best::n_16777216::block>(best::n_16777216::n);
    // At the study's reference point there is a macro, for kernels that are compiled with macros.
    launch<AXPY_AXPY_VECTORS_BLOCK>(1 << 20);
}
