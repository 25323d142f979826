// Checks the reductions of a header made of the tests' rows against the host's: every type and operation, sizes in every
// class and at their ends, arrays that begin at any element, one workspace for all of it, and captured graphs.
//
// Ends with status 1 where a result is wrong, and names it.

#include "reduce.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

using namespace kernelsweep;

constexpr std::size_t most_elements = std::size_t(1) << 23;
constexpr int offsets[] = {0, 1, 3};
const std::size_t counts[] = {0,       1,       2,       31,      255,     511,           512,          513,
                              2049,    5000,    65535,   131073,  262147,  (1 << 20) + 7, (1 << 21) + 1, 3 << 20,
                              1 << 22, (1 << 22) + 3, most_elements - 3};

int wrong = 0;

void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(2);
}

// What the host makes of the same elements; of floats, of values whose sums are exact.
template <typename Element, typename Operation>
Element expected(const Element *elements, std::size_t count)
{
    using Limits = std::numeric_limits<Element>;
    if constexpr (std::is_same_v<Operation, Sum>) {
        unsigned long long integers = 0;
        double floats = 0;
        for (std::size_t i = 0; i < count; ++i) {
            integers += static_cast<unsigned long long>(elements[i]);
            floats += double(elements[i]);
        }
        return std::is_integral_v<Element> ? Element(integers) : Element(floats);
    } else if constexpr (std::is_same_v<Operation, Product>) {
        unsigned long long product = 1;
        for (std::size_t i = 0; i < count; ++i)
            product *= static_cast<unsigned long long>(elements[i]);
        return Element(product);
    } else {
        Element least = Limits::has_infinity ? Limits::infinity() : Limits::max();
        for (std::size_t i = 0; i < count; ++i)
            least = std::min(least, elements[i]);
        return least;
    }
}

template <typename Element, typename Operation, typename Cache, typename Order>
void check_kind(const char *name, void *workspace)
{
    std::vector<Element> elements(most_elements);
    unsigned long long state = 2026;
    for (Element &element : elements) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        // A sum of so many is exact in float, too: integers from 0 to 1.
        const auto value = long(state >> 33);
        element = std::is_integral_v<Element>         ? Element(value | 1)
                  : std::is_same_v<Operation, Sum> ? Element(value & 1)
                                                   : Element(value - (1l << 30));
    }
    Element *data;
    Element *result;
    check(cudaMalloc(&data, most_elements * sizeof(Element)), name);
    check(cudaMalloc(&result, sizeof(Element)), name);
    check(cudaMemcpy(data, elements.data(), most_elements * sizeof(Element), cudaMemcpyHostToDevice), name);
    cudaStream_t stream;
    check(cudaStreamCreate(&stream), name);
    for (const std::size_t count : counts)
        for (const int offset : offsets) {
            if (offset + count > most_elements)
                continue;
            const Element wanted = expected<Element, Operation>(elements.data() + offset, count);
            const auto run = [&] {
                return reduce<Operation, Cache, Order>(data + offset, count, result, workspace, stream);
            };
            const auto check_run = [&](const char *how, const auto &launch) {
                Element found{};
                check(cudaMemsetAsync(result, 0xee, sizeof(Element), stream), name);
                check(launch(), name);
                check(cudaMemcpyAsync(&found, result, sizeof(Element), cudaMemcpyDeviceToHost, stream), name);
                check(cudaStreamSynchronize(stream), name);
                if (std::memcmp(&found, &wanted, sizeof(Element)) == 0)
                    return;
                ++wrong;
                std::printf("%s, %zu elements, offset %d, %s, by %s: %.17g instead of %.17g\n", name, count, offset, how,
                            configuration<Element, Operation, Cache, Order>(count).kernel, double(found),
                            double(wanted));
            };
            check_run("at first", run);
            check_run("again", run);
            cudaGraph_t graph;
            cudaGraphExec_t executable;
            check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), name);
            check(run(), name);
            check(cudaStreamEndCapture(stream, &graph), name);
            check(cudaGraphInstantiate(&executable, graph, 0), name);
            check_run("in a graph", [&] { return cudaGraphLaunch(executable, stream); });
            check(cudaGraphExecDestroy(executable), name);
            check(cudaGraphDestroy(graph), name);
        }
    // What can't be run is said, and nothing is launched.
    if (reduce<Operation, Cache, Order>(data, 1, result, nullptr, stream) != cudaErrorInvalidValue ||
        reduce<Operation, Cache, Order>(data, 1, result, static_cast<char *>(workspace) + 8, stream) !=
            cudaErrorInvalidValue ||
        reduce<Operation, Cache, Order>(static_cast<Element *>(nullptr), 1, result, workspace, stream) !=
            cudaErrorInvalidValue) {
        ++wrong;
        std::printf("%s: no error for a pointer that can't be used\n", name);
    }
    check(cudaStreamDestroy(stream), name);
    check(cudaFree(result), name);
    check(cudaFree(data), name);
}

int main()
{
    std::size_t bytes = 0;
    void *workspace;
    check(workspace_bytes(&bytes), "workspace_bytes");
    check(cudaMalloc(&workspace, bytes), "workspace");
    check(cudaMemset(workspace, 0xff, bytes), "workspace");
    check(initialise(workspace), "initialise");
    check(cudaDeviceSynchronize(), "initialise");
#define CHECK(...) check_kind<__VA_ARGS__>(#__VA_ARGS__, workspace)
    CHECK(int, Sum, Cold, AnyOrder);
    CHECK(float, Sum, Cold, AnyOrder);
    CHECK(float, Sum, Cold, Deterministic);
    CHECK(long, Product, Cold, AnyOrder);
    CHECK(double, Minimum, Cold, Deterministic);
    CHECK(int, Sum, Hot, AnyOrder);
    check(cudaFree(workspace), "workspace");
    std::printf("%d wrong\n", wrong);
    return wrong ? 1 : 0;
}
