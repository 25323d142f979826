"""Libraries whose reductions kernels are compared with, on the same buffers and timed by the same loop.

The configuration calls them rivals. Each has a module with a function load() that returns a ReduceFunction. This module
holds their properties, and treats a library as a kernel. library_platform.py calls them, on a GPU only.
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

from kernelsweep.code_hash import code_hash
from kernelsweep.problems.element_types import CXX_TYPES
from kernelsweep.problems.reduction import REDUCTION
from kernelsweep.sweep.axes import Axes
from kernelsweep.sweep.kernel_sweep import PlannedPoint
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.points import Point, instantiation, points, skip_reason
from kernelsweep.sweep.resolve import swept_axes
from kernelsweep.sweep.study import Study


class ReduceFunction(Protocol):
    """A library's reduction as a function."""

    def __call__(self, operation: str, dtype: str, data: int, value: int, count: int, stream: Any) -> None:
        """Queue the reduction of `count` elements at the address `data` to one of the same type at `value`.

        stream  PyCUDA's

        Does not synchronise. The first call for a type, a count or a stream may compile and allocate memory.
        """


@dataclass(frozen=True)
class Library:
    """A library's reduction.

    label       its name for readers
    operations  the operations that it supports
    package     the Python package that it needs; None for CUB, which nvcc compiles here
    install     how to install it
    largest     the largest array size that its index type can hold
    """

    label: str
    operations: tuple[str, ...]
    package: str | None
    install: str
    largest: int = 2**32


_ALL = ("sum", "product", "minimum", "maximum")
_PYCUDA = {"package": "pycuda", "install": "uv run --extra gpu ..."}
# PyCUDA's kernels add a grid's width to 32-bit indices before they compare them with the count.
_UNSIGNED_LESS_A_GRID = 2**31

# In the order of tables.
LIBRARIES: Mapping[str, Library] = {
    "cub": Library("CUB's DeviceReduce", _ALL, package=None, install="the CUDA toolkit, of which it is part"),
    "pycuda_reduction": Library("PyCUDA's ReductionKernel", _ALL, largest=_UNSIGNED_LESS_A_GRID, **_PYCUDA),
    "pycuda_gpuarray": Library(
        "PyCUDA's gpuarray.sum", ("sum", "minimum", "maximum"), largest=_UNSIGNED_LESS_A_GRID, **_PYCUDA
    ),
    # No minimum: in CuPy 14.2, ndarray.min takes the array for the result as the result's type.
    "cupy": Library("CuPy's sum", ("sum", "product", "maximum"), "cupy", "pip install cupy-cuda13x"),
    "torch": Library("PyTorch's sum", _ALL, "torch", "pip install torch"),
}

# The platform that calls them, as in platforms.kinds.Kind.
IMPLEMENTATION = "kernelsweep.baselines.library_platform:LibraryPlatform"

# The launch plan that stands for a library's call.
LIBRARY_PLAN = "library_call"

# The longest chain of additions of an element: each of these libraries sums at least 2^16 chains, if the array has as
# many elements, and adds the chains up in trees.
_SUMMATION_DEPTH = "ceil(array_size / 2**16) + 64"


def as_kernel(name: str) -> KernelSource:
    """A library as a kernel: the points that it supports, and its launch plan."""
    return KernelSource(
        name=name,
        path=Path(f"{name}.py"),
        problem=REDUCTION,
        has_header=False,
        template_parameters=("Element", "Operation"),
        plan=LIBRARY_PLAN,
        input_is_const=True,
        block_size="any",
        smallest_block_size=1,
        largest_block_size=1024,
        unroll=(1,),
        dtypes=tuple(CXX_TYPES),
        operations=LIBRARIES[name].operations,
        shared_elements="0",
        summation_depth=_SUMMATION_DEPTH,
        undefined_behaviour=None,
        smallest_architecture=None,
        gpu_only=None,
    )


def why_missing(name: str) -> str | None:
    """Why a library can't be called from this Python environment, or None if it can."""
    package = LIBRARIES[name].package
    if package is None or importlib.util.find_spec(package) is not None:
        return None
    return f"{package} is not installed ({LIBRARIES[name].install})"


def library_axes(config: Mapping[str, Any], study: Study, platform: str) -> list[Axes]:
    """The axes of a study's libraries on a platform, as kernel_axes; each library chooses its own blocks."""
    return [
        {**axes, "block_size": [1], "unroll": [1]} for axes in swept_axes(config, study, {}, LIBRARY_PLAN, platform)
    ]


def planned_calls(name: str, sweeps: Sequence[Axes], restrictions: Sequence[str]) -> list[PlannedPoint]:
    """A library's points."""
    library, kernel = LIBRARIES[name], as_kernel(name)

    def reason(point: Point) -> str | None:
        if point["array_size"] > library.largest:
            return f"array size {point['array_size']}: {library.label} counts to {library.largest}"
        return why_missing(name) or skip_reason(point, kernel, restrictions, None)

    return [PlannedPoint(point, instantiation(kernel, point), reason(point)) for point in points(*sweeps)]


def library_report(
    name: str, library: Path, built: Mapping[str, Any], planned: Sequence[PlannedPoint]
) -> dict[str, Any]:
    """A library's counterpart of a kernel's build report, with the variants of the points that run.

    library  the compiled library of CUB's reductions
    built    its build report
    """
    report: dict[str, Any] = {"status": "ok", "message": "", "target": built["target"], "variants": {}}
    if LIBRARIES[name].package is None and built["status"] != "ok":
        return {**report, "status": built["status"], "message": built["message"]}
    run = {each.variant: each.point for each in planned if not each.skipped}
    if run:
        code = code_hash(Path(__file__).with_name(f"{module}.py") for module in ("library_platform", name))
        digest = hashlib.sha256(f"{version(name, library)} {code}".encode()).hexdigest()
        report["variants"] = {
            variant: {"rival": name, "operation": point["operation"], "dtype": point["dtype"], "binary_sha256": digest}
            for variant, point in run.items()
        }
    return report


def version(name: str, library: Path) -> str:
    """A library's package with its version, or the hash of the compiled library."""
    package = LIBRARIES[name].package
    if package is None:
        return hashlib.sha256(library.read_bytes()).hexdigest()
    # CuPy's distributions carry their CUDA version in the name: cupy-cuda13x.
    found = importlib.metadata.packages_distributions().get(package, [package])
    return " ".join(f"{distribution} {importlib.metadata.version(distribution)}" for distribution in sorted(found))


def load(name: str, library: Path) -> ReduceFunction:
    """A library's reduction in the current CUDA context; `library` is the compiled library of CUB's reductions.

    Raises BuildError if that library, and ImportError if a package can't be loaded.
    """
    module = importlib.import_module(f"kernelsweep.baselines.{name}")
    reduce: ReduceFunction = module.load(library) if LIBRARIES[name].package is None else module.load()
    return reduce
