// Watches a CUDA program from inside: its kernels with their times, and of chosen launches all that they get and leave.
//
// The driver loads this library where CUDA_INJECTION64_PATH names it. Environment variables say what to do:
//
//   KERNELSWEEP_CAPTURE           the folder that gets <pid>.json and the files that it names
//   KERNELSWEEP_CAPTURE_KERNEL    a part of a kernel's name, mangled or not; empty: kernels are only listed
//   KERNELSWEEP_CAPTURE_LAUNCHES  the numbers of its launches, from 1, such as 1,5
//   KERNELSWEEP_CAPTURE_FROM      microseconds from the start, before which no launch counts
//   KERNELSWEEP_CAPTURE_MOST      the most bytes of one launch's buffers
//
// Nothing is printed, and no error reaches the program: it becomes a sentence in the JSON.
#include <cuda.h>
#include <cupti.h>
#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
#else
using KernelRecord = CUpti_ActivityKernel9;
#endif

constexpr size_t CHUNK = size_t(16) << 20;      // of a copy to the host
constexpr size_t SEARCHED = size_t(64) << 10;   // bytes of a buffer up to which addresses inside it are looked for
constexpr size_t RECORDS = size_t(1) << 20;     // bytes of a buffer for CUPTI's records

using Failure = std::runtime_error;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Microseconds: the program's language may write a fraction with a comma.
std::string micros(double seconds) { return std::to_string(long(1e6 * seconds)); }

std::string quoted(std::string_view text)
{
    std::string out = "\"";
    for (unsigned char c : text) {
        char escaped[8];
        if (c == '"' || c == '\\') out += '\\', out += char(c);
        else if (c < 0x20) std::snprintf(escaped, sizeof escaped, "\\u%04x", c), out += escaped;
        else out += char(c);
    }
    return out + '"';
}

template <class Items, class Text> std::string list(const Items &items, Text text)
{
    std::string out;
    for (const auto &item : items) out += (out.empty() ? "" : ", ") + text(item);
    return "[" + out + "]";
}

// {"key": value, ...} of texts that are JSON already.
std::string object(std::initializer_list<std::pair<const char *, std::string>> items)
{
    std::string out;
    for (const auto &item : items) out += (out.empty() ? "\"" : ", \"") + (item.first + ("\": " + item.second));
    return "{" + out + "}";
}

using Sides = std::array<unsigned, 3>;
std::string as_json(unsigned long number) { return std::to_string(number); }
std::string as_json(const Sides &sides) { return list(sides, [](unsigned side) { return std::to_string(side); }); }

// What a launch was called with, whichever of the driver's functions was called.
struct Call {
    CUfunction function;
    Sides grid, block;
    unsigned shared;
    CUstream stream;
    void **values, **extra;
    const CUlaunchAttribute *attributes = nullptr;
    unsigned attribute_count = 0;
    bool is_cooperative = false;
};

// An allocation that a word of the parameters points into, or a variable of the module.
struct Buffer {
    std::string name;  // of a variable; empty for an allocation
    CUdeviceptr start;
    size_t bytes;
    std::string before, after;  // files
    size_t addresses = 0;       // words of a small one that are addresses themselves
};

struct Launch {
    unsigned number;
    std::string kernel, attributes, device, arch;
    Sides grid, block;
    unsigned shared;
    int registers = 0;
    std::vector<std::string> parameters;  // their bytes
    std::vector<Buffer> buffers, variables;
    std::vector<std::string> images;
    CUstream stream;
};

struct Times {
    unsigned long count = 0, in_graphs = 0, ns = 0;
    std::map<std::tuple<Sides, Sides, unsigned>, unsigned long> geometries;
};

struct State {
    std::string folder, pattern, error;
    std::set<unsigned> wanted;
    double from = 0, own_seconds = 0;
    size_t most = 0;
    Clock::time_point start = Clock::now();
    std::recursive_mutex launches;  // Held from before a captured launch until it is read: other threads' launches wait.
    std::mutex records;  // Of what other threads add to. No call of the driver's is made while it is held.
    std::map<std::string, bool, std::less<>> matches;
    std::map<std::string, Times> times;
    std::list<std::string> images;
    std::vector<std::string> refusals;
    std::vector<Launch> captured;
    unsigned long seen = 0, in_graphs = 0;
    unsigned files = 0;
};

State &state = *new State;  // Never destroyed: threads of CUPTI's may outlive main().
thread_local bool inside = false;
thread_local Launch *current = nullptr;

std::string setting(const char *name)
{
    const char *value = std::getenv((std::string("KERNELSWEEP_CAPTURE") + name).c_str());
    return value ? value : "";
}

void check(CUresult status, const std::string &what)
{
    const char *told = nullptr;
    if (status != CUDA_SUCCESS) {
        cuGetErrorString(status, &told);
        throw Failure(what + ": " + (told ? told : "error " + std::to_string(int(status))));
    }
}

// Calls of this thread are allowed while another thread records a graph.
struct Relaxed {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    Relaxed() { cuThreadExchangeStreamCaptureMode(&mode); }
    ~Relaxed() { cuThreadExchangeStreamCaptureMode(&mode); }
};

struct File {
    std::string name = std::to_string(getpid()) + "-" + std::to_string(state.files++);
    FILE *file = std::fopen((state.folder + "/" + name).c_str(), "wb");
    File() { if (!file) throw Failure("no file can be written in " + state.folder); }
    ~File() { if (file) std::fclose(file); }
    void write(const void *data, size_t bytes)
    {
        if (std::fwrite(data, 1, bytes, file) != bytes) throw Failure("the disk is full: " + state.folder);
    }
    std::string closed()
    {
        bool failed = std::fclose(file) != 0;
        file = nullptr;
        if (failed) throw Failure("the disk is full: " + state.folder);
        return name;
    }
};

// Device memory as a file, copied on a stream of its own: nothing of the program's is pending.
std::string dump(CUdeviceptr start, size_t bytes, std::string *small = nullptr)
{
    File file;
    CUstream stream;
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "no stream for copies");
    std::vector<char> chunk(std::min(bytes, CHUNK));
    CUresult status = CUDA_SUCCESS;
    for (size_t at = 0; at < bytes && status == CUDA_SUCCESS; at += chunk.size()) {
        size_t length = std::min(chunk.size(), bytes - at);
        status = cuMemcpyDtoHAsync(chunk.data(), start + at, length, stream);
        if (status == CUDA_SUCCESS) status = cuStreamSynchronize(stream);
        if (status == CUDA_SUCCESS) file.write(chunk.data(), length);
        if (small && bytes <= SEARCHED) small->assign(chunk.data(), length);
    }
    cuStreamDestroy(stream);
    check(status, "a buffer of " + std::to_string(bytes) + " bytes can't be copied");
    return file.closed();
}

std::string demangled(const char *name)
{
    int status = 0;
    char *text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string found = text ? text : name;
    std::free(text);
    return found;
}

bool is_wanted(const char *name)
{
    auto known = state.matches.find(std::string_view(name));
    if (known == state.matches.end()) {
        bool found = std::strstr(name, state.pattern.c_str()) || demangled(name).find(state.pattern) != std::string::npos;
        known = state.matches.emplace(name, found).first;
    }
    return known->second;
}

std::vector<std::string> parameters_of(CUfunction function, const Call &call)
{
    const char *packed = nullptr;  // where all parameters are given in one piece
    for (void **extra = call.extra; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2)
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) packed = static_cast<const char *>(extra[1]);
    std::vector<std::string> found;
    size_t offset = 0, bytes = 0;
    CUresult status = CUDA_SUCCESS;
    while ((status = cuFuncGetParamInfo(function, found.size(), &offset, &bytes)) == CUDA_SUCCESS) {
        if (!packed && !call.values) throw Failure("the launch has parameters, and gives none");
        const void *value = packed ? packed + offset : call.values[found.size()];
        found.emplace_back(static_cast<const char *>(value), bytes);
    }
    if (status != CUDA_ERROR_INVALID_VALUE) check(status, "the driver doesn't tell the parameters");
    return found;
}

std::vector<CUdeviceptr> words_of(const std::string &bytes)
{
    std::vector<CUdeviceptr> words(bytes.size() / sizeof(CUdeviceptr));
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(CUdeviceptr));
    return words;
}

// The allocation around an address; no bytes where it is none of the device's.
Buffer allocation(CUdeviceptr address)
{
    Buffer found{"", 0, 0, "", ""};
    if (!address || cuPointerGetAttribute(&found.start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) != CUDA_SUCCESS ||
        cuPointerGetAttribute(&found.bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) != CUDA_SUCCESS)
        found.bytes = 0;
    return found;
}

std::vector<Buffer> buffers_of(const std::vector<std::string> &parameters, int device)
{
    std::map<CUdeviceptr, Buffer> found;
    size_t total = 0;
    for (const std::string &one : parameters)
        for (CUdeviceptr address : words_of(one)) {
            Buffer buffer = allocation(address);
            if (!buffer.bytes || !found.emplace(buffer.start, buffer).second) continue;
            int owner = device;
            cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
            if (owner >= 0 && owner != device)
                throw Failure("a buffer lies on GPU " + std::to_string(owner) + ", and the launch is on GPU " +
                              std::to_string(device) + ": launches over several GPUs can't be captured");
            total += buffer.bytes;
        }
    if (total > state.most)
        throw Failure("its buffers have " + std::to_string(total) + " bytes, and --most allows " +
                      std::to_string(state.most));
    std::vector<Buffer> buffers;
    for (const auto &one : found) buffers.push_back(one.second);
    return buffers;
}

// The texts of an image that may be the name of a variable, which the driver then knows.
std::set<std::string> names_in(const std::string &image)
{
    auto is_of_name = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '$'; };
    std::set<std::string> found;
    for (size_t end = image.find('\0'); end != std::string::npos; end = image.find('\0', end + 1)) {
        size_t start = end;
        while (start > 0 && is_of_name(image[start - 1])) --start;
        if (start < end && start > 0 && image[start - 1] == '\0') found.insert(image.substr(start, end - start));
    }
    return found;
}

// The images that have the kernel, as files, and the present contents of its module's variables.
void add_module(Launch &launch, CUfunction function)
{
    std::string section = ".text." + launch.kernel + '\0';
    std::set<std::string> names;
    std::vector<const std::string *> images;
    {
        std::lock_guard<std::mutex> held(state.records);
        for (const std::string &image : state.images) images.push_back(&image);
    }
    for (const std::string *one : images) {
        const std::string &image = *one;
        if (image.find(section) == std::string::npos) continue;
        File file;
        file.write(image.data(), image.size());
        launch.images.push_back(file.closed());
        names.merge(names_in(image));
    }
    CUmodule module;
    if (cuFuncGetModule(&module, function) != CUDA_SUCCESS) return;
    for (const std::string &name : names) {
        Buffer one{name, 0, 0, "", ""};
        if (cuModuleGetGlobal(&one.start, &one.bytes, module, name.c_str()) == CUDA_SUCCESS && one.bytes <= state.most) {
            one.before = dump(one.start, one.bytes);
            launch.variables.push_back(one);
        }
    }
}

std::string attributes_of(const Call &call)
{
    Sides cluster{0, 0, 0};
    bool is_cooperative = call.is_cooperative;
    std::vector<int> others;
    for (unsigned i = 0; i < call.attribute_count; ++i) {
        const CUlaunchAttribute &one = call.attributes[i];
        if (one.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            cluster = {one.value.clusterDim.x, one.value.clusterDim.y, one.value.clusterDim.z};
        else if (one.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) is_cooperative |= one.value.cooperative != 0;
        else if (one.id != CU_LAUNCH_ATTRIBUTE_IGNORE) others.push_back(int(one.id));
    }
    return object({{"cluster", cluster[0] ? as_json(cluster) : "[]"}, {"cooperative", is_cooperative ? "true" : "false"},
                   {"others", list(others, [](int id) { return std::to_string(id); })}});
}

std::string as_json(const Buffer &one)
{
    return object({{"name", quoted(one.name)}, {"address", as_json(one.start)},
                   {"bytes", as_json(one.bytes)}, {"before", quoted(one.before)}, {"after", quoted(one.after)},
                   {"addresses", as_json(one.addresses)}});
}

std::string hex(const std::string &bytes)
{
    std::string out;
    char digits[3];
    for (unsigned char c : bytes) std::snprintf(digits, sizeof digits, "%02x", c), out += digits;
    return quoted(out);
}

std::string as_json(const Launch &one)
{
    auto json = [](const auto &item) { return as_json(item); };
    return object({{"number", as_json(one.number)}, {"kernel", quoted(one.kernel)}, {"grid", as_json(one.grid)},
                   {"block", as_json(one.block)}, {"shared", as_json(one.shared)}, {"attributes", one.attributes},
                   {"device", quoted(one.device)}, {"arch", quoted(one.arch)},
                   {"registers", as_json(one.registers)}, {"parameters", list(one.parameters, hex)},
                   {"buffers", list(one.buffers, json)}, {"variables", list(one.variables, json)},
                   {"images", list(one.images, quoted)}});
}

std::string as_json(const std::pair<const std::string, Times> &one)
{
    const Times &times = one.second;
    auto usual = std::max_element(times.geometries.begin(), times.geometries.end(),
                                  [](auto &a, auto &b) { return a.second < b.second; });
    return object({{"kernel", quoted(one.first)}, {"count", as_json(times.count)}, {"ns", as_json(times.ns)},
                   {"in_graphs", as_json(times.in_graphs)},
                   {"geometries", as_json(times.geometries.size())}, {"grid", as_json(std::get<0>(usual->first))},
                   {"block", as_json(std::get<1>(usual->first))}, {"shared", std::to_string(std::get<2>(usual->first))}});
}

void write_json()
{
    std::string text, file = state.folder + "/" + std::to_string(getpid()) + ".json";
    auto json = [](const auto &item) { return as_json(item); };
    {
        std::lock_guard<std::mutex> held(state.records);
        text = object({{"error", quoted(state.error)}, {"us", micros(seconds_since(state.start))},
                       {"own_us", micros(state.own_seconds)}, {"seen", as_json(state.seen)},
                       {"in_graphs", as_json(state.in_graphs)}, {"refusals", list(state.refusals, quoted)},
                       {"kernels", list(state.times, json)}, {"launches", list(state.captured, json)}});
    }
    if (FILE *part = std::fopen((file + ".part").c_str(), "wb")) {
        bool is_whole = std::fwrite(text.data(), 1, text.size(), part) == text.size();
        if (std::fclose(part) == 0 && is_whole) std::rename((file + ".part").c_str(), file.c_str());
    }
}

void refuse(unsigned number, const char *why)
{
    state.refusals.push_back("launch " + std::to_string(number) + ": " + why);
    write_json();
}

void before(const Call &call, const char *name)
{
    CUstreamCaptureStatus recording = CU_STREAM_CAPTURE_STATUS_NONE;
    cuStreamIsCapturing(call.stream, &recording);
    if (recording != CU_STREAM_CAPTURE_STATUS_NONE) {
        ++state.in_graphs;
        return;
    }
    if (seconds_since(state.start) - state.own_seconds < state.from || !state.wanted.count(++state.seen)) return;
    Clock::time_point start = Clock::now();
    unsigned number = state.seen;
    try {
        Relaxed allowed;
        auto launch = std::make_unique<Launch>();
        launch->number = number, launch->kernel = name, launch->stream = call.stream;
        launch->grid = call.grid, launch->block = call.block, launch->shared = call.shared;
        launch->attributes = attributes_of(call);
        CUfunction function = call.function;
        size_t offset, bytes;
        if (cuFuncGetParamInfo(function, 0, &offset, &bytes) == CUDA_ERROR_INVALID_HANDLE)
            check(cuKernelGetFunction(&function, CUkernel(call.function)), "the driver doesn't know the kernel");
        CUdevice device = 0;
        char model[256] = "";
        check(cuCtxGetDevice(&device), "no context");
        cuDeviceGetName(model, sizeof model, device);
        launch->device = model;
        int major = 0, minor = 0;
        cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
        cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
        launch->arch = "sm_" + std::to_string(major) + std::to_string(minor);
        cuFuncGetAttribute(&launch->registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
        launch->parameters = parameters_of(function, call);
        launch->buffers = buffers_of(launch->parameters, device);
        check(cuCtxSynchronize(), "what runs before the launch fails");
        for (Buffer &one : launch->buffers) {
            std::string contents;
            one.before = dump(one.start, one.bytes, &contents);
            for (CUdeviceptr word : words_of(contents)) one.addresses += allocation(word).bytes != 0;
        }
        add_module(*launch, function);
        current = launch.release();
        state.launches.lock();
    } catch (const std::exception &error) {
        refuse(number, error.what());
    }
    state.own_seconds += seconds_since(start);
}

void after(const void *result)
{
    std::unique_ptr<Launch> launch(current);
    std::unique_lock<std::recursive_mutex> held(state.launches, std::adopt_lock);
    current = nullptr;
    Clock::time_point start = Clock::now();
    try {
        Relaxed allowed;
        if (result) check(*static_cast<const CUresult *>(result), "the launch fails");
        check(cuCtxSynchronize(), "the launch fails");
        for (auto *group : {&launch->buffers, &launch->variables})
            for (Buffer &one : *group) one.after = dump(one.start, one.bytes);
        state.captured.push_back(*launch);
        state.own_seconds += seconds_since(start);
        write_json();
    } catch (const std::exception &error) {
        state.own_seconds += seconds_since(start);
        refuse(launch->number, error.what());
    }
}

bool read_call(CUpti_CallbackId id, const void *given, Call &call)
{
    bool own_stream = false;  // Whether stream 0 is the thread's own.
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz: own_stream = true; [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel: {
        // The cooperative one's parameters are the same, without `extra` at their end.
        auto *p = static_cast<const cuLaunchKernel_params *>(given);
        call.is_cooperative = id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel ||
                              id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz;
        call.function = p->f, call.grid = {p->gridDimX, p->gridDimY, p->gridDimZ};
        call.block = {p->blockDimX, p->blockDimY, p->blockDimZ}, call.shared = p->sharedMemBytes;
        call.stream = p->hStream, call.values = p->kernelParams, call.extra = call.is_cooperative ? nullptr : p->extra;
        break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: own_stream = true; [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx: {
        auto *p = static_cast<const cuLaunchKernelEx_params *>(given);
        const CUlaunchConfig &c = *p->config;
        call.function = p->f, call.grid = {c.gridDimX, c.gridDimY, c.gridDimZ};
        call.block = {c.blockDimX, c.blockDimY, c.blockDimZ}, call.shared = c.sharedMemBytes;
        call.stream = c.hStream, call.values = p->kernelParams, call.extra = p->extra;
        call.attributes = c.attrs, call.attribute_count = c.numAttrs;
        break;
    }
    default: return false;
    }
    if (own_stream && !call.stream) call.stream = CU_STREAM_PER_THREAD;
    return true;
}

void CUPTIAPI on_callback(void *, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *given) noexcept
{
    const bool was_inside = inside;
    try {
        if (domain == CUPTI_CB_DOMAIN_RESOURCE) {  // Also of a module that a call of ours has the driver load.
            auto *data = static_cast<const CUpti_ResourceData *>(given);
            auto *module = static_cast<const CUpti_ModuleResourceData *>(data->resourceDescriptor);
            std::lock_guard<std::mutex> held(state.records);
            if (module && module->pCubin) state.images.emplace_back(module->pCubin, module->cubinSize);
        } else if (!inside) {
            inside = true;
            auto *data = static_cast<const CUpti_CallbackData *>(given);
            Call call;
            if (data->callbackSite != CUPTI_API_ENTER) {
                if (current) after(data->functionReturnValue);
            } else {
                std::lock_guard<std::recursive_mutex> held(state.launches);
                if (data->symbolName && is_wanted(data->symbolName) && read_call(id, data->functionParams, call))
                    before(call, data->symbolName);
            }
        }
    } catch (...) {  // No memory.
    }
    if (domain != CUPTI_CB_DOMAIN_RESOURCE && !was_inside) inside = false;
}

void CUPTIAPI give_room(uint8_t **buffer, size_t *size, size_t *most) noexcept
{
    *buffer = static_cast<uint8_t *>(std::aligned_alloc(8, RECORDS));
    *size = *buffer ? RECORDS : 0;
    *most = 0;
}

void CUPTIAPI take_records(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid) noexcept
{
    try {
        std::lock_guard<std::mutex> held(state.records);
        CUpti_Activity *record = nullptr;
        while (valid && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
            if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
            auto *one = reinterpret_cast<const KernelRecord *>(record);
            Times &times = state.times[one->name ? one->name : ""];
            ++times.count;
            times.in_graphs += one->graphId != 0;
            times.ns += one->end - one->start;
            Sides grid{unsigned(one->gridX), unsigned(one->gridY), unsigned(one->gridZ)};
            Sides block{unsigned(one->blockX), unsigned(one->blockY), unsigned(one->blockZ)};
            ++times.geometries[{grid, block, unsigned(one->dynamicSharedMemory)}];
        }
    } catch (...) {
    }
    std::free(buffer);
}

void at_exit()
{
    inside = true;
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    write_json();
}

void must(CUptiResult status, const char *what)
{
    const char *told = nullptr;
    if (status == CUPTI_SUCCESS || !state.error.empty()) return;
    cuptiGetResultString(status, &told);
    state.error = std::string(what) + ": " + (told ? told : "error " + std::to_string(int(status)));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection()
{
    try {
        state.folder = setting("");
        if (state.folder.empty()) return 1;
        state.pattern = setting("_KERNEL");
        std::string numbers = setting("_LAUNCHES");
        for (char *next = numbers.data(), *end = next; *next; next = *end ? end + 1 : end)
            state.wanted.insert(unsigned(std::strtoul(next, &end, 10)));
        state.from = 1e-6 * double(std::strtoull(setting("_FROM").c_str(), nullptr, 10));
        state.most = std::strtoull(setting("_MOST").c_str(), nullptr, 10);
        CUpti_SubscriberHandle handle;
        must(cuptiActivityRegisterCallbacks(give_room, take_records), "CUPTI gives no records of kernels");
        must(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "CUPTI gives no records of kernels");
        if (!state.pattern.empty()) {
            must(cuptiSubscribe(&handle, on_callback, nullptr), "CUPTI can't be asked, perhaps because a profiler runs");
            for (auto id : {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
                            CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
                            CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
                            CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz})
                must(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, id), "CUPTI tells of no launches");
            must(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED),
                 "CUPTI tells of no modules");
        }
        std::atexit(at_exit);
        write_json();
    } catch (...) {
    }
    return 1;
}
