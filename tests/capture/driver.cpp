// Stands for the CUDA driver and for CUPTI: a few of their functions, over the host's memory. A kernel is a host function.
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

// A kernel of the program: what runs, and its parameters' sizes up to 0.
struct Kernel {
    void (*run)(void **values, unsigned threads);
    size_t sizes[8];
};
struct CUfunc_st {
    std::string name;
    Kernel *kernel;
    CUmodule module;
};

static std::map<CUdeviceptr, size_t> &allocations = *new std::map<CUdeviceptr, size_t>;
static std::vector<CUpti_ActivityKernel10> &records = *new std::vector<CUpti_ActivityKernel10>;
static CUpti_CallbackFunc callback;
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static size_t next_record;
static CUmodule first_module;  // the program's

extern "C" {

CUresult cuInit(unsigned)
{
    const char *path = std::getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW) : nullptr;
    if (path && !library) fprintf(stderr, "%s\n", dlerror());
    if (library) reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
    *address = CUdeviceptr(std::calloc(bytes, 1));
    allocations[*address] = bytes;
    return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *found, CUpointer_attribute which, CUdeviceptr address)
{
    auto next = allocations.upper_bound(address);
    if (next == allocations.begin()) return CUDA_ERROR_INVALID_VALUE;
    auto [start, bytes] = *std::prev(next);
    if (address >= start + bytes) return CUDA_ERROR_INVALID_VALUE;
    if (which == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR) *static_cast<CUdeviceptr *>(found) = start;
    else if (which == CU_POINTER_ATTRIBUTE_RANGE_SIZE) *static_cast<size_t *>(found) = bytes;
    else *static_cast<int *>(found) = 0;
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream)
{
    std::memcpy(to, reinterpret_cast<void *>(from), bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream)
{
    std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    *module = CUmodule(image);
    if (!first_module) first_module = *module;
    CUpti_ModuleResourceData loaded{};
    loaded.pCubin = static_cast<const char *>(image) + sizeof(size_t);
    std::memcpy(&loaded.cubinSize, image, sizeof(size_t));
    CUpti_ResourceData data{};
    data.resourceDescriptor = &loaded;
    if (callback) callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED, &data);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    auto *kernel = static_cast<Kernel *>(dlsym(RTLD_DEFAULT, std::string(name) == "faster" ? "faster" : "kernel"));
    *function = new CUfunc_st{name, kernel, module};
    return CUDA_SUCCESS;
}

// The code that `apply` loads has variables of its own.
CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    *address = CUdeviceptr(dlsym(RTLD_DEFAULT, (std::string(module == first_module ? "" : "own_") + name).c_str()));
    *bytes = sizeof(float);
    return *address ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t number, size_t *offset, size_t *bytes)
{
    *offset = 0;
    for (size_t i = 0; i < number && function->kernel->sizes[i]; ++i) *offset += (function->kernel->sizes[i] + 7) & ~7ul;
    *bytes = function->kernel->sizes[number];
    return *bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void **values, void **extra)
{
    cuLaunchKernel_params given{function, gx, gy, gz, bx, by, bz, shared, stream, values, extra};
    CUresult result = CUDA_SUCCESS;
    CUpti_CallbackData data{};
    data.functionParams = &given, data.functionReturnValue = &result, data.symbolName = function->name.c_str();
    data.callbackSite = CUPTI_API_ENTER;
    if (callback) callback(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &data);
    function->kernel->run(values, gx * bx);
    data.callbackSite = CUPTI_API_EXIT;
    if (callback) callback(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &data);
    CUpti_ActivityKernel10 record{};
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, record.start = 1000, record.end = 3000;
    record.gridX = gx, record.gridY = gy, record.gridZ = gz, record.blockX = bx, record.blockY = by, record.blockZ = bz;
    record.name = function->name.c_str(), record.graphId = stream == CUstream(1);
    records.push_back(record);
    return result;
}

// A stream 1 is one that a graph is recorded from.
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    *status = stream == CUstream(1) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction function) { return *module = function->module, CUDA_SUCCESS; }
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute, CUfunction) { return *value = 8, CUDA_SUCCESS; }
CUresult cuFuncGetName(const char **name, CUfunction function) { return *name = function->name.c_str(), CUDA_SUCCESS; }
CUresult cuKernelGetFunction(CUfunction *, CUkernel) { return CUDA_ERROR_INVALID_HANDLE; }
CUresult cuCtxGetDevice(CUdevice *device) { return *device = 0, CUDA_SUCCESS; }
CUresult cuCtxGetCurrent(CUcontext *context) { return *context = nullptr, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char *name, int bytes, CUdevice) { return std::strncpy(name, "fake", bytes), CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute, CUdevice) { return *value = 9, CUDA_SUCCESS; }
CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }
CUresult cuStreamCreate(CUstream *, unsigned) { return CUDA_SUCCESS; }
CUresult cuStreamDestroy(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream) { return CUDA_SUCCESS; }
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *) { return CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char **text) { return *text = "an error", CUDA_SUCCESS; }

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *, CUpti_CallbackFunc given, void *)
{
    if (std::getenv("FAKE_REFUSES")) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    callback = given;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc first, CUpti_BuffersCallbackCompleteFunc second)
{
    request = first, complete = second;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t)
{
    uint8_t *buffer;
    size_t bytes, most;
    request(&buffer, &bytes, &most);
    complete(nullptr, 0, buffer, bytes, records.size());
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *, size_t, CUpti_Activity **record)
{
    if (next_record == records.size()) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity *>(&records[next_record++]);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnable(CUpti_ActivityKind) { return CUPTI_SUCCESS; }
CUptiResult cuptiGetResultString(CUptiResult, const char **text) { return *text = "NO PERMISSION", CUPTI_SUCCESS; }

}  // extern "C"
