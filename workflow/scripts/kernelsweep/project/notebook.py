"""For notebooks: a sweep, and its results as frames.

import kernelsweep as ks
results = ks.load("results/nvidia-h200")
results.study("axpy"), results.best("axpy")
ks.run("config/studies/axpy.yaml", platform="emulator")
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas

from kernelsweep.base.running import environment
from kernelsweep.device.description import read_device
from kernelsweep.device.kinds import GPU
from kernelsweep.errors import UserError, check_known, readable, shown_value
from kernelsweep.judge.best.best_file import read_best
from kernelsweep.judge.data.measurements import frame, load_measurements
from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.publish.drawing.layout import TWO_COLUMNS, Drawing
from kernelsweep.publish.figure_files import FIGURES, QUANTITIES, SHOW
from kernelsweep.publish.index.statuses import read_platform
from kernelsweep.publish.share.recording import read_environment, recorded_device
from kernelsweep.publish.view import labelled
from kernelsweep.results import SAMPLE_COLUMNS, each_table
from kernelsweep.study.settings import StudySettings
from kernelsweep.study.study import read_study

_PAGE = r"(?m)^  Page  "  # An answer has it.
_TIMES = ("time_us", "time_low_us", "time_high_us")
_ALWAYS = (*_TIMES, "message", "flags")  # columns that a study has also where all are empty


@dataclass(frozen=True, repr=False)
class PlatformResults:
    """The results of a platform, in a folder such as results/nvidia-h200, or a recording's.

    Frames of pandas: measurements of all studies, study(name), best(name), samples(name, kernel). Figures: lines(name),
    heatmap(name), ladder(name).
    """

    folder: Path

    @cached_property
    def measurements(self) -> pandas.DataFrame:
        """One row a point, as the project's own figures read it, with a column for each axis of each study.

        Numbers are Int64 or float64, words are categories, and each flag is a column of booleans: flag_unstable.
        Times are in microseconds. Raises UserError where a file can't be read.
        """
        rows = load_measurements(self._files)
        flags = rows["flags"].str.get_dummies(sep=" ").astype(bool).add_prefix("flag_")
        rows = rows.drop(columns=["flags", "parameters"]).join(flags)
        for column in rows.select_dtypes(exclude=["number", "bool"]).columns:
            words = rows[column].replace("", None)
            numbers = pandas.to_numeric(words, errors="coerce").convert_dtypes()
            are_words = column.endswith("sha256") or numbers.count() < max(words.count(), 1)
            rows[column] = words.astype("category") if are_words else numbers
        return rows

    @property
    def _files(self) -> list[Path]:
        """The files of points: of the kernels that a study had when it was counted last, not of those that are gone."""
        written = [
            (file.stem if kind == "limits" else file.parent.name, file)
            for kind in ("points/*", "limits", "rivals/*")
            for file in sorted(self.folder.glob(f"{kind}/*.csv"))
        ]
        counted = read_platform(self.folder)
        named = {study: counted.outcome(study).files for study in counted.studies}
        latest = [
            file
            for study, file in written
            if not named.get(study) or str(file.relative_to(self.folder)) in named[study]
        ]
        files = latest or [*self.folder.glob("measurements.csv*")]  # The latter is a recording's.
        if not files:
            raise UserError(f"{self.folder} has no measurements. Name a folder such as results/nvidia-h200.")
        return files

    @property
    def studies(self) -> list[str]:
        """The names of the studies that have results here."""
        return [*self.measurements["study"].cat.categories]

    def __repr__(self) -> str:
        try:
            rows = self.measurements
        except UserError as error:
            return str(error)
        counts = rows.groupby("study", observed=True).agg(kernels=("kernel", "nunique"), points=("kernel", "size"))
        times = "with times" if rows["time_us"].notna().any() else "no times"
        head = f"{self.folder}: {', '.join(map(str, rows['device'].dropna().unique()))}, {times}"
        return "\n".join(
            [head, *(f"  {row.Index}: {row.kernels} kernels, {row.points} points" for row in counts.itertuples())]
        )

    def study(self, name: str) -> pandas.DataFrame:
        """A study's measurements, without the columns that are empty there, besides times, messages and flags.

        Raises UserError for another name.
        """
        self._check_known(name)
        rows = self.measurements[self.measurements["study"] == name]
        rows = rows.drop(columns=[column for column in rows if column not in _ALWAYS and rows[column].isna().all()])
        words = rows.select_dtypes("category").columns
        return rows.assign(**{word: rows[word].cat.remove_unused_categories() for word in words}).reset_index(drop=True)

    def best(self, study: str) -> pandas.DataFrame:
        """The fastest configuration of each kernel at each problem size, as best.json has it.

        `ties` counts the configurations that can't be told from it. On the emulator, which has no times, there are no
        rows. Raises UserError for another study, and where there are times and no best.json.
        """
        self._check_known(study)
        files = [*self.folder.glob("best.json"), *self.folder.glob(f"studies/{study}/best.json")]
        entries = [one for file in files for one in read_best(file).entries if one.study == study]
        if not entries and self.measurements["time_us"].notna().any():
            raise UserError(f"{self.folder} has no best.json of {study!r}, which a run of the study leaves there.")
        rows = []
        for one in {(str(entry.point), entry.kernel): entry for entry in entries}.values():
            times = {name: getattr(one.fastest, name) for name in _TIMES}
            rows.append({"kernel": one.kernel, **one.point, **one.fastest.parameters, **times, "ties": len(one.ties)})
        return pandas.DataFrame(rows, columns=None if rows else ["kernel", *_TIMES, "ties"]).convert_dtypes()

    def lines(self, study: str, width: float = TWO_COLUMNS, **axes: str) -> Drawing:
        """The study's figure `lines`: a quantity over an axis, a line for each value of another.

        width  in inches
        axes   x, by and panel name axes, or "kernel"; show names a quantity, such as "bandwidth_gbs" or "time_us".
               Left out: as the study has them

        Raises UserError for an axis or a quantity that isn't there.
        """
        return self._drawn("lines", study, width, axes)

    def heatmap(self, study: str, width: float = TWO_COLUMNS, **axes: str) -> Drawing:
        """The study's figure `heatmap`: a quantity over two axes, x and y, of the best by all others; as lines()."""
        return self._drawn("heatmap", study, width, axes)

    def ladder(self, study: str, width: float = TWO_COLUMNS) -> Drawing:
        """The study's figure `ladder`: the time of each step of its story."""
        return self._drawn("ladder", study, width, {})

    def _drawn(self, figure: str, study: str, width: float, axes: Mapping[str, str]) -> Drawing:
        from kernelsweep.publish.figures import DRAWERS

        self._check_known(study)
        if not 0 < width < math.inf:
            raise UserError(f"{figure}(): width is {width}. Allowed: numbers of inches above 0.")
        settings = self._settings(study)
        known = FIGURES[figure].axes
        for key, value in axes.items():
            check_known(key, [*known, SHOW], f"{figure}() has")
            check_known(value, QUANTITIES if key == SHOW else ["kernel", *settings.kinds], f"{figure}(): {key} is")
        chosen = {**settings.figure_axes.get(figure, {}), **axes}
        settings = settings.changed(figures=[{figure: chosen}])
        rows = load_measurements(self._files, study)
        return DRAWERS[figure](labelled(StudyData(settings, rows, self._device(study))), width)

    def _settings(self, study: str) -> StudySettings:
        """The study's settings, from its file in the repository that the folder is in."""
        for root in self.folder.resolve().parents:
            if (root / f"config/studies/{study}.yaml").is_file():
                return read_study(study, root).settings
        raise UserError(f"no folder above {self.folder} has config/studies/{study}.yaml, which says what its axes are.")

    def _device(self, study: str) -> dict[str, Any]:
        file = self.folder / "device.json"
        if file.is_file():
            return read_device(file, [study])
        return recorded_device(read_environment(self.folder), self.folder.name)

    def _check_known(self, study: str) -> None:
        if study not in self.studies:
            raise UserError(f"{self.folder} has no study {study!r}. It has: {', '.join(self.studies)}.")

    def samples(self, study: str, kernel: str) -> pandas.DataFrame:
        """Each timed run of a kernel, in microseconds. Raises UserError where there are none."""
        file = self.folder / f"samples/{study}/{kernel}.csv"
        if not file.is_file():
            self._check_known(study)
            check_known(kernel, self.study(study)["kernel"].unique(), f"{self.folder}: kernel is")
            raise UserError(f"{self.folder} has no samples of {study}/{kernel}. A recording has none.")
        numbers = ("visit", "sample")
        return frame(each_table(file, SAMPLE_COLUMNS, numbers), SAMPLE_COLUMNS, numbers).convert_dtypes()


def load(folder: str | Path) -> PlatformResults:
    """The results in a folder, such as results/nvidia-h200, results/emulator or resources/recordings/nvidia-h200.

    Raises UserError where there is no such folder.
    """
    if not os.path.isdir(folder):
        raise UserError(
            f"{readable(str(folder), 200)} is no folder. Name one with results, such as results/nvidia-h200."
        )
    return PlatformResults(Path(folder))


def run(study: str | Path, cores: int | None = None, until: Sequence[str] = (), **config: Any) -> PlatformResults:
    """Run a study, and return the results of the platform that ran.

    study   its file, config/studies/<study>.yaml of some folder, or the name of one of the working folder

    cores   that jobs may use; all by default
    until   the rules that come last, as of Snakemake's --until: ["judge"] makes no figures and pages
    config  settings of config.yaml for this run, such as platform="emulator" or axes={"n": [1024]}

    The answer of a run to its end is printed. Raises UserError where no such study can be run so, and, with its last
    words, where it failed before a point was run.
    """
    file = Path(study) if Path(study).suffix else Path(f"config/studies/{study}.yaml")
    if not os.path.isfile(file) or file.resolve().parts[-3:-1] != ("config", "studies"):
        shown = readable(str(file), 200)
        raise UserError(f"{shown} is no file in a folder config/studies. Name a study of {Path.cwd()}, or its file.")
    if cores is not None and cores < 1:
        raise UserError(f"cores is {cores}. Allowed: numbers from 1 up.")
    root = file.resolve().parents[2]
    command = [sys.executable, "-m", "kernelsweep.project.command", file.stem, "-d", str(root)]
    command += ["--cores", str(cores or os.cpu_count() or 1)]
    command += ["--until", *until] if until else []
    command += ["--config", *(f"{name}={json.dumps(value, default=_plain)}" for name, value in config.items())]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", env=environment())
    platform = config.get("platform", "auto")
    platform = "*" if platform in ("auto", GPU) else platform
    found = sorted(root.glob(f"results/{platform}/points/{file.stem}/*.csv"), key=lambda path: path.stat().st_mtime)
    # The answer, or why there is none, is below the lines of progress.
    said = ran.stderr.partition("\n\n")[2].strip() or ran.stderr.strip()
    if not found or (ran.returncode and not re.search(_PAGE, said)):
        raise UserError(said)
    if not until:
        print(said.replace(f"file://{Path.cwd()}/", ""))
    return load(found[-1].parents[2])


def _plain(value: Any) -> Any:
    """A NumPy number or array as JSON has it, or a set. Raises UserError for another object."""
    if isinstance(value, set | frozenset | range):
        return list(value)
    if not hasattr(value, "tolist"):
        raise UserError(
            f"{shown_value(value)} is no value of config.yaml. Allowed: texts, numbers, lists, dictionaries."
        )
    return value.tolist()
