// Launches kernels of mistakes.cu on a GPU, for compute-sanitizer to watch. Each argument is a launch:
//
//     "name grid block shared_bytes argument..."
//
// of which an argument is i64=1 for 64 ints that are 1, o64 for as many that nothing has written, n200 for a number.
#include "mistakes.cu"

#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#define KERNEL(...) {#__VA_ARGS__, reinterpret_cast<const void *>(&__VA_ARGS__)}

static const std::map<std::string, const void *> kernels = {
    KERNEL(missing_barrier),   KERNEL(missing_syncwarp),     KERNEL(shuffle_for_syncwarp), KERNEL(halves),
    KERNEL(pairs),
    KERNEL(wrong_half),        KERNEL(ragged_tail),          KERNEL(uninitialised_shared), KERNEL(uninitialised_global),
    KERNEL(shared_overrun),    KERNEL(dynamic_overrun),      KERNEL(before_the_start),     KERNEL(blocks_collide),
    KERNEL(last_block<true>),  KERNEL(last_block<false>),    KERNEL(atomics_agree),        KERNEL(atomic_and_plain),
};

// An address or a number, as bits. Nothing is freed, so that no memory has held another launch's values.
static size_t make_argument(const std::string &text)
{
    size_t count = 0;
    int value = 0;
    sscanf(text.c_str() + 1, "%zu=%d", &count, &value);
    if (text[0] == 'n')
        return count;
    void *memory = nullptr;
    cudaMalloc(&memory, count * sizeof(int));
    if (text[0] == 'i')
        cudaMemcpy(memory, std::vector<int>(count, value).data(), count * sizeof(int), cudaMemcpyHostToDevice);
    return reinterpret_cast<size_t>(memory);
}

int main(int launches, char **described)
{
    // Before the first buffer then lies memory that the GPU can read, whoever it belongs to.
    make_argument("o64");
    for (int i = 1; i < launches; ++i) {
        std::istringstream words(described[i]);
        std::string name, word;
        unsigned grid, block, shared_bytes;
        words >> name >> grid >> block >> shared_bytes;
        std::vector<size_t> values;
        while (words >> word)
            values.push_back(make_argument(word));
        std::vector<void *> arguments;
        for (size_t &value : values)
            arguments.push_back(&value);
        const cudaError_t launched =
            cudaLaunchKernel(kernels.at(name), dim3(grid), dim3(block), arguments.data(), shared_bytes, nullptr);
        const cudaError_t ended = cudaDeviceSynchronize();
        printf("%s: %s, %s\n", name.c_str(), cudaGetErrorString(launched), cudaGetErrorString(ended));
    }
}
