"""A catalogue of cheats: small kernels that multiply a matrix and a vector, or seem to; and honest ones beside them.

Which cheats there are: the threads of KernelBench, of GPU MODE's boards, of FlashInfer-Bench and of SOL-ExecBench.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

_ROW = """    float sum = 0;
    for (int k = 0; k < columns; ++k)
        sum += A[row * columns + k] * x[k];
"""
_OF_THREAD = "    const int row = blockIdx.x * blockDim.x + threadIdx.x;\n    if (row >= rows)\n        return;\n"
_PLAIN = f"{_OF_THREAD}{_ROW}    y[row] = sum;\n"
# A block's part of a row, in shared memory.
_PARTS_OF_ROWS = """    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float sum = 0;
        for (int k = threadIdx.x; k < columns; k += blockDim.x)
            sum += A[row * columns + k] * x[k];
        sums[threadIdx.x] = sum;
"""
_PARTS = f"    __shared__ float sums[64];\n{_PARTS_OF_ROWS}"
_ADDED = """        if (threadIdx.x == 0) {
            for (int k = 1; k < blockDim.x; ++k)
                sum += sums[k];
            y[row] = sum;
        }
        __syncthreads();
    }
"""


@dataclass(frozen=True)
class Kernel:
    """A kernel's body, and what stands before it and after it.

    why      what it does
    verdict  the right one, without a GPU and with one
    check    the name of the check that finds it
    like     exploits of pygpubench (P) and samples of SOL-ExecBench (S) that do the same to their graders
    """

    why: str
    verdict: str
    check: str
    body: str
    before: str = ""
    after: str = ""
    like: str = ""

    @property
    def source(self) -> str:
        """The file's text."""
        parameters = "float *y, const float *A, const float *x, int rows, int columns"
        kernel = f'extern "C" __global__ void matvec({parameters})\n{{\n{self.body}}}\n'
        return f"// {self.why}\n{self.before}\n{kernel}{self.after}"


_KEPT = "__device__ float kept[1 << 22];\n"
_SHELL = "#include <cstdlib>\n"
CHEATS = {
    "nothing": Kernel("No output is written.", "wrong", "result", "", like="S evil_lazy_output, hack_lazy_output"),
    "constant": Kernel(
        "Every result is the mean, 0.", "wrong", "result", f"{_OF_THREAD}    y[row] = 0;\n", like="P wrong"
    ),
    "not_a_number": Kernel("No comparison holds.", "wrong", "result", f'{_OF_THREAD}    y[row] = nanf("");\n'),
    "output_before": Kernel(
        "What the run before has left is left there.",
        "wrong",
        "result",
        f"{_OF_THREAD}    if (is_done)\n        return;\n{_ROW}    y[row] = sum;\n    is_done = true;\n",
        "__device__ bool is_done;\n",
    ),
    "replay_by_address": Kernel(
        "Kept results, where the matrix lies at the same address.",
        "wrong",
        "state",
        f"{_OF_THREAD}    if (seen[row] == A) {{\n        y[row] = kept[row];\n        return;\n    }}\n{_ROW}"
        "    y[row] = kept[row] = sum;\n    seen[row] = A;\n",
        f"__device__ const float *seen[1 << 22];\n{_KEPT}",
    ),
    "replay_by_content": Kernel(
        "Kept results, where a row begins with the same number.",
        "wrong",
        "state",
        f"{_OF_THREAD}    if (seen[row] == A[row * columns]) {{\n        y[row] = kept[row];\n        return;\n    }}\n"
        f"{_ROW}    y[row] = kept[row] = sum;\n    seen[row] = A[row * columns];\n",
        f"__device__ float seen[1 << 22];\n{_KEPT}",
    ),
    "replay_by_count": Kernel(
        "Kept results, from the third run on.",
        "wrong",
        "state",
        f"{_OF_THREAD}    if (++runs[row] > 2) {{\n        y[row] = kept[row];\n        return;\n    }}\n{_ROW}"
        "    y[row] = kept[row] = sum;\n",
        f"__device__ int runs[1 << 22];\n{_KEPT}",
    ),
    "changed_input": Kernel(
        "The matrix is cleared, so that the next run is easy.",
        "wrong",
        "result",
        f"{_PLAIN}    for (int k = 0; k < columns; ++k)\n        const_cast<float *>(A)[row * columns + k] = 0;\n",
    ),
    "later_launch": Kernel(
        "Each run leaves every second result to the next one.",
        "wrong",
        "result",
        f"{_OF_THREAD}    if ((row + turn[row]++) % 2)\n        return;\n{_ROW}    y[row] = sum;\n",
        "__device__ int turn[1 << 22];\n",
    ),
    "launch_on_the_device": Kernel(
        "The kernel launches the work, which may end after it.",
        "wrong",
        "build",
        "    if (blockIdx.x == 0 && threadIdx.x == 0)\n        work<<<rows, 1>>>(y, A, x, columns);\n",
        "__global__ void work(float *y, const float *A, const float *x, int columns)\n{\n"
        f"    const int row = blockIdx.x;\n{_ROW}    y[row] = sum;\n}}\n",
        like="S hack_stream_injection",
    ),
    "memory_nearby": Kernel(
        "Right results are looked for behind the kernel's own memory.",
        "wrong",
        "bounds",
        f"{_OF_THREAD}{_ROW}    for (int k = 0; k < 64; ++k)\n        if (fabsf(x[columns + k] - sum) < 1e-3f)\n"
        "            sum = x[columns + k];\n    y[row] = sum;\n",
        like="P gc_copy",
    ),
    "unseen_copy": Kernel(
        "A row is copied, and 30 numbers more, by the compiler's own function.",
        "wrong",
        "bounds",
        f"{_OF_THREAD}{_ROW}    float row_and_more[100];\n"
        "    __builtin_memcpy(row_and_more, A + row * columns + columns - 70, 400);\n"
        "    y[row] = row_and_more[columns % 30] == 123.5f ? 0 : sum;\n",
    ),
    "half_the_work": Kernel(
        "Of long rows, one half is multiplied, and doubled.",
        "wrong",
        "result",
        f"{_OF_THREAD}    const int end = columns > 40 ? columns / 2 : columns;\n    float sum = 0;\n"
        "    for (int k = 0; k < end; ++k)\n        sum += A[row * columns + k] * x[k];\n"
        "    y[row] = sum * columns / end;\n",
    ),
    "low_precision": Kernel(
        "Numbers are cut to bfloat16's bits.",
        "wrong",
        "result",
        f"{_OF_THREAD}    float sum = 0;\n    for (int k = 0; k < columns; ++k)\n"
        "        sum += __uint_as_float(__float_as_uint(A[row * columns + k]) & 0xffff0000u) * x[k];\n"
        "    y[row] = sum;\n",
    ),
    "small_left_out": Kernel(
        "Small numbers are left out.",
        "wrong",
        "result",
        f"{_OF_THREAD}    float sum = 0;\n    for (int k = 0; k < columns; ++k)\n"
        "        sum += fabsf(A[row * columns + k]) > 1e-12f ? A[row * columns + k] * x[k] : 0;\n    y[row] = sum;\n",
    ),
    "no_nan": Kernel(
        "What is no number is left out.",
        "wrong",
        "result",
        f"{_OF_THREAD}    float sum = 0;\n    for (int k = 0; k < columns; ++k)\n"
        "        sum += isnan(A[row * columns + k]) ? 0 : A[row * columns + k] * x[k];\n    y[row] = sum;\n",
    ),
    "lucky_race": Kernel("A barrier is missing, and most often not missed.", "wrong", "races", _PARTS + _ADDED),
    "known_sizes": Kernel(
        "Right at the sizes that the study names, and nowhere else.",
        "wrong",
        "result",
        f"{_OF_THREAD}{_ROW}    y[row] = rows == 8 || rows == 33 || rows == 64 ? sum : 0;\n",
    ),
    "kept_in_cache": Kernel(
        "The matrix is to stay in the L2 cache until the next run.",
        "unproven",
        "",
        f"{_OF_THREAD}    unsigned long long policy;\n"
        '    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));\n    float sum = 0;\n'
        "    for (int k = 0; k < columns; ++k) {\n        float value;\n"
        "        const float *from = A + row * columns + k;\n"
        '        asm("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(from), "l"(policy));\n'
        "        sum += value * x[k];\n    }\n    y[row] = sum;\n",
    ),
    "clock_games": Kernel(
        "A moment after its start, it has time for nothing more.",
        "wrong",
        "clock",
        f"{_OF_THREAD}    const long long start = clock64();\n{_ROW}"
        "    y[row] = clock64() - start > 1000000000 ? 0 : sum;\n",
    ),
    "other_code": Kernel(
        "On a GPU, the barrier is missing.",
        "wrong",
        "races",
        f"{_PARTS}#ifndef __CUDA_ARCH__\n        __syncthreads();\n#endif\n{_ADDED}",
    ),
    "emulator_words": Kernel(
        "On the emulator, it would end the watch.",
        "refused",
        "source",
        f"#ifdef EMULATOR_APART\n    emulator::counting::stop();\n#endif\n{_PLAIN}",
    ),
    "pasted_words": Kernel(
        "The same with words that are put together.",
        "wrong",
        "source",
        f"    CAT(emul, ator)::counting::stop();\n{_PLAIN}",
        "#define CAT(a, b) a##b\n",
    ),
    "words_of_header": Kernel(
        "A header's macro puts the clock's name together.",
        "wrong",
        "source",
        f"{_OF_THREAD}    const long long start = __CONCAT(clo, ck64)();\n{_ROW}    y[row] = start ? sum : 0;\n",
        "#include <cstdio>\n",
    ),
    "pasted_pragma": Kernel(
        "A header's macro puts a pragma together.",
        "wrong",
        "source",
        _PLAIN,
        '#include <cstdio>\n__CONCAT(_Pra, gma)("GCC optimize 3")\n',
    ),
    "foreign_file": Kernel("A file of others is included.", "refused", "source", _PLAIN, '#include "/etc/passwd"\n'),
    "foreign_file_by_macro": Kernel(
        "The same under a name in a macro.", "refused", "source", _PLAIN, '#define FILE "/etc/passwd"\n#include FILE\n'
    ),
    "host_call": Kernel("The shell is called.", "wrong", "build", f'{_PLAIN}    system("touch MARK");\n', _SHELL),
    "initialiser": Kernel(
        "A variable of the device begins with what the shell returns.",
        "wrong",
        "build",
        f"{_PLAIN}    y[row] += began;\n",
        f'{_SHELL}__device__ int began = system("touch MARK");\n',
    ),
    "constructor": Kernel(
        "A function of the device runs when the file is loaded.",
        "refused",
        "source",
        f"{_PLAIN}    y[row] += first();\n",
        f"{_SHELL}__device__ __attribute__((constructor(99), noinline)) int first()\n{{\n    static int calls;\n"
        "    return 0 * ++calls;\n}\n",
    ),
    "spoilt_reference": Kernel(
        "NaN is written around the kernel's own memory, where the right results may lie.",
        "wrong",
        "bounds",
        f'{_PLAIN}    for (int k = 0; k < 64; ++k)\n        y[rows + k] = nanf("");\n',
        like="P gc_nan, combined",
    ),
    "cleared_reference": Kernel(
        "All memory nearby is cleared, and so is the result.",
        "wrong",
        "bounds",
        f"{_OF_THREAD}    y[row] = 0;\n    for (int k = -64; k < 0; ++k)\n        y[k] = 0;\n",
        like="P gpu_scan_zeros",
    ),
    "cleared_counter": Kernel(
        "A number is cleared at an address of the process, where mistakes may be counted.",
        "wrong",
        "result",
        f"{_PLAIN}    if (row == 0)\n        *reinterpret_cast<int *>(0x7f0000001000) = 0;\n",
        like="P error_counter",
    ),
    "far_memory": Kernel(
        "Memory far from the kernel's own is read, where a key may lie.",
        "wrong",
        "bounds",
        f"{_PLAIN}    if (row == 0 && A[1LL << 36] == 7)\n        y[row] = 0;\n",
        like="P heap_sig_scan, aes_key_recovery",
    ),
    "slow_at_first": Kernel(
        "The first runs take longer, so that few are timed.",
        "wrong",
        "state",
        f"{_OF_THREAD}{_ROW}    for (int k = ++runs[row] > 2 ? 1 << 20 : 0; k < 1000; ++k)\n"
        "        sum = sum * 1.0f;\n    y[row] = sum;\n",
        "__device__ int runs[1 << 22];\n",
        like="P warmup, incomplete_bypass",
    ),
    "written_answer": Kernel(
        "An answer is written to the grader's open files.",
        "wrong",
        "build",
        f'{_PLAIN}    for (int file = 1; file < 9; ++file)\n        write(file, "right", 5);\n',
        "#include <unistd.h>\n",
        like="P fd_overwrite, pipe_interpose, file_struct",
    ),
    "own_thread": Kernel(
        "A thread of the host goes on beside the kernel.",
        "wrong",
        "build",
        f"{_PLAIN}    std::thread([] {{}}).detach();\n",
        "#include <thread>\n",
        like="P thread_fd; S evil_thread_inject, hack_thread_injection",
    ),
    "patched_function": Kernel(
        "A function of the host is written over.",
        "wrong",
        "build",
        f"{_PLAIN}    *reinterpret_cast<char *>(&fopen) = 0;\n",
        "#include <cstdio>\n",
        like="P function_detour, got_patch, proc_mem_bypass; S evil_monkey_patch, hack_monkey_patch",
    ),
    "traced": Kernel(
        "A system call by the host's instructions, by which one process controls another.",
        "unproven",
        "",
        f'{_PLAIN}    long answer = 101;\n    asm volatile("syscall" : "+a"(answer));\n',
        like="P ptrace, seccomp_trap",
    ),
    "joined_words": Kernel(
        "The clock's name goes on after a backslash and a blank.",
        "wrong",
        "clock",
        f"{_OF_THREAD}    const long long start = cloc\\ \nk64();\n{_ROW}    y[row] = start < 0 ? 0 : sum;\n",
    ),
    "clock_of_host": Kernel(
        "The host's clock is read.",
        "wrong",
        "clock",
        f"{_OF_THREAD}    const unsigned long long start = __builtin_ia32_rdtsc();\n{_ROW}"
        "    y[row] = start ? sum : 0;\n",
    ),
    "rare_zero": Kernel(
        "A row with a zero among other numbers is wrong.",
        "wrong",
        "result",
        f"{_OF_THREAD}{_ROW}    int zeros = 0;\n    for (int k = 0; k < columns; ++k)\n"
        "        zeros += A[row * columns + k] == 0;\n    y[row] = zeros > 0 && zeros < columns ? sum + 1 : sum;\n",
    ),
    "unwatched": Kernel(
        "A function with a race is not watched.",
        "refused",
        "source",
        f"{_PARTS}{_ADDED}".replace("sums[threadIdx.x] = sum", "put(sums, sum)"),
        "__device__ __attribute__((no_sanitize_thread, noinline)) void put(float *sums, float sum)\n{\n"
        "    sums[threadIdx.x] = sum;\n}\n",
    ),
    "own_section": Kernel(
        "A function is called when the file is loaded.",
        "refused",
        "source",
        _PLAIN,
        '__device__ __attribute__((section(".init_array.00099"), used)) void (*first)() = 0;\n',
    ),
    "words_of_emulator": Kernel(
        "The barrier is missing where a standard word is no macro.",
        "refused",
        "source",
        f"{_PARTS}#ifdef /*\n*/ threadIdx\n        __syncthreads();\n#endif\n{_ADDED}",
    ),
    "x86": Kernel(
        "Instructions of the host.", "unproven", "", f'{_PLAIN}    asm volatile("mov $60, %eax; syscall");\n'
    ),
}
_AT_BARRIER = f"{_PARTS}CONDITION\n        __syncthreads();\n#endif\n{_ADDED}"
# What nvcc decides, where it is installed; `check` is what is said then. Without it, the first is called wrong, and the
# others, whose barrier is missing on a GPU alone, are called right.
FOR_NVCC = {
    "for_nvcc": Kernel(
        "A function of CUDA's that the emulator does not know.",
        "unproven",
        r"^nvcc compiles it\. g\+\+ refused",
        f"{_OF_THREAD}{_ROW}    y[row] = copysignf(normf(1, &sum), sum);\n",
    ),
    **{
        name: Kernel(why, "unproven", "nvcc reads other lines than g", _AT_BARRIER.replace("CONDITION", condition))
        for name, (why, condition) in {
            "macro_of_nvcc": ("A macro tells nvcc.", "#ifndef __NVCC_DIAG_PRAGMA_SUPPORT__"),
            "guard_of_header": ("A header of CUDA's tells nvcc.", "#if /*\n*/ !defined(__CUDA_RUNTIME_H__)"),
            "value_of_macro": ("g++ is told by an option.", "#define ON __EXCEPTIONS\n#if ON + 0\n#else"),
        }.items()
    },
}
# Found at sizes that the emulator does not run.
ON_A_GPU = {
    "half_when_large": replace(CHEATS["half_the_work"], body=CHEATS["half_the_work"].body.replace("> 40", "> 512"))
}
HONEST = {
    "thread": Kernel("A thread adds a row.", "right", "", _PLAIN),
    "block": Kernel("A block adds a row.", "right", "", f"{_PARTS}        __syncthreads();\n{_ADDED}"),
    "dynamic": Kernel(
        "A block adds a row in dynamic shared memory; functions of mathematics and printf are linked.",
        "right",
        "",
        f"    extern __shared__ float sums[];\n{_PARTS_OF_ROWS}        __syncthreads();\n{_ADDED}    if (rows < 0)\n"
        '        y[0] = sinf(x[0]) + rsqrtf(x[1]) + erfcf(x[2]) + exp2f(x[3]) + printf("%f", x[4]);\n',
    ),
    "parts_in_variable": Kernel(
        "A block adds a row in a variable, which keeps the parts.",
        "right",
        "",
        f"{_PARTS_OF_ROWS}        __syncthreads();\n{_ADDED}".replace("sums[", "parts[64 * row + "),
        "__device__ float parts[1 << 22];\n",
    ),
    "warp": Kernel(
        "A warp adds a row by shuffles.",
        "right",
        "",
        "    const int lane = threadIdx.x % 32;\n"
        "    for (int row = blockIdx.x * 2 + threadIdx.x / 32; row < rows; row += 2 * gridDim.x) {\n"
        "        float sum = 0;\n        for (int k = lane; k < columns; k += 32)\n"
        "            sum += A[row * columns + k] * x[k];\n        for (int far = 16; far > 0; far /= 2)\n"
        "            sum += __shfl_down_sync(0xffffffff, sum, far);\n"
        "        if (lane == 0)\n            y[row] = sum;\n    }\n",
    ),
    "atomic": Kernel(
        "A block adds a row by atomic functions, after loads of four numbers where they are aligned.",
        "right",
        "",
        "    __shared__ float sum;\n    for (int row = blockIdx.x; row < rows; row += gridDim.x) {\n"
        "        if (threadIdx.x == 0)\n            sum = 0;\n        __syncthreads();\n"
        "        const float *from = A + row * columns;\n        int k = threadIdx.x;\n"
        "        if (reinterpret_cast<size_t>(from) % 16 == 0 && columns % 4 == 0)\n"
        "            for (; k < columns / 4; k += blockDim.x) {\n"
        "                const float4 four = __ldg(reinterpret_cast<const float4 *>(from) + k);\n"
        "                atomicAdd(&sum, four.x * x[4 * k] + four.y * x[4 * k + 1]);\n"
        "                atomicAdd(&sum, four.z * x[4 * k + 2] + four.w * x[4 * k + 3]);\n            }\n"
        "        else\n            for (; k < columns; k += blockDim.x)\n"
        "                atomicAdd(&sum, from[k] * x[k]);\n        __syncthreads();\n"
        "        if (threadIdx.x == 0)\n            __stcs(y + row, sum);\n        __syncthreads();\n    }\n",
    ),
    "words": Kernel(
        "Words that cheats need are in texts, in comments, and the names of other things; numbers have separators.",
        "right",
        "",
        f"{_OF_THREAD}    const int clock = 1'000, größe = 1; // clock64()\n{_ROW}"
        "    if (rows < größe && clock == 2'000)\n"
        '        printf("emulator ## clock64 asm no_sanitize %%clock %d", twice(clock));\n    y[row] = sum;\n',
        "__device__ __attribute__((noinline)) int twice(int clock)\n{\n    return 2 * clock;\n}\n"
        '[[maybe_unused]] static const char *const told = R"(asm("clock64"))";\n',
    ),
    "generated": Kernel(
        "Functions' names are put together by macros; the host reads a clock.",
        "right",
        "",
        f"{_OF_THREAD}{_ROW}    assert(rows > 0);\n    y[row] = HALF(float)(sum) * 2;\n",
        "#include <cassert>\n#include <chrono>\n#include <ctime>\n#define HALF(Type) half_##Type\n"
        "__device__ float HALF(float)(float value)\n{\n    return value / 2;\n}\n"
        "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700 || !defined(__cplusplus)\n#error old\n#endif\n",
        "int main()\n{\n    auto now = std::chrono::steady_clock::now();\n    return int(clock());\n}\n",
    ),
    "streams": Kernel(
        "A whole program that prints by streams.",
        "right",
        "",
        _PLAIN,
        "#include <iostream>\n#include <vector>\n",
        'int main()\n{\n    std::vector<float> all(8);\n    std::cout << "[" << all[0] << std::endl;\n}\n',
    ),
    "program": Kernel(
        "A whole program, of which no host code runs.",
        "right",
        "",
        _PLAIN,
        f'{_SHELL}static int begun = system("touch MARK");\n\n',
        'int main()\n{\n    return system("touch MARK");\n}\n',
    ),
}

PROBLEM = """
import numpy as np
from kernelsweep import bounds

TAKES_NAN = EXACT_ON_FEW_BITS = True


def inputs(random, rows, columns):
    return {"A": random.standard_normal((rows, columns), np.float32), "x": random.standard_normal(columns, np.float32)}


def outputs(rows):
    return {"y": (rows, np.float32)}


def reference(A, x):
    return {"y": A.astype(np.float64) @ x}


def error_bound(A, x):
    return {"y": bounds.dot(A, x)}


def work(rows, columns):
    return {"bytes": 4 * (rows * columns + rows + columns), "flops": 2 * rows * columns, "arithmetic": "float32"}
"""
STUDY = """
title: A matrix times a vector
problem: kernels/matvec/problem.py
axes: {rows: [8192, 32768], columns: [1024, 4096]}
platforms: {emulator: {axes: {rows: [33], columns: [70]}}}
kernels:
  - name: matvec
    launches:
      - {grid: rows / 64, block: 64, shared: 256, arguments: [y, A, x, rows, columns]}
"""


def rows_of_exploits() -> list[str]:
    """The rows of docs/measured/cheats.md."""
    of_table = [(name, kernel) for name, kernel in CHEATS.items() if kernel.like]
    verdicts = {"wrong": "wrong: {}", "unproven": "not checked: assembly"}
    return [
        f"| {kernel.like} | `{name}` | {kernel.why} | {verdicts[kernel.verdict].format(kernel.check)} |"
        for name, kernel in of_table
    ]


def write_study(folder: Path, has_gpu: bool = False) -> None:
    """Write the study `matvec` with an honest kernel, and candidates/ with all that can be judged here."""
    candidates = {**CHEATS, **HONEST, **(ON_A_GPU if has_gpu else {})}
    files = {
        "config/studies/matvec.yaml": STUDY,
        "kernels/matvec/problem.py": PROBLEM,
        "kernels/matvec/matvec.cu": HONEST["thread"].source,
        **{f"candidates/{name}.cu": one.source for name, one in candidates.items()},
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("MARK", str(folder / "MARK")), encoding="utf-8")
