"""A kernel's sweep: the points that the resolved axes span, and the variants that must be compiled for them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kernelsweep.axes import AXES, Axes, Expression
from kernelsweep.kernel_source import KernelSource


@dataclass(frozen=True)
class Point:
    """One row of the results: a variant at one array size and cache state."""

    array_size: int
    block_size: int
    unroll: int
    dtype: str
    operation: str
    cache: str

    @property
    def values(self) -> dict[str, Any]:
        """The axis values by name, as expressions and result rows use them."""
        return asdict(self)


def points(axes: Axes) -> list[Point]:
    """Every combination of the axes' values, in the axes' order, the last one fastest."""
    return [
        Point(**dict(zip(AXES, values, strict=True))) for values in itertools.product(*(axes[axis] for axis in AXES))
    ]


def skip_reason(point: Point, kernel: KernelSource, restrictions: Sequence[str], keeps_lockstep: bool) -> str | None:
    """Why a point of the sweep isn't run, or None where it is.

    restrictions    expressions that every point must satisfy
    keeps_lockstep  whether the platform may run a kernel that counts on a warp's lanes running in lockstep
    """
    unsupported = kernel.unsupported(point.values)
    if unsupported:
        return unsupported
    if kernel.undefined_behaviour and not keeps_lockstep:
        return f"undefined behaviour: {kernel.undefined_behaviour}"
    for restriction in restrictions:
        if not Expression(restriction)(point.values):
            return f"restriction: {restriction}"
    return None


def instantiation(kernel: KernelSource, point: Point) -> str:
    """The C++ name of the variant that a point runs, as a demangler prints it: ``unrolled<int, Sum, 2u>``.

    Points that differ in nothing the template depends on share a variant's machine code.
    """
    arguments = {
        "Element": CXX_TYPES[point.dtype],
        "Operation": CXX_OPERATIONS[point.operation],
        "block_size": f"{point.block_size}u",
        "unroll": f"{point.unroll}u",
    }
    return f"{kernel.name}<{', '.join(arguments[name] for name in kernel.template_parameters)}>"


def instantiations(kernel: KernelSource, run: Iterable[Point]) -> list[str]:
    """The distinct variants of the points that are run, sorted."""
    return sorted({instantiation(kernel, point) for point in run})


# As compilers spell them when they print a name; long has 64 bits on every system that CUDA supports but Windows.
CXX_TYPES: Mapping[str, str] = {"int32": "int", "int64": "long", "float32": "float", "float64": "double"}
CXX_OPERATIONS: Mapping[str, str] = {
    "sum": "Sum",
    "product": "Product",
    "minimum": "Minimum",
    "maximum": "Maximum",
}
