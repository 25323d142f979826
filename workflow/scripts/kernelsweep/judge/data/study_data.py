"""One record of a study on one platform, for everything that reads results: its settings, measurements and metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas

from kernelsweep.device.description import read_device
from kernelsweep.judge.data.measurements import frame, load_measurements, with_flag
from kernelsweep.judge.data.proofs import KernelProof, failed_proofs, read_proofs
from kernelsweep.judge.data.published import PublishedNumber, read_published
from kernelsweep.judge.data.reference import at_place, at_reference, has_times, timed
from kernelsweep.judge.data.steps import Step, ladder_steps
from kernelsweep.judge.data.words import size_words
from kernelsweep.results import (
    ALL_POINT_COLUMNS,
    COUNTED,
    EDITED,
    LIMIT_PREFIX,
    METRIC_COLUMNS,
    each_table,
)
from kernelsweep.study.settings import StudySettings

# The columns of measurements that no table, figure or judgement has; each copy of a million rows had 8 MB for each.
_UNUSED = ["device_uuid", "seconds", "busy_seconds", "identity_sha256", "temperature_c", "power_w", "throttle_reasons"]
_UNUSED += ["visit_spread", "power_limit_w", "clock_limit_mhz", "compiler", "reason"]


def load_metrics(paths: Sequence[Path], study: str | None = None) -> pandas.DataFrame:
    """The rows of all `paths`, of one `study` or of all.

    Each file is CSV with results.METRIC_COLUMNS. An empty value becomes NaN, an empty text "".
    Raises UserError when a column is missing or a number cannot be read.
    """
    of_study = [study] if study else []
    read = (table for path in paths for table in each_table(path, METRIC_COLUMNS, ["value"], of_study))
    rows = frame(read, METRIC_COLUMNS, ["value"])[list(METRIC_COLUMNS)].astype({"value": "float64"})
    return rows.sort_values(["study", "kernel", *ALL_POINT_COLUMNS, "metric"], ignore_index=True)


@dataclass(frozen=True)
class Metrics:
    """A study's metrics.

    rows         as load_metrics() gives them
    definitions  the configuration's, by the metric's name
    """

    rows: pandas.DataFrame = field(default_factory=lambda: load_metrics([]))
    definitions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class StudyData:
    """A study's settings, and its results on one platform.

    settings      the study's checked settings; its reference point has the size at which accesses were counted
    measurements  its rows of measurements.csv as load_measurements() returns them, including the rows of libraries and
                  the driver. An axis that the study did not have yet when they were measured has no value
    device        the platform's device.json, with what its `by_study` says of this study
    published     the numbers that sources print of its kernels
    proofs        of its kernels, by name; empty for a recording, which has none
    gridded       the kernels whose number of blocks the sweep chooses
    """

    settings: StudySettings
    measurements: pandas.DataFrame
    device: Mapping[str, Any]
    published: Sequence[PublishedNumber] = ()
    metrics: Metrics = field(default_factory=Metrics)
    proofs: Mapping[str, KernelProof] = field(default_factory=dict)
    gridded: Collection[str] = ()

    def __post_init__(self) -> None:
        if missing := [axis for axis in self.settings.kinds if axis not in self.measurements]:
            rows = self.measurements.assign(**dict.fromkeys(missing))
            object.__setattr__(self, "measurements", rows)
        if not (counted := self.metrics.rows[self.metrics.rows["source"] == COUNTED]).empty:
            # A study's own `width` is in `parameters`, and the column of that name is empty.
            known = [axis for axis in counted if counted[axis].notna().any()]
            sizes = [axis for axis, kind in self.settings.kinds.items() if kind == "size" and axis in known]
            reference = {**self.settings.reference, **{axis: int(counted[axis].max()) for axis in sizes}}
            object.__setattr__(self, "settings", self.settings.changed(reference=reference))

    @property
    def title(self) -> str:
        """The study's heading."""
        return str(self.settings.title)

    @property
    def has_times(self) -> bool:
        """Whether the device's times are reported."""
        return has_times(self.device)

    @property
    def compares_outputs(self) -> bool:
        """Whether the study shows what its kernels leave rather than how fast they are."""
        return self.settings.compares == "outputs"

    @property
    def steps(self) -> list[Step]:
        """The steps of the ladder, for this device."""
        return ladder_steps(self.settings, self.device)

    @property
    def kernel_names(self) -> list[str]:
        """The study's kernels in the order of their story."""
        return [str(kernel.name) for kernel in self.settings.kernels]

    @property
    def measured_libraries(self) -> list[str]:
        """All libraries with results: those that the study's file names, then others, as a recording may have.

        How a library launches is not known.
        """
        others = self.measurements.loc[
            (self.measurements["status"] == "ok") & self.measurements["launches"].isna(), "kernel"
        ].unique()
        named = [*self.settings.rival_names, *(name for name in others if not name.startswith(LIMIT_PREFIX))]
        return [name for name in dict.fromkeys(named) if name not in self.kernel_names]

    @cached_property
    def kernel_rows(self) -> pandas.DataFrame:
        """The measurements of the study's own kernels."""
        return self.measurements[self.measurements["kernel"].isin(self.kernel_names)]

    def at_reference(self) -> pandas.DataFrame:
        """The rows of the study's own kernels at its reference point."""
        return at_reference(self.settings, self.kernel_rows)


def read_study_data(
    name: str,
    settings: Mapping[str, Any],
    measurements: Iterable[str | Path],
    device: str | Path,
    metrics: Metrics | None = None,
    proofs: Iterable[str | Path] = (),
    edited: Iterable[str] = (),
    gridded: Collection[str] = (),
) -> StudyData:
    """A study's record from its result files and, in the current folder, resources/published.

    measurements  CSV files with the columns of measurements.csv; rows of other studies are left out
    proofs        CSV files with the columns of proofs.csv
    edited        kernels that were edited after they were recorded, as `study/kernel`: their rows get the flag EDITED
    Raises UserError, naming the file, where one cannot be read.
    """
    read = read_proofs(proofs)
    rows = load_measurements([Path(path) for path in measurements], name, failed_proofs(read), _UNUSED)
    edited_kernels = [(name, kernel.removeprefix(f"{name}/")) for kernel in edited]
    study_settings = StudySettings.of_job(settings)
    return StudyData(
        settings=study_settings,
        measurements=with_flag(rows, edited_kernels, EDITED),
        device=read_device(device, [name]),
        published=read_published(study_settings.published),
        metrics=metrics or Metrics(),
        proofs={kernel: proof for (study, kernel), proof in read.items() if study == name},
        gridded=gridded,
    )


def size_axes(study: StudySettings) -> list[str]:
    """The axes that say how large a study's problems are, and which."""
    return [axis for axis, kind in study.kinds.items() if kind == "size"]


def kernel_axes(study: StudySettings) -> list[str]:
    """The axes that say how a kernel is built or launched."""
    return [axis for axis, kind in study.kinds.items() if kind == "kernel"]


def place_axes(study: StudySettings) -> list[str]:
    """All other axes: kernels are compared at equal values of these."""
    return [axis for axis, kind in study.kinds.items() if kind != "kernel"]


def shown_place(data: StudyData) -> dict[str, Any]:
    """The values of place_axes() at which kernels are compared: the reference point's.

    An axis that it doesn't name, such as a kernel's arguments, is open. Where the sweep has no points there, as after a
    choice of axes for one run, the largest values that it has.
    """
    known = data.settings.reference
    reference = {axis: known[axis] for axis in place_axes(data.settings) if axis in known}
    if not at_place(data.kernel_rows, reference).empty:
        return reference
    swept = data.kernel_rows if (with_times := timed(data.kernel_rows, data.device)).empty else with_times
    last = swept.sort_values([*reference]).tail(1)[[*reference]].astype(object).to_dict("records")
    return {str(axis): value for axis, value in last[0].items()} if last else reference


def swept_values(data: StudyData) -> dict[str, set[Any]]:
    """The values of the points that were run, on each axis that has some: of sizes, of kernels, of conditions."""
    rows = data.kernel_rows[data.kernel_rows["status"] != "skipped"]
    axes = [*size_axes(data.settings), *kernel_axes(data.settings), *place_axes(data.settings)]
    # A grid that follows from the other axes is no choice.
    rows = rows.assign(grid_size=rows["grid_size"].where(rows["kernel"].isin(data.gridded)))
    return {axis: set(rows[axis].dropna()) for axis in axes}


def place_words(point: Mapping[str, Any], study: StudySettings) -> str:
    """A point's size, as size_words()."""
    return size_words({axis: point[axis] for axis in size_axes(study) if axis in point})


def varied(rows: pandas.DataFrame, axes: Sequence[str]) -> list[str]:
    """The axes among `axes` that have several values in `rows`."""
    return [axis for axis in axes if rows[axis].nunique() > 1]
