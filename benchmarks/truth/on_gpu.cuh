// Launches kernels by their numbers, as the emulator's cases are: two blocks of 64 threads with 512 bytes of dynamic shared
// memory, for x with numbers from 0 to 99, y that nothing has set, and z of zeros, of 256 elements each.
#pragma once

#include <chrono>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum Together { apart, grid, cluster };

struct Case {
    const char *name;
    const void *chain[4]; // launched one after another, all but the first as programmatic ones
};

inline void launch(const void *kernel, Together how, bool is_programmatic, int *x, int *y, int *z)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = how == grid ? cudaLaunchAttributeCooperative : cudaLaunchAttributeClusterDimension;
    if (how == grid)
        attribute.val.cooperative = 1;
    else
        attribute.val.clusterDim.x = 2, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    if (is_programmatic) {
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(64);
    config.dynamicSmemBytes = 512;
    config.attrs = &attribute;
    config.numAttrs = how != apart || is_programmatic;
    void *arguments[] = {&x, &y, &z};
    cudaLaunchKernelExC(&config, kernel, arguments);
}

// Runs cases from one on, and prints a line before each and one after it; ends where one fails or takes seconds.
inline int run(const Case *cases, int count, int first, Together how, size_t bytes_of_x)
{
    for (int number = first; number < count; ++number) {
        printf("case %d %s\n", number, cases[number].name);
        fflush(stdout);
        int host[256], *x, *y, *z;
        for (int at = 0; at < 256; ++at)
            host[at] = at * 37 % 100;
        cudaMalloc(&x, bytes_of_x);
        cudaMalloc(&y, sizeof host);
        cudaMalloc(&z, sizeof host);
        cudaMemcpy(x, host, bytes_of_x, cudaMemcpyHostToDevice);
        cudaMemset(z, 0, sizeof host);
        for (int at = 0; at < 4 && cases[number].chain[at] != nullptr; ++at)
            launch(cases[number].chain[at], how, at > 0, x, y, z);
        const auto began = std::chrono::steady_clock::now();
        while (cudaStreamQuery(nullptr) == cudaErrorNotReady)
            if (std::chrono::steady_clock::now() - began > std::chrono::seconds(LONGEST_RUN)) {
                printf("hangs %s\n", cases[number].name);
                fflush(stdout);
                _exit(3);
            }
        const cudaError_t error = cudaDeviceSynchronize();
        printf("%s %s\n", error == cudaSuccess ? "ends" : "fails", cases[number].name);
        fflush(stdout);
        cudaFree(x);
        cudaFree(y);
        if (cudaFree(z) != cudaSuccess)
            return 3;
    }
    return 0;
}
