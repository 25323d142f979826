"""A kernel's sweep: the points that the resolved axes span, and the variants that must be compiled for them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kernelsweep.axes import AXES, Axes, Expression, grid_of_threads
from kernelsweep.element_types import CXX_TYPES
from kernelsweep.kernel_source import TEMPLATE_PARAMETERS, KernelSource
from kernelsweep.problems.lanes import missing_lane
from kernelsweep.problems.operations import OPERATIONS


@dataclass(frozen=True)
class Point:
    """One row of the results: a variant at one array size and cache state.

    grid_size  the number of blocks, where the kernel's plan leaves it to the sweep; else None
    width      how many neighbouring lanes exchange among themselves, for an exchange; else None
    arguments  an exchange's own arguments, such as "delta=2"; else empty
    """

    array_size: int
    block_size: int
    unroll: int
    dtype: str
    operation: str
    cache: str
    grid_size: int | None = None
    width: int | None = None
    arguments: str = ""

    @property
    def values(self) -> dict[str, Any]:
        """The axis values by name, as expressions and result rows use them."""
        return {axis: getattr(self, axis) for axis in AXES}


def points(*sweeps: Axes) -> list[Point]:
    """Every combination of each sweep's axis values, in the axes' order, the last one fastest; none of them twice."""
    every = (
        dict(zip(AXES, values, strict=True))
        for axes in sweeps
        for values in itertools.product(*(axes[axis] for axis in AXES))
    )
    return list(
        dict.fromkeys(
            Point(**{**values, "grid_size": grid_of_threads(values["grid_size"], values["block_size"])})
            for values in every
        )
    )


def parse_arguments(arguments: str) -> dict[str, int]:
    """An exchange's arguments by name: {"lane_mask": 1, "first": 0} for "lane_mask=1 first=0".

    Raises ValueError for a text of another form.
    """
    pairs = [word.split("=") for word in arguments.split()]
    return {name: int(value) for name, value in pairs}


def skip_reason(point: Point, kernel: KernelSource, restrictions: Sequence[str], target: str | None) -> str | None:
    """Why a point of the sweep isn't run, or None where it is.

    restrictions  expressions that every point must satisfy
    target        what the kernel is compiled for: an architecture such as sm_90, "emulator" or "counting"; None for a
                  GPU of any architecture
    """
    unsupported = kernel.unsupported(point.values) or kernel.unsupported_on(target)
    if unsupported:
        return unsupported
    if point.width is not None:
        missing = missing_lane(kernel.name, point.width, parse_arguments(point.arguments), point.block_size)
        if missing:
            return missing
    for restriction in restrictions:
        if not Expression(restriction)(point.values):
            return f"restriction: {restriction}"
    return None


def instantiation(kernel: KernelSource, point: Point) -> str:
    """The C++ name of the variant that a point runs, as a demangler prints it: ``unrolled<int, Sum, 2u>``.

    Points that differ in nothing the template depends on share a variant's machine code.
    """
    values = {**point.values, **parse_arguments(point.arguments)}

    def argument(name: str) -> str:
        if name == "Element":
            return CXX_TYPES[point.dtype]
        if name == "Operation":
            return OPERATIONS[point.operation].cxx
        return f"{values[name]}u" if TEMPLATE_PARAMETERS[name] == "unsigned" else str(values[name])

    return f"{kernel.name}<{', '.join(argument(name) for name in kernel.template_parameters)}>"


def instantiations(kernel: KernelSource, run: Iterable[Point]) -> list[str]:
    """The distinct variants of the points that are run, sorted."""
    return sorted({instantiation(kernel, point) for point in run})
