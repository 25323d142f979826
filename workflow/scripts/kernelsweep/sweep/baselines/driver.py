"""Measure the memory's speed by the driver's own copy and fill, which are limits for kernels.

(Another limit, a kernel that only reads, is one of a study's kernels.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kernelsweep.device.platform import Memory, Platform
from kernelsweep.device.sampling import MedianKnown, Sampling, Taken, sample
from kernelsweep.results import LIMIT_PREFIX, Row, is_imprecise, point_columns, time_columns
from kernelsweep.study.axes import Axes
from kernelsweep.study.kernel_sweep import swept_points
from kernelsweep.study.point import Point
from kernelsweep.study.problem.problem_file import Problem

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
    every = swept_points(sweeps, 1, restrictions, tied)
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
            size = max(int(problem.work(point)["bytes"]), 8)
            try:
                row |= _measure(platform, name, size, point["cache"] == "cold", sampling, peak_bandwidth_gbs)
            except MemoryError as error:
                row |= {"status": "out_of_memory", "message": str(error)}
            rows.append(row)
    return rows


def _measure(
    platform: Platform, name: str, size: int, is_cold: bool, sampling: Sampling, peak_bandwidth_gbs: float | None
) -> Row:
    """Move so many bytes, and return the row's further columns."""
    each = size // 2 if name == "copy" else size
    buffers: list[Memory] = []

    def move() -> None:
        if name == "copy":
            platform.copy(buffers[1], buffers[0], each)
        else:
            platform.fill(buffers[0], each, _FILLING)

    def timed(start: Callable[[], None], stop: Callable[[], None]) -> None:
        if is_cold:
            platform.flush_cache()
        start()
        move()
        stop()

    def take(count: int) -> tuple[list[Taken], bool]:
        times = platform.time(timed, count)
        return [(time_us, None) for time_us in times], bool(platform.conditions().throttle_reasons)

    try:
        for _ in range(size // each):
            buffers.append(platform.allocate(each))
        before = (np.arange(min(each, _CHECKED_BYTES)) % 251 + 1).astype(np.uint8)
        platform.upload(buffers[-1], np.zeros_like(before))
        platform.upload(buffers[0], before)
        move()
        platform.synchronize()
        after = np.empty_like(before)
        platform.download(buffers[-1], after)
        if not np.array_equal(after, before if name == "copy" else np.full_like(before, _FILLING & 0xFF)):
            return {"status": "wrong_result", "message": f"the driver's {name} left other bytes than were asked for"}
        sampled = sample(take, MedianKnown(sampling), sampling.relative_precision)
        times = time_columns([sampled.samples], {"bytes": size}, peak_bandwidth_gbs)
        flags = {
            "noisy": not sampled.settled,
            "throttled": not sampled.clean,
            "imprecise": is_imprecise(times, sampling.relative_precision),
        }
        return {"status": "ok", "flags": " ".join(flag for flag, holds in flags.items() if holds), **times}
    finally:
        for memory in buffers:
            platform.free(memory)
