"""Building: it makes the requested variants without spills or warnings; messages give a fault's place and remedy."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkout import ROOT
from planted import instantiations, point, source_of
from shipped_builds import admits, typed_unrolls
from shipped_kernels import shipped_studies, shipped_study

import cuda_emulator.unit
from cuda_emulator import Library
from kernelsweep.base.compilers import run_compiler
from kernelsweep.compile import nvcc, toolkit
from kernelsweep.compile.binaries import global_variables, unit_files
from kernelsweep.compile.build import cuda_unit
from kernelsweep.compile.builder import build
from kernelsweep.compile.unit_store import UnitStore
from kernelsweep.errors import BuildError, UserError
from kernelsweep.project.project import load_config
from kernelsweep.results import OTHER_CODE
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.kernels.units import TOOLKIT, Unit, spread_units, variant_name
from kernelsweep.study.resolve import kernel_units

ARCHITECTURES = ["sm_120", "sm_75"]  # The newest that CUDA 13 knows, and the oldest.

TOY = """\
__constant__ int weights[4] = {1, 2, 3, 4};
__device__ __noinline__ int weighted(int value, int place) { return value * weights[place]; }

template <typename Element, unsigned block_size, unsigned unroll>
__global__ void toy(const Element *data, Element *partials, size_t array_size)
{
    __shared__ Element shared[block_size];
    shared[threadIdx.x] = weighted(data[threadIdx.x], array_size % 4);
    __syncthreads();
    partials[blockIdx.x] = shared[array_size % block_size] + unroll;
}
"""
TOY_VARIANTS = ["toy<int, 64u, 1u>", "toy<int, 64u, 2u>", "toy<int, 128u, 1u>", "toy<long, 64u, 1u>"]


def build_toy(folder: Path, source: str = TOY, names: Sequence[str] = TOY_VARIANTS, target: str = "sm_90") -> Any:
    """Write a kernel and build it; the build report."""
    kernel = folder / "toy.cu"
    kernel.write_text(source)
    binary = folder / "out/toy.bin"
    return build(source_of(kernel), binary, target, [Unit({}, [[name] for name in names])] if names else [])


def hashes(report: Any) -> dict[str, str]:
    return {name: variant["binary_sha256"] for name, variant in report["variants"].items()}


@pytest.mark.nvcc
def test_the_report_has_the_variants_asked_for(tmp_path: Path) -> None:
    # The launcher finds a variant by this name, which nvcc mangles and c++filt spells its own way.
    report = build_toy(tmp_path)
    assert report["status"] == "ok"
    assert report["message"] == ""
    assert report["compiler"].startswith("nvcc ")
    assert sorted(report["variants"]) == sorted(TOY_VARIANTS)
    assert [report["variants"][name]["shared_bytes"] for name in TOY_VARIANTS] == [256, 256, 512, 512]
    for name, variant in report["variants"].items():
        assert 8 <= variant["registers"] <= 64, name
        assert variant["spill_store_bytes"] == variant["spill_load_bytes"] == 0
        assert variant["symbol"].startswith("_Z3toy")
        pointer = "p8 i8" if "long" in name else "p8 i4"
        assert (variant["parameter_types"], variant["constant_bytes"]) == ([pointer, pointer, "u8"], {"weights": 16})
    assert len(set(hashes(report).values())) == len(TOY_VARIANTS)
    binary = tmp_path / "out/toy.bin"
    assert binary.read_bytes()[:4] == b"\x7fELF"
    assert json.loads(json.dumps(report)) == report


@pytest.mark.nvcc
def test_variants_spread_over_units_have_the_same_machine_code(tmp_path: Path) -> None:
    (tmp_path / "toy.cu").write_text(TOY)
    names = [f"toy<int, {block}u, {unroll}u>" for block in (64, 128) for unroll in range(1, 6)]
    whole = [Unit({}, [[name] for name in names])]
    reports = []
    for units in (whole, spread_units(whole)):
        binary = tmp_path / f"{len(units)}.bin"
        reports.append(build(source_of(tmp_path / "toy.cu"), binary, "sm_90", units))
        assert len(unit_files(binary, tmp_path)) == len(units)
    assert [variant["unit"] for variant in reports[1]["variants"].values()] == 8 * [0] + 2 * [1]
    assert hashes(reports[0]) == hashes(reports[1])
    # Functions of one variant share variables, so they stay together.
    pair = Unit({}, [[f"rows<{tile}>", "columns"] for tile in range(20)])
    assert spread_units([pair]) == [pair]


@pytest.mark.nvcc
def test_options_architectures_and_toolkits_make_units_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A toolkit beside the repository is pretended: nvcc as it is here, with another release."""
    other = tmp_path / "toolkits/13.9/nvidia/cu13/bin/nvcc"
    other.parent.mkdir(parents=True)
    other.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "release 13.9, V13.9.1" || exec {nvcc.find()} "$@"\n')
    other.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    kernel = tmp_path / "spills.cu"
    kernel.write_text(
        "__global__ void spills(float *data)\n{\n    float values[128];\n"
        "#pragma unroll\n    for (int i = 0; i < 128; ++i) values[i] = data[i];\n    __syncthreads();\n"
        "#pragma unroll\n    for (int i = 0; i < 128; ++i) data[128 + i] = values[i] * values[127 - i];\n"
        "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n    data[0] = 1;\n#endif\n}\n"
    )
    options = [{}, {"-maxrregcount=32": ""}, {"-arch=sm_90a": ""}]
    sets: list[dict[str, str]] = [*options, {TOOLKIT: "13.9"}, {TOOLKIT: "9.0"}]
    store = UnitStore(tmp_path / "store")
    report = build(
        source_of(kernel), tmp_path / "binary", "sm_90", [Unit(given, [["spills"]]) for given in sets], store=store
    )
    plain, limited, featured, newer = (report["variants"][variant_name(["spills"], given)] for given in sets[:4])
    assert limited["registers"] == 32 < plain["registers"] and limited["spill_store_bytes"] > 0
    assert len({one["binary_sha256"] for one in (plain, limited, featured)}) == 3
    assert newer["binary_sha256"] == plain["binary_sha256"] and nvcc.version("13.9") == "nvcc 13.9.1"
    assert "there is no nvcc 9.0, but " in report["failed"]["spills [CUDA toolkit=9.0]"]["message"]


@pytest.mark.parametrize("target", [pytest.param("sm_90", marks=pytest.mark.nvcc), "emulator"])
def test_static_shared_memory_has_a_limit_on_the_emulator_as_on_a_gpu(tmp_path: Path, target: str) -> None:
    # Pins: 64 KB of static shared memory, "ok" on the emulator, where nvcc refuses the kernel.
    source = TOY.replace("shared[block_size];", "shared[192 * block_size];")
    if target == "emulator":
        source = source.replace("__constant__ int", "static const int").replace("__noinline__", "")
    # Pins: one variant of a template that didn't compile cost all that shared its unit. The others have 24 and 48 KB.
    report = build_toy(tmp_path, source, ["toy<int, 64u, 1u>", "toy<int, 128u, 1u>", "toy<int, 32u, 1u>"], target)
    assert report["status"] == "ok" and sorted(report["variants"]) == ["toy<int, 32u, 1u>", "toy<int, 64u, 1u>"]
    ((failed, failure),) = report["failed"].items()
    message = failure["message"]
    assert failed == "toy<int, 128u, 1u>"
    if target == "emulator":
        assert "toy<int, 128u, 1u> has 98304 bytes of static shared memory" in message
        assert "extern __shared__" in message


# A file as programs have it: two kernels, what launches them, and headers that are not installed.
PROGRAM = """\
#include <cooperative_groups.h>
#include <a_library_of_the_authors.h>
#include <of_windows.h>
#include "common.h"
namespace cg = cooperative_groups;
#define DEVICE static __device__ inline
#ifdef DOUBLE
typedef double real;
#else
typedef float real;
#endif
class Timer {
    cudaEvent_t begin;
public:
    Timer() { cudaEventCreate(&begin); }
};
template <typename T> struct Maximum { __device__ T operator()(T a, T b) const { return a > b ? a : b; } };
DEVICE real twice(real x) { return 2 * x; }
__device__ real by_assembly(real x) { asm("mov.f32 %0, %1;" : "=f"(x) : "f"(x)); return x; }

template <int threads>
__global__ void __launch_bounds__(threads) scale(const real *x, real *y, int n)
{
    cg::thread_block block = cg::this_thread_block();
    for (int i = block.thread_rank(); i < n; i += threads)
        y[i] = Maximum<real>()(twice(x[i]), reduce(i));
}

__global__ void textured(cudaTextureObject_t image, real *y) { y[0] = by_assembly(tex3D<real>(image, 0, 0, 0)); }

template <class T> void reduce(int n, T *data)
{
    T *copy;
    CHECK(cudaMalloc(&copy, n * sizeof(T)));
    scale<128><<<dim3((n + 127) / 128), 128>>>(data, copy, n);
    const char *brackets = "}}{";
#ifdef VERBOSE
    if (n) {
#else
    {
#endif
    }
}
template void reduce<real>(int, real *);
#ifdef ARGUMENTS
int main(int count, char **words) {
#else
int main() {
#endif
    reduce<real>(1, nullptr);
}
"""
COMMON = """\
#pragma once
#include <vector>
#define CHECK(call) if (call) exit(1)
static a_library::handle_t handle;
inline std::vector<float> random_numbers(a_library::seed_t seed) { return {}; }
__device__ int reduce(int i) { return i / 2; }
"""


@pytest.mark.parametrize("target", ["emulator", "sm_90"])
def test_a_kernel_is_built_from_a_program_as_it_stands(
    tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "common.h").write_text(COMMON)
    (tmp_path / "installed").mkdir()  # A compiler's own folder, with a header that needs what isn't installed.
    (tmp_path / "installed/of_windows.h").write_text("#include <nowhere/windows.h>\nwindow_t window;\n")
    monkeypatch.setenv("CXX", f"g++ -I{tmp_path}/installed")
    monkeypatch.setenv("NVCC_APPEND_FLAGS", f"-Xcompiler=-I{tmp_path}/installed")
    report = build_toy(tmp_path, PROGRAM, ["scale<128>"], target)
    assert report["status"] == "ok", report["message"]
    wrong = PROGRAM.replace("2 * x", "2 * z")
    message = build_toy(tmp_path, wrong, ["scale<128>"], target)["message"]
    line = 1 + wrong[: wrong.index("2 * z")].count("\n")
    assert f"{tmp_path}/toy.cu:{line}" in message or f"{tmp_path}/toy.cu({line})" in message


# What stopped published files: each line is a case of its own.
PUBLISHED = """\
#include "not_here.h"
#include <cublas_v2.h>
#include <ATen/cuda/Atomic.cuh>
#include <cuda.h>
#include "callbacks.h"
struct Job { stop_t stop; table_t *tables; launch_t launch; };
struct Sum { int value; };
struct Reduction { Sum sum; using Sum = float; };
namespace published { namespace {
template <typename T, int threads> __global__ void scale(T *y, const T *x, half *h, __nv_bfloat16 *b)
{
    Job job{};
    Reduction reduction{};
    const int i = threads * blockIdx.x + threadIdx.x;
    const float n = c10::Half(N < FLT_MAX ? N : 0);
    y[i] = T(n) * x[i] + T(job.stop ? float(reduction.sum.value) : float(sizeof(table_t)));
    gpuAtomicAdd(&y[i], T(float(h[i]) + float(b[i])));
}
} }
"""
# Of a folder that an option names, by a link. Its lines end as on Windows.
CALLBACKS = """\
#include <also_not_here.h>
typedef void (*launch_t)(float *, cudaStream_t);
typedef bool (*stop_t)(void *);
typedef int (table_t)[4];
extern nowhere::handle (*unused)(void *);
texture<float, 1, cudaReadModeElementType> of_long_ago;
#define CHECK(error) { if (error) { \\
    std::cerr << error; } }
static void fail(nowhere::error error) { CHECK(error) }
"""


@pytest.mark.parametrize("target", ["emulator", pytest.param("sm_90", marks=pytest.mark.nvcc)])
def test_a_published_file_is_built_where_it_lies(tmp_path: Path, target: str) -> None:
    kernel = tmp_path / "toy.cu"
    kernel.write_text(PUBLISHED)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "headers").symlink_to("elsewhere")
    (tmp_path / "headers/callbacks.h").write_text(CALLBACKS, newline="\r\n")
    source = replace(source_of(kernel), options=[f"-I{tmp_path}/headers"])
    names = [f"published::scale<{element}, 128>" for element in ("float", "half", "__nv_bfloat16")]
    # Of N, CUDA's own headers have parameters.
    report = build(source, tmp_path / "toy.bin", target, [Unit({"N": "4"}, [[name] for name in names])])
    assert report["status"] == "ok", report["message"]
    assert [*report["variants"]] == [f"{name} [N=4]" for name in names] and "left out" not in report["message"]


@pytest.mark.parametrize("target", ["emulator", pytest.param("sm_90", marks=pytest.mark.nvcc)])
def test_a_refusal_ends_with_the_headers_that_were_left_out(tmp_path: Path, target: str) -> None:
    source = '#include <helper_math.h>\n#include "../common/config.h"\n#ifdef OTHER\n#include <other.h>\n#endif\n'
    source += "__global__ void toy(float4 *y) { *y = *y * 2; }\n"
    message = build_toy(tmp_path, source, ["toy"], target)["message"]
    assert "operator" in message and "pragma" not in message
    assert message.endswith(
        "\nHeaders that were not found, and left out: <helper_math.h>, ../common/config.h. Name their folders in the "
        "options, as -Iinclude."
    )


@pytest.mark.nvcc
@pytest.mark.parametrize(("hidden", "target"), [
    ("#define DECLARE(name) struct name##_t { int value; }\nDECLARE(pair);\n", "emulator"),
    ("static void take(int) {}\nstruct pair_t { int value; pair_t() { take(1); } };\n", "sm_90"),
])  # fmt: skip
def test_the_whole_file_is_tried_where_the_cut_one_does_not_compile(tmp_path: Path, hidden: str, target: str) -> None:
    kernel = "__global__ void toy(pair_t *y) { y->value = 1; }\n"
    assert build_toy(tmp_path, hidden + kernel, ["toy"], target)["status"] == "ok"


@pytest.mark.parametrize("target", ["emulator", pytest.param("sm_90", marks=pytest.mark.nvcc)])
def test_an_enumerator_and_a_function_may_be_template_arguments(tmp_path: Path, target: str) -> None:
    source = (
        "enum order { up, down };\n__device__ float twice(float x) { return 2 * x; }\n"
        "__device__ float thrice(float x) { return 3 * x; }\n"
        "template <order o, float (*f)(float)> __global__ void toy(float *y) { *y = o == down ? f(*y) : 0; }\n"
    )
    assert build_toy(tmp_path, source, ["toy<down, twice>", "toy<down, thrice>"], target)["status"] == "ok"
    both = [Unit({}, [["toy<up, twice>", "toy<down, twice>"]])]  # Which is which, nvcc's numbers don't tell.
    message = build(source_of(tmp_path / "toy.cu"), tmp_path / "both.bin", target, both)["message"]
    assert message.endswith("" if target == "emulator" else ". Write an enumerator as its number, as in (order)0.")


GUARDED = """\
#ifdef __CUDACC__
#include <cublas_v2.h>
int main() { int *data; cudaMalloc(&data, 4); toy<<<1, 1>>>(data); } // The emulator leaves this out, or stops here.
#endif
__device__ inline int answer()
{
#if __CUDA_ARCH__ >= 800
    return OF_NEW;
#else
    return OF_OLD;
#endif
}
__global__ void toy(int *data) { data[0] = answer(); }
"""


@pytest.mark.parametrize(("gpu", "new", "old", "value", "lines"), [
    ("sm_90", "8", "missing", 8, ""),
    ("sm_90", "tex1D<int>(0, 1)", "7", 7, ": the emulator can't run the GPU's code ({}:8: tex1D is a "),
    ("sm_90", "VALUE", "7", 3, ""),  # as nvcc's options say
])  # fmt: skip
def test_what_runs_is_the_gpus_branch_or_that_is_said(
    tmp_path: Path, gpu: str, new: str, old: str, value: int, lines: str
) -> None:
    kernel = tmp_path / "toy.cu"
    kernel.write_text(GUARDED.replace("OF_NEW", new).replace("OF_OLD", old))
    binary = tmp_path / "toy.bin"
    source = replace(source_of(kernel), options=["-DVALUE=3"], gpu=gpu)
    report = build(source, binary, "emulator", [Unit({}, [["toy"]])])
    assert report["status"] == "ok", report["message"]
    other = report["variants"]["toy"].get(OTHER_CODE, "")
    assert other.startswith(f"{kernel}{lines.format(kernel)}") if lines else not other
    data = np.zeros(1, np.int32)
    Library(binary).launch(0, 1, 1, 0, [data.ctypes.data])
    assert data[0] == value


BY_MACROS = """\
#ifndef kernel_tuner
#define WIDTH 4096 /* elements,
in all */
#endif
#if 0
__global__ void __launch_bounds__(block_size_z) toy(int *data)
#else
__global__ void __launch_bounds__(32 * WIDTH) toy(int *data)
#endif
{
#pragma unroll UNROLL
    for (int i = 0; i < WIDTH; ++i)
        data[i] = 2 * i;
}
"""


@pytest.mark.parametrize("target", ["emulator", pytest.param("sm_90", marks=pytest.mark.nvcc)])
def test_macros_are_as_the_preprocessor_sees_them(tmp_path: Path, target: str) -> None:
    kernel, binary = tmp_path / "toy.cu", tmp_path / "toy.bin"
    kernel.write_text(BY_MACROS)
    sizes = {"WIDTH": "2", "UNROLL": "4"}
    for guard in ({"kernel_tuner": "1"}, {}):  # The study's values stand in place of the file's.
        report = build(source_of(kernel), binary, target, [Unit({**guard, **sizes}, [["toy"]])])
        assert report["status"] == "ok" and not report["message"], report["message"]
    if target == "emulator":
        data = np.zeros(2, np.int32)
        Library(binary).launch(0, 1, 64, 0, [data.ctypes.data])
        assert data.tolist() == [0, 2]
    message = build(source_of(kernel), binary, target, [Unit({"kernel_tuner": "1", **sizes}, [["toys"]])])["message"]
    of_nvcc = r"\nlaunches of toy.cu[:(]\d+.* error: .*toys"
    assert re.search(r"^nothing that is compiled declares toys: " if target == "emulator" else of_nvcc, message), (
        message
    )


def test_compiled_units_are_kept_until_what_they_depend_on_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, header = tmp_path / "toy.cu", tmp_path / "toy.cuh"
    kernel.write_text('#include "toy.cuh"\n__global__ void toy(int *data) { data[threadIdx.x] = SIDE + ADDED; }\n')
    header.write_text("#define ADDED 1\n")
    compiled: list[Path] = []
    compile_unit = cuda_emulator.unit.compile_for_emulator

    def counted(unit: Path, *arguments: Any, **named: Any) -> str:
        compiled.append(unit)
        return compile_unit(unit, *arguments, **named)

    monkeypatch.setattr(cuda_emulator.unit, "compile_for_emulator", counted)
    store = UnitStore(tmp_path / "units")

    def built(*sides: int) -> dict[str, str]:
        compiled.clear()
        units = [Unit({"SIDE": f"{side}"}, [["toy"]]) for side in sides]
        report = build(source_of(kernel), tmp_path / "out/toy.bin", "emulator", units, 2, store)
        assert report["status"] == "ok", report["message"]
        return {name: variant["binary_sha256"] for name, variant in report["variants"].items()}

    first = built(1, 2)
    assert len(compiled) == 2
    more = built(1, 2, 3)
    assert len(compiled) == 1 and first.keys() <= more.keys()
    assert built(1, 2, 3) == more and not compiled
    folder = tmp_path / "unpacked"
    folder.mkdir()
    for file, digest in zip(unit_files(tmp_path / "out/toy.bin", folder), more.values(), strict=True):
        assert hashlib.sha256(file.read_bytes()).hexdigest() == digest
    header.write_text("#define ADDED 2\n")
    assert not set(built(1, 2, 3).values()) & set(more.values())
    assert len(compiled) == 3


def test_the_emulators_libraries_are_the_same_in_every_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Pins: a project that was moved measures every point again, because its binaries name the folder of the compiler.
    reports = []
    for name in ("here", "elsewhere"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        (folder / "toy.cu").write_text("__global__ void toy(int *data) { data[threadIdx.x] = SIDE; }\n")
        units = [Unit({"SIDE": "1"}, [["toy"]])]
        reports.append(build(source_of(folder / "toy.cu"), Path("toy.bin"), "emulator", units))
    assert [report["status"] for report in reports] == 2 * ["ok"], reports[0]["message"]
    assert hashes(reports[0]) == hashes(reports[1])


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without compilers; the folder where a CUDA toolkit would be installed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(toolkit, "DEFAULT_TOOLKIT", str(tmp_path / "toolkit"))
    return tmp_path / "toolkit"


def test_a_missing_compiler_says_what_to_install(bare_machine: Path, tmp_path: Path) -> None:
    for target, parts in {
        "sm_90": ["nvcc was not found", "CUDA_HOME", "install the CUDA toolkit", "--config platform=emulator"],
        "emulator": ["g++ was not found", "apt install g++"],
    }.items():
        with pytest.raises(BuildError) as error:
            build_toy(tmp_path, target=target)
        assert all(part in str(error.value) for part in parts)


# Every kernel that is shipped

REDUCTIONS, EXCHANGES = "kernels/reduction_problem.py", "kernels/exchanges/problem.py"


def shipped_kernels() -> list[Any]:
    every = (kernel for study in shipped_studies() for kernel in study.kernels.values())
    # Once, even if several studies use it.
    kernels = {kernel.path: kernel for kernel in every if kernel.problem.name in (REDUCTIONS, EXCHANGES)}
    # A folder's kernels in one unit, since half of nvcc's time goes by before it reads a kernel. Folders alternate
    # between the architectures.
    units: dict[tuple[str, str], list[KernelSource]] = {}
    for (_, of_folder), arch in zip(
        itertools.groupby(kernels.items(), lambda each: each[0].parent.name), itertools.cycle(ARCHITECTURES)
    ):
        for path, kernel in of_folder:
            supported = kernel.entry.smallest_architecture if kernel.unsupported_on(arch) else None
            units.setdefault((path.parent.name, supported or arch), []).append(kernel)
    return [pytest.param(together, arch, id=f"{folder}-{arch}") for (folder, arch), together in units.items()]


def variants(kernel: KernelSource) -> list[str]:
    """A kernel's variants of the smallest block and unroll factor for int32, and of the largest for float64: the
    narrowest and the widest type. An exchange has every sixth variant of its study.
    """
    if kernel.problem.name == EXCHANGES:
        (unit,) = kernel_units(load_config({}, ROOT), shipped_study("exchanges"), kernel.name, "a-gpu")
        return sorted(unit.functions)[::6]
    _, unrolls = typed_unrolls(kernel)
    ends = (("int32", 64, min(unrolls)), ("int32", 1024, max(unrolls)), ("float64", 1024, max(unrolls)))
    every = [point(2**20, block, unroll=unroll, dtype=dtype) for dtype, block, unroll in ends]
    return instantiations(kernel, (one for one in every if admits(kernel, one)))


@pytest.mark.nvcc
@pytest.mark.parametrize(("kernels", "arch"), shipped_kernels())
def test_shipped_kernels_compile_without_warning_or_spill(
    kernels: list[KernelSource], arch: str, tmp_path: Path
) -> None:
    names = {name: kernel for kernel in kernels for name in variants(kernel)}
    unit, cubin = tmp_path / "unit.cu", tmp_path / "unit.cubin"
    others = "".join(f'#include "{kernel.path}"\n' for kernel in kernels[1:])
    unit.write_text(others + cuda_unit(kernels[0].path, Unit({}, [[name] for name in names])))
    warned = ["-Werror", "all-warnings"]
    output = nvcc.compile_cubin(unit, cubin, arch, [ROOT / "kernels/include"], options=warned)
    assert nvcc.warnings(output) == ""
    reports = nvcc.function_reports(output, cubin, names)
    assert reports.keys() == names.keys()
    for name, report in reports.items():
        assert report["spill_store_bytes"] == report["spill_load_bytes"] == 0, name
        # The compiler sees to it that the largest block fits.
        bounded = "__launch_bounds__" in names[name].path.read_text()
        # With more, a block of 1024 threads could not be launched.
        assert bounded or report["registers"] <= 64, name


@pytest.mark.nvcc
def test_every_variable_that_a_kernel_can_write_is_found_in_its_cubin(tmp_path: Path) -> None:
    # Pins: a kernel that keeps its result where no sample finds it restored.
    unit, cubin = tmp_path / "unit.cu", tmp_path / "unit.cubin"
    unit.write_text("""\
__device__ float kept[1024];
static __device__ int hidden[3];
__device__ int started = 3;
__constant__ float factor;
__global__ void remember(float *y)
{
    static int runs;
    __shared__ int shared[4];
    shared[0] = atomicAdd(&runs, started++) + hidden[runs]++;
    kept[runs] = y[runs] = shared[0] * factor;
}
""")
    nvcc.compile_cubin(unit, cubin, "sm_90", [])
    assert global_variables(cubin) == {"kept": True, "hidden": True, "_ZZ8rememberPfE4runs": True, "started": False}


# What a machine does to compilers and to the units that are kept


KILLED = {"itself": "kill -9 $$", "its own process": "echo 'Killed signal terminated program cc1plus' >&2; exit 1"}


@pytest.mark.parametrize("death", KILLED.values(), ids=KILLED)
def test_a_killed_compiler_is_run_again_and_is_no_refusal(tmp_path: Path, death: str) -> None:
    # Pins: `g++ refused the kernel:`, without a reason and at each repetition, where memory ran out once.
    compiler = tmp_path / "compiler"
    compiler.write_text(
        f"#!/bin/sh\nmkdir {tmp_path}/$1 2>/dev/null && {{ {death}; }}\n[ $1 = once ] || {{ {death}; }}\n"
    )
    compiler.chmod(0o755)
    assert run_compiler([str(compiler), "once"]).returncode == 0
    with pytest.raises(UserError, match=r"was killed twice .* the same command compiles it again") as error:
        run_compiler([str(compiler), "twice"])
    assert not isinstance(error.value, BuildError)


def _shortened(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "unit cut": _shortened,
    "unit empty": lambda unit: unit.write_bytes(b""),
    "another unit": lambda unit: unit.write_bytes(b"other"),
    "unit gone": Path.unlink,
    "report cut": lambda unit: _shortened(unit.with_suffix(".json")),
    "report edited": lambda unit: unit.with_suffix(".json").write_text(json.dumps(["", {"f": {}}, ""])),
    "report of before": lambda unit: unit.with_suffix(".json").write_text(json.dumps(["", {"f": {"entry": 0}}])),
    "report of others": lambda unit: unit.with_suffix(".json").write_text('["", 5, ""]'),
    "report nested": lambda unit: unit.with_suffix(".json").write_text("[" * 100_000),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_unit_is_compiled_again(tmp_path: Path, damage: Callable[[Path], Any]) -> None:
    # Pins: a process that can't start (signal 7), or another kernel's code, at each repetition.
    store, file, compiled = UnitStore(tmp_path / "units"), tmp_path / "unit", []

    def compile_unit() -> tuple[str, dict[str, Any]]:
        compiled.append(file.write_bytes(b"unit's code"))
        return "a warning", {"f": {"entry": 0}}

    def asked() -> None:
        file.unlink(missing_ok=True)
        assert store.compiled({"source": 1}, file, compile_unit) == ("a warning", {"f": {"entry": 0}})
        assert file.read_bytes() == b"unit's code"

    asked()
    asked()
    assert len(compiled) == 1
    (report,) = (tmp_path / "units").glob("*.json")
    damage(report.with_suffix(""))
    assert store.kept({"source": 1}, file) is None and not [*store.units(lambda _: True)]
    asked()
    asked()
    assert len(compiled) == 2


def test_a_store_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "units").write_text("")
    with pytest.raises(UserError, match="units can't be written: File exists"):
        UnitStore(tmp_path / "units")
