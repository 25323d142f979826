"""Libraries whose functions kernels are compared with, on the same buffers and timed by the same loop.

The configuration calls them rivals. Each has a module (module_of) with a function load() that returns a
LibraryFunction. This module holds their properties, and treats a library as a kernel. library_platform.py calls them,
on a GPU only.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from kernelsweep.build.build_report import new_report
from kernelsweep.code_hash import code_hash
from kernelsweep.problems.problem_file import Problem
from kernelsweep.sweep.axes import Axes
from kernelsweep.sweep.expressions import expression
from kernelsweep.sweep.kernel_sweep import PlannedPoint
from kernelsweep.sweep.kernels.launches import ListedLaunch
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import instantiation, valid_points
from kernelsweep.sweep.resolve import swept_axes
from kernelsweep.sweep.schema import check
from kernelsweep.sweep.study import KERNEL_SCHEMA, Study, read_kernel

# The longest chain of additions of an element: each of these libraries sums at least 2^16 chains, if the array has as
# many elements, and adds the chains up in trees.
_SUMMATION_DEPTH = "ceil(array_size / 2**16) + 64"


class LibraryFunction(Protocol):
    """A library's function.

    It is called with the words of a variant, the arguments of a launch, and PyCUDA's stream: arrays by their addresses,
    numbers as Python's. Queues its work on the stream, and does not synchronise. The first call for some words, sizes
    or a stream may compile and allocate memory.

    A reduction is called with (operation, dtype, data, value, count, stream): `count` elements at the address `data`,
    to one of the same type at `value`.
    """

    def __call__(self, *arguments: Any) -> None:
        """Queue the call."""


@dataclass(frozen=True)
class Library:
    """A library's function.

    label       its name for readers
    packages    the Python packages that have it, of which one is enough; none for CUB, which nvcc compiles here
    newest_cub  whether nvcc compiles it with the CUB of the package nvidia-cuda-cccl, not with the toolkit's
    environment of the sums in cub_sum.cu: the execution environment there
    install     how to install it
    operations  of a reduction: the operations that it supports
    largest     of a reduction: the largest array size that its index type can hold
    roundings   an expression for the longest chain of additions of an element, as a kernel's
    words       the words that a study may give it, as cublas_matmul<tf32>; a reduction's are an operation and a type
    parameters  its arguments for readers, in their order
    """

    label: str
    packages: tuple[str, ...]
    install: str
    operations: tuple[str, ...] = ()
    largest: int = 2**32
    roundings: str = _SUMMATION_DEPTH
    newest_cub: bool = False
    environment: str = ""
    words: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()


# The kernel's blocks, of which there are at most this many, add their sums one after another.
_ATOMIC_DEPTH = f"{_SUMMATION_DEPTH} + 2**14"
_ALL = ("sum", "product", "minimum", "maximum")
_TOOLKIT = "the CUDA toolkit, of which it is part"
_PYCUDA = ("pycuda",), "uv run --extra gpu ..."
# PyCUDA's kernels add a grid's width to 32-bit indices before they compare them with the count.
_UNSIGNED_LESS_A_GRID = 2**31

_CCCL = (), "uv run --extra gpu --extra cccl ..."


def _cub_sum(label: str, environment: str, roundings: str = _SUMMATION_DEPTH) -> Library:
    return Library(label, *_CCCL, ("sum",), roundings=roundings, newest_cub=True, environment=environment)


# Reductions, in the order of tables.
REDUCTIONS: Mapping[str, Library] = {
    "cub": Library("CUB's DeviceReduce", (), _TOOLKIT, _ALL),
    "cub_newest": Library("the newest CUB's DeviceReduce", *_CCCL, _ALL, newest_cub=True),
    "cub_pooled": _cub_sum("the newest CUB's sum, with memory from a pool", "run_to_run"),
    "cub_not_guaranteed": _cub_sum("the newest CUB's sum, in any order", "not_guaranteed", _ATOMIC_DEPTH),
    "cub_tuned": _cub_sum("the newest CUB's sum, with a policy of its user's", "tuned"),
    "pycuda_reduction": Library("PyCUDA's ReductionKernel", *_PYCUDA, _ALL, _UNSIGNED_LESS_A_GRID),
    "pycuda_gpuarray": Library("PyCUDA's gpuarray.sum", *_PYCUDA, ("sum", "minimum", "maximum"), _UNSIGNED_LESS_A_GRID),
    # No minimum: in CuPy 14.2, ndarray.min takes the array for the result as the result's type.
    "cupy": Library("CuPy's sum", ("cupy",), "pip install cupy-cuda13x", ("sum", "product", "maximum")),
    "torch": Library("PyTorch's sum", ("torch",), "pip install torch", _ALL),
}

# Functions for other problems.
_OTHERS: Mapping[str, Library] = {
    "cublas_matmul": Library(
        "cuBLAS's SGEMM",
        ("torch", "cupy"),
        "pip install torch, or pip install cupy-cuda13x",
        words=("float32", "tf32"),
        parameters=("C", "A", "B", "m", "n", "k"),
    ),
    "cub_histogram": Library(
        "CUB's DeviceHistogram::HistogramEven", (), _TOOLKIT, parameters=("counts", "data", "array_size")
    ),
}

LIBRARIES: Mapping[str, Library] = {**REDUCTIONS, **_OTHERS}

# The libraries that nvcc compiles here.
COMPILED = tuple(name for name, library in LIBRARIES.items() if not library.packages)

# What stands for the build report of the others.
NOT_COMPILED: Mapping[str, Any] = {"status": "ok", "message": "", "target": None}

# The platform that calls them, as in platforms.kinds.Kind.
IMPLEMENTATION = "kernelsweep.baselines.library_platform:LibraryPlatform"


def as_kernel(name: str, problem: Problem, call: Mapping[str, Any], shown: str = "rivals") -> KernelSource:
    """A library as a kernel of a problem, whose one launch stands for the call.

    call   a study's entry for the library, with its arguments
    shown  where the study has that entry, for messages
    """
    launch = {"kernel": call["call"], "grid": 1, "block": 1, "arguments": call["arguments"]}
    entry = {"name": name, "launches": [launch], "roundings": LIBRARIES[name].roundings if name in REDUCTIONS else 0}
    return read_kernel(check(entry, KERNEL_SCHEMA, shown, {}), Path(f"{name}.py"), problem, {}, shown)


def why_missing(name: str) -> str | None:
    """Why a library can't be called from this Python environment, or None if it can."""
    packages = LIBRARIES[name].packages
    if LIBRARIES[name].newest_cub and newest_cub() is None:
        return f"nvidia-cuda-cccl is not installed ({LIBRARIES[name].install})"
    if not packages or any(importlib.util.find_spec(package) is not None for package in packages):
        return None
    return f"{' or '.join(packages)} is not installed ({LIBRARIES[name].install})"


def module_of(name: str) -> str:
    """The module of this folder that loads a library; all of CUB's reductions have one."""
    return "cub" if name in COMPILED and name in REDUCTIONS else name


def cub_source(name: str) -> str:
    """The .cu file of this folder that one of COMPILED is compiled from."""
    return "cub_sum.cu" if LIBRARIES[name].environment else f"{module_of(name)}.cu"


def cub_options(name: str) -> list[str]:
    """The options that nvcc is given for one of COMPILED."""
    environment = LIBRARIES[name].environment
    return [f"-DENVIRONMENT={environment}"] if environment else []


def newest_cub() -> Path | None:
    """The folder of the headers in the package nvidia-cuda-cccl; None if it is not installed."""
    try:
        places = importlib.metadata.files("nvidia-cuda-cccl") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    headers = [Path(str(file.locate())).parents[1] for file in places if file.parts[-2:] == ("cub", "version.cuh")]
    return headers[0] if headers else None


def header_release(name: str) -> str:
    """The release of nvidia-cuda-cccl that a library is compiled with; "" with the toolkit's headers, or with none."""
    return importlib.metadata.version("nvidia-cuda-cccl") if header_folders(name) else ""


def header_folders(name: str) -> list[Path]:
    """The folders of headers that a library is compiled with before the toolkit's."""
    newest = newest_cub() if LIBRARIES[name].newest_cub else None
    return [newest] if newest else []


def library_axes(config: Mapping[str, Any], study: Study, platform: str, rival: str | None = None) -> list[Axes]:
    """The axes of what is measured beside a study's kernels on a platform, as kernel_axes.

    rival  a library; None for the driver

    Libraries choose their own blocks. So their points lack the axes that say how kernels are built or launched, unless
    the data or the library's call depends on them.
    """
    call = study.settings["rival_calls"].get(rival, {})
    needed = {name for name, axis in study.problem.axes.items() if not axis.of_kernel}
    if rival is not None:
        needed |= {*study.problem.instance_axes, *axes_of_call(as_kernel(rival, study.problem, call))}
    sweeps = swept_axes(config, study, call, False, platform)
    return [{name: values for name, values in axes.items() if name in needed} for axes in sweeps]


def call_of(kernel: KernelSource) -> ListedLaunch:
    """A study's call of a library's function, as the launch that stands for it."""
    return kernel.launches.listed[0]


def words_of(kernel: KernelSource) -> tuple[str, ...]:
    """The expressions for the words of a study's call."""
    function = call_of(kernel).function
    return function[1] if function else ()


def axes_of_call(kernel: KernelSource) -> set[str]:
    """The axes that a library's call names in its words and its arguments."""
    texts = (*words_of(kernel), *call_of(kernel).arguments)
    return {name for text in texts for name in expression(str(text)).names} & {*kernel.problem.axes}


def compared_points(
    sweeps: Sequence[Axes], restrictions: Sequence[str], tied: Sequence[Sequence[str]]
) -> Sequence[Point]:
    """The points of library_axes() that meet the restrictions, without duplicates."""
    groups = [[axis for axis in group if all(axis in axes for axes in sweeps)] for group in tied]
    return valid_points(sweeps, restrictions, [group for group in groups if group])


def planned_calls(
    kernel: KernelSource, sweeps: Sequence[Axes], restrictions: Sequence[str], tied: Sequence[Sequence[str]] = ()
) -> list[PlannedPoint]:
    """A library's points."""
    library = LIBRARIES[kernel.name]

    def reason(point: Point) -> str | None:
        if missing := why_missing(kernel.name):
            return missing
        if library.operations and (operation := _words(kernel, point)[0]) not in library.operations:
            return f"operation {operation}: {library.label} has {', '.join(library.operations)}"
        if point.get("array_size", 1) > library.largest:
            return f"array size {point['array_size']}: {library.label} counts to {library.largest}"
        return None

    planned = compared_points(sweeps, restrictions, tied)
    return [PlannedPoint(point, instantiation(kernel, point), reason(point)) for point in planned]


def library_report(
    kernel: KernelSource, library: Path | None, built: Mapping[str, Any], planned: Sequence[PlannedPoint]
) -> dict[str, Any]:
    """A library's counterpart of a kernel's build report, with the variants of the points that run.

    library  the library that nvcc compiled, for one of COMPILED
    built    its build report
    """
    report = new_report(built["target"], "")
    if built["status"] != "ok":
        return {**report, "status": built["status"], "message": built["message"]}
    run = {each.variant: each.point for each in planned if not each.skipped}
    if run:
        modules = ("library_platform", module_of(kernel.name), *(["cub"] if kernel.name in COMPILED else []))
        code = code_hash(Path(__file__).with_name(f"{module}.py") for module in modules)
        digest = hashlib.sha256(f"{version(kernel.name, library)} {code}".encode()).hexdigest()
        report["variants"] = {
            variant: {"rival": kernel.name, "words": _words(kernel, point), "binary_sha256": digest}
            for variant, point in run.items()
        }
    return report


def _words(kernel: KernelSource, point: Point) -> list[str]:
    """The words of a variant, which come first when its library is called."""
    return [str(expression(text)(point)) for text in words_of(kernel)]


def version(name: str, library: Path | None) -> str:
    """A library's packages that are installed, with their versions, or the hash of the compiled library."""
    if library is not None:
        return hashlib.sha256(library.read_bytes()).hexdigest()
    distributions = importlib.metadata.packages_distributions()
    # CuPy's distributions carry their CUDA version in the name: cupy-cuda13x.
    found = {each for package in LIBRARIES[name].packages for each in distributions.get(package, [])}
    return " ".join(f"{distribution} {importlib.metadata.version(distribution)}" for distribution in sorted(found))


def load(name: str, library: Path) -> LibraryFunction:
    """A library's function in the current CUDA context; `library` is the compiled library, for one of COMPILED.

    Raises BuildError if that library, and ImportError if a package can't be loaded.
    """
    module = importlib.import_module(f"kernelsweep.baselines.{module_of(name)}")
    function: LibraryFunction = module.load(library) if name in COMPILED else module.load()
    return function
