// Has a program launch one kernel in the place of another: the same parameters, another function and other sizes.
//
// LD_PRELOAD names this library. It stands before the driver's launches, whichever way the program finds them: by
// linking, dlsym() or cuGetProcAddress(). Environment variables say what to do:
//
//   KERNELSWEEP_APPLY         a folder with kernel.cubin, which gets <pid>.txt: launches replaced, and why one was not
//   KERNELSWEEP_APPLY_KERNEL  the symbol of the kernel that is replaced
//   KERNELSWEEP_APPLY_SIZES   of its launches that are: grid, block, shared bytes, as 64,1,1,256,1,1,0
//   KERNELSWEEP_APPLY_ENTRY   the symbol of the kernel in its place; empty: launches are only counted
//   KERNELSWEEP_APPLY_TO      the sizes of these launches
//   KERNELSWEEP_APPLY_VARIABLES  module variables of the kernel in its place, by spaces: before a launch they get what the
//                             original's have, and after it the original's get what the launch has left
#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#define VISIBLE extern "C" __attribute__((visibility("default")))
#undef cuGetProcAddress

namespace {

using Sizes = std::array<unsigned, 7>;
using Dlsym = void *(*)(void *, const char *);

std::string setting(const char *name)
{
    const char *value = std::getenv((std::string("KERNELSWEEP_APPLY") + name).c_str());
    return value ? value : "";
}

Sizes sizes(const char *name)
{
    Sizes found{};
    std::string text = setting(name);
    char *next = text.data();
    for (unsigned &one : found) one = unsigned(std::strtoul(next, &next, 10)), next += *next == ',';
    return found;
}

Dlsym real_dlsym()
{
    static Dlsym found = [] {
        void *symbol = nullptr;
        for (const char *version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"})
            if (!symbol) symbol = dlvsym(RTLD_NEXT, "dlsym", version);
        return reinterpret_cast<Dlsym>(symbol);
    }();
    return found;
}

// A function of the driver's, which the program has loaded by now.
template <class Function> Function *driver(const char *name)
{
    static void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    return reinterpret_cast<Function *>(real_dlsym()(library, name));
}
#define TEXT(name) #name  // with the version that cuda.h gives a name, as cuModuleGetGlobal_v2
#define DRIVER(name) driver<decltype(::name)>(TEXT(name))

// A variable of the winner's module, and the original's.
struct Variable {
    CUdeviceptr own, original;
    size_t bytes;
};

struct Winner {
    CUmodule module = nullptr;
    CUfunction function = nullptr;  // null where the driver refuses it
};

struct State {
    std::string folder = setting(""), kernel = setting("_KERNEL"), entry = setting("_ENTRY"), why;
    Sizes from = sizes("_SIZES"), to = sizes("_TO");
    std::mutex mutex;
    std::map<CUfunction, bool> wanted;
    std::map<CUcontext, Winner> winners;
    std::map<CUfunction, std::vector<Variable>> variables;  // by the original's function
    unsigned long replaced = 0;

    ~State()
    {
        if (folder.empty() || (!replaced && why.empty())) return;
        if (FILE *file = std::fopen((folder + "/" + std::to_string(getpid()) + ".txt").c_str(), "w")) {
            std::fprintf(file, "%lu %s\n", replaced, why.c_str());
            std::fclose(file);
        }
    }
};

State &state()
{
    static State one;
    return one;
}

bool is_wanted(CUfunction function)
{
    auto known = state().wanted.find(function);
    if (known == state().wanted.end()) {
        const char *name = nullptr;
        if (DRIVER(cuFuncGetName)(&name, function) != CUDA_SUCCESS) DRIVER(cuKernelGetName)(&name, CUkernel(function));
        known = state().wanted.emplace(function, name && state().kernel == name).first;
    }
    return known->second;
}

// The winner in the current context.
const Winner &winner()
{
    CUcontext context = nullptr;
    DRIVER(cuCtxGetCurrent)(&context);
    auto known = state().winners.find(context);
    if (known != state().winners.end()) return known->second;
    std::string code;
    if (FILE *file = std::fopen((state().folder + "/kernel.cubin").c_str(), "rb")) {
        std::fseek(file, 0, SEEK_END), code.resize(size_t(std::ftell(file))), std::rewind(file);
        code.resize(std::fread(code.data(), 1, code.size(), file));
        std::fclose(file);
    }
    Winner found;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    DRIVER(cuThreadExchangeStreamCaptureMode)(&mode);
    CUresult status = DRIVER(cuModuleLoadData)(&found.module, code.data());
    if (status == CUDA_SUCCESS) status = DRIVER(cuModuleGetFunction)(&found.function, found.module, state().entry.c_str());
    if (status == CUDA_SUCCESS && state().to[6] > 48 * 1024)
        status = DRIVER(cuFuncSetAttribute)(found.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(state().to[6]));
    DRIVER(cuThreadExchangeStreamCaptureMode)(&mode);
    if (status != CUDA_SUCCESS) found.function = nullptr, state().why = "the driver refuses the kernel, error " + std::to_string(status);
    return state().winners[context] = found;
}

// The winner's variables and those of a function in whose place it stands. Says why where one is missing there.
const std::vector<Variable> &variables(CUfunction original)
{
    auto known = state().variables.find(original);
    if (known != state().variables.end()) return known->second;
    CUfunction function = original;
    if (DRIVER(cuKernelGetFunction)(&function, CUkernel(original)) != CUDA_SUCCESS) function = original;
    CUmodule module = nullptr;
    DRIVER(cuFuncGetModule)(&module, function);
    std::vector<Variable> found;
    std::istringstream names(setting("_VARIABLES"));
    for (std::string name; names >> name;) {
        Variable one{};
        size_t bytes = 0;
        if (DRIVER(cuModuleGetGlobal)(&one.own, &one.bytes, winner().module, name.c_str()) == CUDA_SUCCESS &&
            DRIVER(cuModuleGetGlobal)(&one.original, &bytes, module, name.c_str()) == CUDA_SUCCESS && bytes == one.bytes)
            found.push_back(one);
        else
            state().why = "the program's module has no variable " + name + " of its size";
    }
    return state().variables[original] = found;
}

// Replaces a launch's function and sizes, if it is one to be replaced; the variables to copy back behind it.
std::vector<Variable> replace(CUfunction &function, Sizes &given, CUstream stream) noexcept
{
    try {
        std::lock_guard<std::mutex> held(state().mutex);
        if (state().kernel.empty() || given != state().from || !is_wanted(function)) return {};
        ++state().replaced;
        if (state().entry.empty() || !winner().function) return {};
        std::vector<Variable> copied = variables(function);
        if (!state().why.empty()) return {};
        for (const auto &[own, original, bytes] : copied) DRIVER(cuMemcpyDtoDAsync)(own, original, bytes, stream);
        function = winner().function, given = state().to;
        return copied;
    } catch (...) {  // No memory.
        return {};
    }
}

void copy_back(const std::vector<Variable> &variables, CUstream stream)
{
    for (const auto &[own, original, bytes] : variables) DRIVER(cuMemcpyDtoDAsync)(original, own, bytes, stream);
}

// The stream that a launch with stream 0 is in: of a call for each thread's default stream, that one.
CUstream own_stream(const char *name, CUstream stream)
{
    return !stream && std::strstr(name, "_ptsz") ? CU_STREAM_PER_THREAD : stream;
}

using LaunchEx = decltype(cuLaunchKernelEx);

// A launch by the driver's function of this name; `rest` is what each has behind the stream.
template <class Function, class... Rest>
CUresult launch(const char *name, CUfunction f, Sizes s, CUstream stream, Rest... rest)
{
    const std::vector<Variable> copied = replace(f, s, own_stream(name, stream));
    CUresult status = driver<Function>(name)(f, s[0], s[1], s[2], s[3], s[4], s[5], s[6], stream, rest...);
    copy_back(copied, own_stream(name, stream));
    return status;
}

CUresult launch_ex(const char *name, const CUlaunchConfig *given, CUfunction f, void **values, void **extra)
{
    CUlaunchConfig c = *given;
    Sizes s{c.gridDimX, c.gridDimY, c.gridDimZ, c.blockDimX, c.blockDimY, c.blockDimZ, c.sharedMemBytes};
    const std::vector<Variable> copied = replace(f, s, own_stream(name, c.hStream));
    c.gridDimX = s[0], c.gridDimY = s[1], c.gridDimZ = s[2];
    c.blockDimX = s[3], c.blockDimY = s[4], c.blockDimZ = s[5], c.sharedMemBytes = s[6];
    CUresult status = driver<LaunchEx>(name)(&c, f, values, extra);
    copy_back(copied, own_stream(name, c.hStream));
    return status;
}

void *ours(const char *name, bool own_stream);

}  // namespace

#define LAUNCH(name)                                                                                                   \
    VISIBLE CUresult name(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,  \
                          unsigned shared, CUstream stream, void **values, void **extra)                               \
    {                                                                                                                  \
        return launch<decltype(cuLaunchKernel)>(#name, f, {gx, gy, gz, bx, by, bz, shared}, stream, values, extra);    \
    }
#define LAUNCH_COOPERATIVE(name)                                                                                       \
    VISIBLE CUresult name(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,  \
                          unsigned shared, CUstream stream, void **values)                                             \
    {                                                                                                                  \
        return launch<decltype(cuLaunchCooperativeKernel)>(#name, f, {gx, gy, gz, bx, by, bz, shared}, stream, values); \
    }
#define LAUNCH_EX(name)                                                                                                \
    VISIBLE CUresult name(const CUlaunchConfig *config, CUfunction f, void **values, void **extra)                     \
    {                                                                                                                  \
        return launch_ex(#name, config, f, values, extra);                                                             \
    }
LAUNCH(cuLaunchKernel)
LAUNCH(cuLaunchKernel_ptsz)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz)
LAUNCH_EX(cuLaunchKernelEx)
LAUNCH_EX(cuLaunchKernelEx_ptsz)

VISIBLE CUresult cuGetProcAddress(const char *name, void **found, int version, cuuint64_t flags)
{
    CUresult status = driver<CUresult(const char *, void **, int, cuuint64_t)>("cuGetProcAddress")(name, found, version, flags);
    void *own = status == CUDA_SUCCESS ? ours(name, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) : nullptr;
    if (own) *found = own;
    return status;
}

VISIBLE CUresult cuGetProcAddress_v2(const char *name, void **found, int version, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult *result)
{
    CUresult status = DRIVER(cuGetProcAddress_v2)(name, found, version, flags, result);
    void *own = status == CUDA_SUCCESS && *found ? ours(name, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) : nullptr;
    if (own) *found = own;
    return status;
}

// Its last line is a jump, so that the C library sees who asks.
VISIBLE void *dlsym(void *library, const char *name)
{
    void *own = std::strncmp(name, "cu", 2) ? nullptr : ours(name, false);
    if (own && real_dlsym()(library, name)) return own;
    return real_dlsym()(library, name);
}

namespace {

void *ours(const char *name, bool own_stream)
{
    const std::pair<const char *, void *> known[] = {
        {"cuLaunchKernel", own_stream ? (void *)cuLaunchKernel_ptsz : (void *)cuLaunchKernel},
        {"cuLaunchKernel_ptsz", (void *)cuLaunchKernel_ptsz},
        {"cuLaunchCooperativeKernel",
         own_stream ? (void *)cuLaunchCooperativeKernel_ptsz : (void *)cuLaunchCooperativeKernel},
        {"cuLaunchCooperativeKernel_ptsz", (void *)cuLaunchCooperativeKernel_ptsz},
        {"cuLaunchKernelEx", own_stream ? (void *)cuLaunchKernelEx_ptsz : (void *)cuLaunchKernelEx},
        {"cuLaunchKernelEx_ptsz", (void *)cuLaunchKernelEx_ptsz},
        {"cuGetProcAddress", (void *)cuGetProcAddress},
        {"cuGetProcAddress_v2", (void *)cuGetProcAddress_v2},
    };
    for (const auto &[one, function] : known)
        if (!std::strcmp(one, name)) return function;
    return nullptr;
}

}  // namespace
