"""The steps of a study's story with their facts: a ladder's steps, or each kernel at its fastest configuration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas

from kernelsweep.analysis.places import kernel_axes, shown_place, varied
from kernelsweep.analysis.reference import timed
from kernelsweep.analysis.step_metrics import kernel_metrics, step_metrics
from kernelsweep.analysis.steps import step_labels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import point_text, reference_text, size_text
from kernelsweep.intervals import Interval, time_interval
from kernelsweep.judge.best.best_words import place_text
from kernelsweep.judge.best.find import best_at, peak_share
from kernelsweep.publish.steps.advice import Values
from kernelsweep.results import INTERVAL, read_parameters

# The time itself, which Nsight Compute takes at its own clocks: the sweep's is shown.
_NOT_SHOWN = "duration"


@dataclass(frozen=True)
class ToldStep:
    """One step of a story.

    label       its name among the steps
    unroll      a ladder's: its unroll factor, and its grid where that is chosen; "" for a study's own axes
    timed_at    the configuration that was timed, by the axes on which the kernel has several values; "" on a ladder
    counted_at  the configuration whose counters these are, in the same way
    time        in microseconds; None without one
    values      by metric, with `peak_share` (%) as advice() takes it; without those that are unknown
    """

    kernel: str
    label: str
    unroll: str
    timed_at: str
    counted_at: str
    time: Interval | None
    values: Values


@dataclass(frozen=True)
class Story:
    """A study's steps in their order.

    where  a sentence on the points that are compared
    units  of the metrics that the story may name, by metric
    """

    where: str
    steps: Sequence[ToldStep]
    units: Mapping[str, str]


def story_of(data: StudyData) -> Story:
    """The story of any study."""
    return _ladder(data) if data.steps else _kernels(data)


def _ladder(data: StudyData) -> Story:
    """The steps of a ladder at the reference point, with the study's own metrics."""
    times = timed(data.at_reference(), data.device)
    metrics = step_metrics(data)
    told = []
    for number, (step, label) in enumerate(zip(data.steps, step_labels(data.steps), strict=True)):
        grid = "" if step.grid_size is None else f" in {size_text(step.grid_size)} blocks"
        rows = step.rows(times)
        time = None if rows.empty else time_interval({column: rows.iloc[0][column] for column in INTERVAL})
        share = float("nan") if rows.empty else float(rows.iloc[0]["peak_fraction"])
        values = _values(metrics, number, share, data.device)
        told.append(ToldStep(step.kernel, label, f"{step.unroll}{grid}", "", "", time, values))
    units = _units(metrics)
    shown = {name: units[name] for name in data.settings["metrics"] if name in units}
    return Story(f"Times and counters: at {reference_text(data.settings)}.", told, shown)


def _kernels(data: StudyData) -> Story:
    """The kernels, each at its fastest configuration where they are compared, with all of their metrics."""
    found = best_at(data)
    metrics = kernel_metrics(data)
    told = []
    for number, kernel in enumerate(data.kernel_names):
        best = found[kernel].fastest if kernel in found else None
        values = _values(metrics, number, peak_share(best, data.device) if best else None, data.device)
        axes = varied(data.kernel_rows[data.kernel_rows["kernel"] == kernel], kernel_axes(data.settings))
        timed_at = point_text({axis: best.parameters[axis] for axis in axes}) if best else ""
        time = Interval(best.time_us, best.time_low_us, best.time_high_us) if best else None
        told.append(ToldStep(kernel, kernel, "", timed_at, _counted_at(data, kernel, axes), time, values))
    units = {name: unit for name, unit in _units(metrics).items() if name != _NOT_SHOWN}
    where = f"Times: each kernel's fastest configuration at {place_text(shown_place(data))}." if found else ""
    return Story(where, told, units)


def _counted_at(data: StudyData, kernel: str, axes: Sequence[str]) -> str:
    """The values on some axes of the configuration whose counters were collected; "" without any."""
    rows = data.metrics.rows[data.metrics.rows["kernel"] == kernel]
    point = read_parameters(rows["parameters"].iloc[0]) if not rows.empty else {}
    return " ".join(f"{axis}={point[axis]}" for axis in axes if axis in point)


def _units(metrics: pandas.DataFrame) -> dict[str, str]:
    return {str(metric): str(unit) for metric, unit in metrics.groupby("metric", sort=False)["unit"].first().items()}


def _values(metrics: pandas.DataFrame, number: int, share: float | None, device: Mapping[str, Any]) -> Values:
    """A step's metrics, and the larger share (%) of the memory's peak: of its inputs, or of its DRAM traffic."""
    known = metrics[(metrics["step"] == number) & metrics["value"].notna()]
    values = {str(name): float(value) for name, value in zip(known["metric"], known["value"], strict=True)}
    peak = device["peak_bandwidth_gbs"]
    shares = [] if share is None or math.isnan(share) else [100 * share]
    if peak and "dram_read_throughput" in values:
        shares.append(100 * values["dram_read_throughput"] / peak)
    return {**values, "peak_share": max(shares)} if shares else values
