"""Measure the memory's speed by the driver's own copy and fill, which are limits for kernels.

(Another limit, a kernel that only reads, is one of a study's kernels.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kernelsweep.baselines.libraries import compared_points
from kernelsweep.measure.sampling import Sampling, sample
from kernelsweep.platforms.platform import Memory, Platform
from kernelsweep.problems.problem_file import Problem
from kernelsweep.results import LIMIT_PREFIX, Row, is_imprecise, point_columns, time_columns
from kernelsweep.sweep.axes import Axes
from kernelsweep.sweep.point import Point

# The word that the fill repeats.
_FILLING = 0xABABABAB

# The number of bytes that are checked, at the start of the moved data.
_CHECKED_BYTES = 4096


def driver_points(
    problem: Problem,
    sweeps: Sequence[Axes],
    reference: Mapping[str, Any],
    restrictions: Sequence[str] = (),
    tied: Sequence[Sequence[str]] = (),
) -> list[Point]:
    """Every size and cache state of the sweep; words that the work doesn't depend on are the reference point's."""
    free = {
        name: reference[name]
        for name, axis in problem.axes.items()
        if axis.has_texts and name != "cache" and name in reference and name not in problem.work_axes
    }
    every = compared_points(sweeps, restrictions, tied)
    known = {name: value for name, value in free.items() if every and name in every[0]}
    return list(dict.fromkeys(point.at(**known) for point in every))


def measure_driver(
    platform: Platform,
    names: Iterable[str],
    problem: Problem,
    planned: Sequence[Point],
    sampling: Sampling,
    peak_bandwidth_gbs: float | None,
    known: Mapping[str, Any],
) -> list[Row]:
    """The rows of measurements.csv of the limits `names`, which are of results.DRIVER_LIMITS, at each point.

    A limit moves as many bytes as the problem's work has at the point, so that times and bandwidths can be compared
    directly: copy reads one half of them and writes the other half, fill writes all.

    known  columns of every row: study, platform, device
    """
    rows = []
    for name in names:
        for point in planned:
            row = {**known, **point_columns(point), "kernel": f"{LIMIT_PREFIX}{name}"}
            try:
                row |= _measure(platform, name, point, problem, sampling, peak_bandwidth_gbs)
            except MemoryError as error:
                row |= {"status": "out_of_memory", "message": str(error)}
            rows.append(row)
    return rows


def _measure(
    platform: Platform,
    name: str,
    point: Point,
    problem: Problem,
    sampling: Sampling,
    peak_bandwidth_gbs: float | None,
) -> Row:
    """Move as many bytes as the point's work has, and return the row's further columns."""
    size = max(int(problem.work(point)["bytes"]), 8)
    sizes = [size // 2, size // 2] if name == "copy" else [size]
    buffers: list[Memory] = []
    try:
        for each in sizes:
            buffers.append(platform.allocate(each))
        source, target = buffers[0], buffers[-1]

        def move() -> None:
            if name == "copy":
                platform.copy(target, source, sizes[0])
            else:
                platform.fill(target, size, _FILLING)

        def timed(start: Callable[[], None], stop: Callable[[], None]) -> None:
            if point["cache"] == "cold":
                platform.flush_cache()
            start()
            move()
            stop()

        def time_samples(count: int) -> tuple[list[float], bool]:
            times = platform.time(timed, count)
            return times, bool(platform.conditions().throttle_reasons)

        mistake = _mistake(platform, name, source, target, sizes[-1], move)
        if mistake:
            return {"status": "wrong_result", "message": mistake}
        sampled = sample(time_samples, sampling)
    finally:
        for memory in buffers:
            platform.free(memory)
    times = time_columns([sampled.samples], {"bytes": size}, peak_bandwidth_gbs)
    flags = {
        "noisy": not sampled.settled,
        "throttled": not sampled.clean,
        "imprecise": is_imprecise(times, sampling.relative_precision),
    }
    return {
        "status": "ok",
        "flags": " ".join(flag for flag, holds in flags.items() if holds),
        **times,
    }


def _mistake(
    platform: Platform, name: str, source: Memory, target: Memory, size: int, move: Callable[[], None]
) -> str | None:
    """Move once, and return the mistake in the first bytes of the target, or None."""
    before = (np.arange(min(size, _CHECKED_BYTES)) % 251 + 1).astype(np.uint8)
    platform.upload(target, np.zeros_like(before))
    platform.upload(source, before)
    move()
    platform.synchronize()
    after = np.empty_like(before)
    platform.download(target, after)
    if name == "copy":
        return None if np.array_equal(after, before) else "the copy is not what was copied"
    return None if after[0] and (after == after[0]).all() else "the fill left other bytes than one"
