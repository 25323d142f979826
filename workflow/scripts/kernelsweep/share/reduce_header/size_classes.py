"""Choose one configuration for each class of array sizes, among all kernels that leave one value by one launch.

judge/best compares the configurations of one kernel; this module compares across all kernels. Among configurations
that can't be distinguished, it chooses the one that is among the fastest at most sizes, so that a program compiles few.
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
from kernelsweep.sweep.kernels.launch_plans import PLANS
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.points import Point

# Statuses of one point that disqualify the whole kernel.
_DOUBTFUL = ("wrong_result", "launch_failed", "timed_out", "implausible")

# No limit: the launch plan uses as many blocks as the array needs.
_NO_LIMIT = 2**62

# Sizes within this factor are one class: the sweep has 2^20 and 2^20 + 3, which differ only in the array's tail.
NEAR = 1.01


@dataclass(frozen=True)
class ReductionKind:
    """A kind of reduction; if deterministic, every run gives the same bits."""

    dtype: str
    operation: str
    cache: str
    deterministic: bool


@dataclass(frozen=True)
class Shape:
    """A kernel's launch configuration for any array size, with at most `blocks` blocks on the measured GPU."""

    kernel: KernelSource
    block_size: int
    unroll: int
    blocks: int

    @property
    def order(self) -> tuple[str, int, int, int]:
        """A key for a reproducible choice among several shapes."""
        return (self.kernel.path.as_posix(), self.block_size, self.unroll, self.blocks)


@dataclass(frozen=True)
class Choice:
    """The configuration for one class of array sizes.

    array_size     the measured size of the class
    largest_size   the class's largest size; None for the last class, which has no end
    time           microseconds
    bandwidth_gbs  10^9 bytes a second, with each input byte counted once
    compared       the number of configurations with a time at that size
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
) -> dict[ReductionKind, tuple[Choice, ...]]:
    """The choices for every kind of reduction with times, from the smallest class of sizes to the largest.

    rows          from measurements.load_measurements(); rows of other kernels are ignored
    kernels       by study and name; those that a header can't offer are ignored
    architecture  the architecture that the choices have to run on, such as 80; None for the measured GPU
    """
    rows = _candidates(rows, kernels, device, architecture)
    chosen = {}
    for names, of_kind in rows.groupby(["dtype", "operation", "cache"]):
        dtype, operation, cache = map(str, names)
        for deterministic in (False, True):
            suited = of_kind[of_kind["repeats"]] if deterministic else of_kind
            if times := _times_by_size(suited, kernels):
                chosen[ReductionKind(dtype, operation, cache, deterministic)] = _choices(times)
    return chosen


def _candidates(
    rows: pandas.DataFrame,
    kernels: Mapping[tuple[str, str], KernelSource],
    device: Mapping[str, Any],
    architecture: int | None,
) -> pandas.DataFrame:
    """The rows to choose from, with the column `repeats`: whether the kernel gives the same bits in every run.

    Integers don't round, so all their rows repeat; rows of floats repeat if the kernel did at every point of their type
    and operation. A kernel that failed at one of these points is a candidate at none of them.
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
    """Whether `found` holds for any point of a row's kernel with the same type and operation."""
    alike = [rows[column] for column in ("study", "kernel", "dtype", "operation")]
    return found.groupby(alike).transform("any").astype(bool)


_Row = Mapping[Any, Any]
_Times = dict[int, dict[Shape, _Row]]


def _times_by_size(rows: pandas.DataFrame, kernels: Mapping[tuple[str, str], KernelSource]) -> _Times:
    """The rows of all shapes, by the array size that represents its class."""
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
    """The limits on the number of blocks that the sweep set for one variant of a kernel, deduced from its rows.

    A limit shows if an array had work for more blocks. If none had, the largest measured number is the limit.
    """
    held_back = {grid for (size, grid), row in launched.items() if grid < _grid(kernel, row, size, _NO_LIMIT)}
    return sorted(held_back) or [max(grid for _, grid in launched)]


def _grid(kernel: KernelSource, row: _Row, array_size: int, blocks: int) -> int:
    """The number of blocks that the kernel's plan launches with the limit `blocks`."""
    point = Point(
        {
            "array_size": array_size,
            "block_size": int(row["block_size"]),
            "unroll": int(row["unroll"]),
            "dtype": row["dtype"],
            "grid_size": blocks,
        }
    )
    return PLANS[kernel.plan](point).launches[0].blocks


def _of_classes(times: _Times) -> _Times:
    """Keep one size of each class: the one with the most timed configurations."""
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
    """The shapes that can't be distinguished from the fastest, each with its time over the fastest time."""
    fastest = min(times.values(), key=lambda row: float(row["time_us"]))
    return {
        shape: float(row["time_us"]) / float(fastest["time_us"]) for shape, row in times.items() if is_tie(row, fastest)
    }


def _as_fast_at_most(sizes: Sequence[int], as_fast: Mapping[int, Mapping[Shape, float]]) -> Shape:
    """The shape that is among the fastest at most sizes; of several such shapes, the one with the shortest times."""
    ratios: dict[Shape, list[float]] = {}
    for size in sizes:
        for shape, ratio in as_fast[size].items():
            ratios.setdefault(shape, []).append(ratio)
    return min(ratios, key=lambda shape: (-len(ratios[shape]), math.prod(ratios[shape]), shape.order))
