"""Choose one configuration for each class of array sizes, among all kernels that leave one value by one launch.

Where find compares a kernel's configurations with each other, this compares those of all kernels, as a user has to who
just wants the value. Of configurations that can't be told apart, the one that is as fast at most sizes is chosen, so
that a program compiles few.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas

from kernelsweep.analysis.reference import timed
from kernelsweep.intervals import Interval, time_interval
from kernelsweep.judge.best.find import is_tie
from kernelsweep.share.reduce_header.offered import is_offered, needed_architecture
from kernelsweep.sweep.kernel_source import KernelSource
from kernelsweep.sweep.launch_plans import PLANS
from kernelsweep.sweep.points import Point

# What makes a kernel unfit for programs, not only a point.
_DOUBTFUL = ("wrong_result", "launch_failed", "timed_out")

# As many blocks as an array has work for.
_NO_LIMIT = 2**62

# Sizes this near to each other are one class: the sweep has 2^20 and 2^20 + 3, which differ in how the array ends.
NEAR = 1.01


@dataclass(frozen=True)
class Kind:
    """What a caller asks for; deterministic where the same bits must come out of every run."""

    dtype: str
    operation: str
    cache: str
    deterministic: bool


@dataclass(frozen=True)
class Shape:
    """How a kernel is launched at any array size: by at most `blocks` blocks on the GPU that was measured."""

    kernel: KernelSource
    block_size: int
    unroll: int
    blocks: int

    @property
    def order(self) -> tuple[str, int, int, int]:
        """To choose the same one of several every time."""
        return (self.kernel.path.as_posix(), self.block_size, self.unroll, self.blocks)


@dataclass(frozen=True)
class Choice:
    """The configuration for one class of array sizes.

    array_size     the size at which it was measured, which the class is around
    largest_size   of the class; None for the last one, which has no end
    time           microseconds
    bandwidth_gbs  each input byte counted once, 10^9 bytes a second
    compared       how many configurations were timed at that size
    """

    shape: Shape
    array_size: int
    largest_size: int | None
    time: Interval
    bandwidth_gbs: float
    compared: int


def choose(
    rows: pandas.DataFrame,
    kernels: Mapping[tuple[str, str], KernelSource],
    device: Mapping[str, Any],
    architecture: int | None = None,
) -> dict[Kind, tuple[Choice, ...]]:
    """The choices for every kind of reduction that has times, from the smallest class of sizes to the largest.

    rows          as measurements.load_measurements() gives them; those of other kernels don't count
    kernels       by study and name; those of other plans, and with undefined behaviour, are never chosen
    architecture  what the choices have to run on, such as 80; None for the GPU that was measured
    """
    rows = _candidates(rows, kernels, device, architecture)
    chosen = {}
    for names, of_kind in rows.groupby(["dtype", "operation", "cache"]):
        dtype, operation, cache = map(str, names)
        for deterministic in (False, True):
            suited = of_kind[of_kind["repeats"]] if deterministic else of_kind
            if times := _times_by_size(suited, kernels):
                chosen[Kind(dtype, operation, cache, deterministic)] = _choices(times)
    return chosen


def _candidates(
    rows: pandas.DataFrame,
    kernels: Mapping[tuple[str, str], KernelSource],
    device: Mapping[str, Any],
    architecture: int | None,
) -> pandas.DataFrame:
    """The rows to choose from, with the column `repeats`: whether the kernel leaves the same bits in every run.

    Of integers, which don't round, all do; of floats, those that did at every point of that type and operation. Whoever
    failed at one of these points is no candidate for any of them.
    """
    names = {
        name
        for name, kernel in kernels.items()
        if is_offered(kernel) and (architecture is None or needed_architecture(kernel) <= architecture)
    }
    rows = rows[[name in names for name in zip(rows["study"], rows["kernel"], strict=True)]]
    rows = timed(rows[~_of_any_like_it(rows, rows["status"].isin(_DOUBTFUL))], device)
    varies = rows["dtype"].str.startswith("float") & (rows["bit_identical"] != "yes")
    return rows.assign(repeats=~_of_any_like_it(rows, varies))


def _of_any_like_it(rows: pandas.DataFrame, found: pandas.Series[bool]) -> pandas.Series[bool]:
    """Whether something was found at any point of a row's kernel with the same type and operation."""
    alike = [rows[column] for column in ("study", "kernel", "dtype", "operation")]
    return found.groupby(alike).transform("any").astype(bool)


_Row = Mapping[Any, Any]
_Times = dict[int, dict[Shape, _Row]]


def _times_by_size(rows: pandas.DataFrame, kernels: Mapping[tuple[str, str], KernelSource]) -> _Times:
    """The row of every shape, by the array size that stands for its class."""
    by_variant: dict[tuple[KernelSource, int, int], list[_Row]] = {}
    for row in rows.to_dict("records"):
        kernel = kernels[row["study"], row["kernel"]]
        by_variant.setdefault((kernel, int(row["block_size"]), int(row["unroll"])), []).append(row)
    times: _Times = {}
    for (kernel, block_size, unroll), measured in by_variant.items():
        launched = {(int(row["array_size"]), int(row["grid_size"])): row for row in measured}
        for blocks in _limits(kernel, launched):
            shape = Shape(kernel, block_size, unroll, blocks)
            for size in {size for size, _ in launched}:
                if found := launched.get((size, _grid(kernel, measured[0], size, blocks))):
                    times.setdefault(size, {})[shape] = found
    return _of_classes(times)


def _limits(kernel: KernelSource, launched: Mapping[tuple[int, int], _Row]) -> list[int]:
    """The numbers of blocks that the sweep allowed one variant of a kernel, as far as its rows tell.

    They tell where an array had work for more. Where none had, no more blocks are allowed than were measured.
    """
    held_back = {grid for (size, grid), row in launched.items() if grid < _grid(kernel, row, size, _NO_LIMIT)}
    return sorted(held_back) or [max(grid for _, grid in launched)]


def _grid(kernel: KernelSource, row: _Row, array_size: int, blocks: int) -> int:
    """How many blocks the kernel's plan starts where it may start `blocks`."""
    point = Point(
        {
            "array_size": array_size,
            "block_size": int(row["block_size"]),
            "unroll": int(row["unroll"]),
            "dtype": row["dtype"],
            "grid_size": blocks,
        }
    )
    return PLANS[kernel.plan](point).launches[0].grid


def _of_classes(times: _Times) -> _Times:
    """Of sizes that are near to each other, the one at which the most configurations were timed."""
    classes: list[list[int]] = []
    for size in sorted(times):
        if classes and size <= NEAR * classes[-1][0]:
            classes[-1].append(size)
        else:
            classes.append([size])
    return {size: times[size] for size in (max(near, key=lambda size: len(times[size])) for near in classes)}


def _choices(times: _Times) -> tuple[Choice, ...]:
    sizes = sorted(times)
    as_fast = {size: _as_fast(times[size]) for size in sizes}
    chosen: dict[int, Shape] = {}
    while len(chosen) < len(sizes):
        waiting = [size for size in sizes if size not in chosen]
        shape = _as_fast_at_most(waiting, as_fast)
        chosen |= {size: shape for size in waiting if shape in as_fast[size]}
    ends = [math.isqrt(size * following) for size, following in itertools.pairwise(sizes)]
    return tuple(
        Choice(
            shape=chosen[size],
            array_size=size,
            largest_size=end,
            time=time_interval(times[size][chosen[size]]),
            bandwidth_gbs=float(times[size][chosen[size]]["bandwidth_gbs"]),
            compared=len(times[size]),
        )
        for size, end in zip(sizes, [*ends, None], strict=True)
    )


def _as_fast(times: Mapping[Shape, _Row]) -> dict[Shape, float]:
    """The shapes that can't be told to be slower than the fastest, each with its time over the fastest's."""
    fastest = min(times.values(), key=lambda row: float(row["time_us"]))
    return {
        shape: float(row["time_us"]) / float(fastest["time_us"]) for shape, row in times.items() if is_tie(row, fastest)
    }


def _as_fast_at_most(sizes: Sequence[int], as_fast: Mapping[int, Mapping[Shape, float]]) -> Shape:
    """The shape that is among the fastest at most of the sizes; of several, the one with the shorter times there."""
    ratios: dict[Shape, list[float]] = {}
    for size in sizes:
        for shape, ratio in as_fast[size].items():
            ratios.setdefault(shape, []).append(ratio)
    return min(ratios, key=lambda shape: (-len(ratios[shape]), math.prod(ratios[shape]), shape.order))
