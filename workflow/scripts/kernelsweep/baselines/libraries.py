"""Rivals: the reductions of libraries that a user would otherwise call, on the same buffers, timed by the same loop.

A module each, with a function load(library) that returns a Reduction; this one says what each can do, and puts it
in a kernel's place. On a GPU only: library_platform.py calls them.
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

from kernelsweep.code_hash import fingerprint
from kernelsweep.problems.element_types import CXX_TYPES
from kernelsweep.problems.reduction import REDUCTION
from kernelsweep.sweep.axes import Axes
from kernelsweep.sweep.kernel_source import KernelSource
from kernelsweep.sweep.points import Point, instantiation, points, skip_reason
from kernelsweep.sweep.resolve import swept_axes
from kernelsweep.sweep.study import Study


class Reduction(Protocol):
    """A library's reduction as a function."""

    def __call__(self, operation: str, dtype: str, data: int, value: int, count: int, stream: Any) -> None:
        """Queue the reduction of `count` elements at the address `data` to one of the same type at `value`.

        stream  PyCUDA's

        Waits for nothing. The first call for a type, a count or a stream may take its time and allocate memory.
        """


@dataclass(frozen=True)
class Rival:
    """What a library's reduction can do.

    label       for readers
    operations  those that it has
    package     the module that Python must find; None for what is compiled here, by nvcc
    install     how to come by that
    largest     the largest array size that its own arithmetic counts to
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

# In the order in which tables have them.
RIVALS: Mapping[str, Rival] = {
    "cub": Rival("CUB's DeviceReduce", _ALL, package=None, install="the CUDA toolkit, of which it is part"),
    "pycuda_reduction": Rival("PyCUDA's ReductionKernel", _ALL, largest=_UNSIGNED_LESS_A_GRID, **_PYCUDA),
    "pycuda_gpuarray": Rival(
        "PyCUDA's gpuarray.sum", ("sum", "minimum", "maximum"), largest=_UNSIGNED_LESS_A_GRID, **_PYCUDA
    ),
    # Without minima: in CuPy 14.2, ndarray.min takes the array that it is given for the result as the type of it.
    "cupy": Rival("CuPy's sum", ("sum", "product", "maximum"), "cupy", "pip install cupy-cuda13x"),
    "torch": Rival("PyTorch's sum", _ALL, "torch", "pip install torch"),
}

# The plan by which they are called.
RIVAL_PLAN = "library_call"

# An element's chain of additions: every one of these libraries sums in 2^16 chains or more where there are as many
# elements, and those in trees.
_SUMMATION_DEPTH = "ceil(array_size / 2**16) + 64"


def as_kernel(name: str) -> KernelSource:
    """A rival in the place of a kernel: what it supports, and the plan by which it is called."""
    return KernelSource(
        name=name,
        path=Path(f"{name}.py"),
        problem=REDUCTION,
        has_header=False,
        template_parameters=("Element", "Operation"),
        plan=RIVAL_PLAN,
        input_is_const=True,
        block_size="any",
        smallest_block_size=1,
        largest_block_size=1024,
        unroll=(1,),
        dtypes=tuple(CXX_TYPES),
        operations=RIVALS[name].operations,
        shared_elements="0",
        summation_depth=_SUMMATION_DEPTH,
        undefined_behaviour=None,
        smallest_architecture=None,
        gpu_only=None,
    )


def why_missing(name: str) -> str | None:
    """Why a rival can't be called from this Python, or None where it can."""
    package = RIVALS[name].package
    if package is None or importlib.util.find_spec(package) is not None:
        return None
    return f"{package} is not installed ({RIVALS[name].install})"


def library_axes(config: Mapping[str, Any], study: Study, platform: str) -> list[Axes]:
    """The axes of a study's libraries on a platform, as kernel_axes; each library chooses its own blocks."""
    return [{**axes, "block_size": [1], "unroll": [1]} for axes in swept_axes(config, study, {}, RIVAL_PLAN, platform)]


def planned_points(
    name: str, sweeps: Sequence[Axes], restrictions: Sequence[str]
) -> list[tuple[Point, str, str | None]]:
    """A rival's points, each with its variant's name and why it is skipped, or None; as measure.measure takes them."""
    rival, kernel = RIVALS[name], as_kernel(name)

    def reason(point: Point) -> str | None:
        if point["array_size"] > rival.largest:
            return f"array size {point['array_size']}: {rival.label} counts to {rival.largest}"
        return why_missing(name) or skip_reason(point, kernel, restrictions, None)

    return [(point, instantiation(kernel, point), reason(point)) for point in points(*sweeps)]


def rival_report(
    name: str, library: Path, built: Mapping[str, Any], planned: Sequence[tuple[Point, str, str | None]]
) -> dict[str, Any]:
    """In the place of a kernel's build report: the variants of the points that are run.

    built  the report on what was compiled of CUB
    """
    report: dict[str, Any] = {"status": "ok", "message": "", "target": built["target"], "variants": {}}
    if RIVALS[name].package is None and built["status"] != "ok":
        return {**report, "status": built["status"], "message": built["message"]}
    run = {variant: point for point, variant, reason in planned if not reason}
    if run:
        code = fingerprint(Path(__file__).parent.parent, ("baselines.library_platform", f"baselines.{name}"))
        digest = hashlib.sha256(f"{version(name, library)} {code}".encode()).hexdigest()
        report["variants"] = {
            variant: {"rival": name, "operation": point["operation"], "dtype": point["dtype"], "binary_sha256": digest}
            for variant, point in run.items()
        }
    return report


def version(name: str, library: Path) -> str:
    """What a rival is: its package's name and version, or the hash of what was compiled of it."""
    package = RIVALS[name].package
    if package is None:
        return hashlib.sha256(library.read_bytes()).hexdigest()
    # CuPy's distributions are named after the CUDA that they are for: cupy-cuda13x.
    found = importlib.metadata.packages_distributions().get(package, [package])
    return " ".join(f"{distribution} {importlib.metadata.version(distribution)}" for distribution in sorted(found))


def load(name: str, library: Path) -> Reduction:
    """A rival, ready to be called in the current CUDA context; `library` is what was compiled of CUB.

    Raises BuildError where that can't be loaded, and ImportError where a package can't.
    """
    reduction: Reduction = importlib.import_module(f"kernelsweep.baselines.{name}").load(library)
    return reduction
