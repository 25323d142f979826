"""The numbers of a recording that documents quote, by the functions that their marks name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas

from kernelsweep.analysis.measurements import load_measurements
from kernelsweep.analysis.metric_rows import Metrics, load_metrics
from kernelsweep.analysis.reference import at_reference
from kernelsweep.analysis.steps import Step
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.errors import UserError
from kernelsweep.json_files import read_json
from kernelsweep.results import BASELINE_PREFIX, MEASUREMENT_COLUMNS
from kernelsweep.share.recording import recorded_device


@dataclass(frozen=True)
class RecordedNumbers:
    """What a mark can name. Steps are texts such as `unrolling/unrolled ×8`; other axes than the study's reference
    point has are given by name: `time("staged/halving", array_size=2**28)`. Times are medians in µs.

    studies  the recorded studies, by name
    date     the day of the recording, such as 2026-11-21
    device   the GPU's name and driver
    """

    studies: Mapping[str, StudyData]
    date: str
    device: str

    @property
    def functions(self) -> dict[str, Any]:
        """The functions, the date and the device, by the names that marks have for them."""
        return {
            "date": self.date,
            "device": self.device,
            "time": self.time,
            "speedup": self.speedup,
            "row": self.row,
            "metric": self.metric,
            "fastest": self.fastest,
            "is_recorded": self.is_recorded,
            "count": self.count,
            "largest": self.largest,
            "median": self.median,
            "shape": shape,
            "times": times,
        }

    def time(self, step: str, **at: Any) -> float:
        """A step's time."""
        return float(self.row(step, **at)["time_us"])

    def speedup(self, step: str, reference: str, **at: Any) -> float:
        """The reference step's time over the step's."""
        return self.time(reference, **at) / self.time(step, **at)

    def row(self, step: str, **at: Any) -> dict[str, Any]:
        """A step's row of measurements.csv: a kernel, a library, the driver or the host. Raises UserError."""
        data, kernel = self._data(step)
        name, _, unroll = kernel.partition(" ×")
        if name in data.kernel_names:
            found = self._step(data, name, unroll, at).rows(_at(data, data.measurements, at))
        else:
            free = ("block_size", "cache") if name.startswith(BASELINE_PREFIX) else ("block_size",)
            rows = _at(data, data.measurements, at, free)
            found = rows[rows["kernel"] == name]
        return _only(found[found["status"] == "ok"], step, at)

    def metric(self, name: str, step: str, **at: Any) -> float:
        """A hardware counter of a step, in the unit of metrics.csv. Raises UserError."""
        data, kernel = self._data(step)
        kernel, _, unroll = kernel.partition(" ×")
        found = self._step(data, kernel, unroll, at).rows(_at(data, data.metrics.rows, at))
        return float(_only(found[(found["metric"] == name) & found["value"].notna()], f"{name} of {step}", at)["value"])

    def fastest(self, study: str, kernel: str = "", **at: Any) -> dict[str, Any]:
        """The row of the fastest configuration of a kernel, or of all the study's kernels but its limits."""
        data = self.studies[study]
        kernels = [kernel] if kernel else [name for name in data.kernel_names if name not in data.settings["limits"]]
        rows = _at(data, data.measurements, at, ("block_size",))
        found = rows[rows["kernel"].isin(kernels) & (rows["status"] == "ok")]
        return _only(found.nsmallest(1, "time_us"), f"{study}/{kernel}", at)

    def is_recorded(self, study: str, kernel: str) -> bool:
        """Whether a study has times of a kernel, or of a library, the driver or the host."""
        rows = self.studies[study].measurements
        return bool(((rows["kernel"] == kernel) & (rows["status"] == "ok")).any())

    def count(self, where: str) -> int:
        """The number of the kernels' timed points for which a condition of pandas' query() holds."""
        return len(self._timed(where))

    def largest(self, column: str, where: str) -> float:
        """The largest value of a column at those points."""
        return float(self._timed(where)[column].max())

    def median(self, column: str, where: str) -> float:
        """The median of a column at those points."""
        return float(pandas.to_numeric(self._timed(where)[column]).median())

    def _timed(self, where: str) -> pandas.DataFrame:
        return self._all_timed.query(where, engine="python")

    @cached_property
    def _all_timed(self) -> pandas.DataFrame:
        rows = pandas.concat([data.kernel_rows for data in self.studies.values()], ignore_index=True)
        return rows[rows["status"] == "ok"]

    def _data(self, step: str) -> tuple[StudyData, str]:
        study, _, kernel = step.partition("/")
        if study not in self.studies:
            raise UserError(f"{step!r}: a step is named as `study/kernel ×unroll`; studies: {', '.join(self.studies)}")
        return self.studies[study], kernel

    def _step(self, data: StudyData, kernel: str, unroll: str, at: Mapping[str, Any]) -> Step:
        factor = int(unroll or 1)
        grids = [step.grid_size for step in data.steps if (step.kernel, step.unroll) == (kernel, factor)]
        return Step(kernel, factor, at.get("grid_size", grids[0] if grids else None))


def recorded_numbers(folder: Path, settings: Mapping[str, Mapping[str, Any]]) -> RecordedNumbers:
    """The numbers of a recording, with its studies' settings by name. Raises UserError, naming the file."""
    environment = read_json(folder / "environment.json")
    device = recorded_device(environment, folder.name)
    counters = folder / "metrics.csv.gz"
    rows = load_measurements([folder / "measurements.csv.gz"])
    metrics = load_metrics([counters] if counters.is_file() else [])
    return RecordedNumbers(
        {
            name: StudyData(study, _of_study(rows, name), device, metrics=Metrics(metrics[metrics["study"] == name]))
            for name, study in settings.items()
        },
        date=str(environment["measured"])[:10],
        device=f"{device['name']}, driver {device['driver']}",
    )


def _of_study(rows: pandas.DataFrame, name: str) -> pandas.DataFrame:
    """A study's rows without the columns of other studies' axes, which each selection of rows would copy."""
    own = rows[rows["study"] == name]
    return own[[column for column in own if column in MEASUREMENT_COLUMNS or own[column].notna().any()]]


def _at(data: StudyData, rows: pandas.DataFrame, at: Mapping[str, Any], free: tuple[str, ...] = ()) -> pandas.DataFrame:
    """The rows at the study's reference point with the values of `at` in place of its own."""
    axes = {axis: value for axis, value in at.items() if axis != "grid_size"}
    study = {**data.settings, "reference": {**data.settings["reference"], **axes}}
    return at_reference(study, rows, tuple(axis for axis in free if axis not in at))


def _only(found: pandas.DataFrame, what: str, at: Mapping[str, Any]) -> dict[str, Any]:
    if len(found) != 1:
        place = ", ".join(f"{axis}={value}" for axis, value in at.items())
        raise UserError(f"the recording has {len(found)} values of {what}" + (f" at {place}" if at else ""))
    return dict(found.iloc[0])


def shape(row: Mapping[str, Any]) -> str:
    """A configuration in words: `streaming_sum`, 512 × 2, 4,096 (threads a block × unroll factor, blocks)."""
    return f"`{row['kernel']}`, {row['block_size']} × {row['unroll']}, {row['grid_size']:,}"


def times(ratio: float) -> str:
    """A ratio with two decimals, or three below 1.05, where the third is the one that differs."""
    return f"{ratio:.3f}" if ratio < 1.05 else f"{ratio:.2f}"
