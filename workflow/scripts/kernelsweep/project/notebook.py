"""For notebooks: a sweep, and its results as frames.

import kernelsweep as ks
results = ks.load("results/nvidia-h200")
results.study("axpy"), results.best("axpy")
ks.run("config/studies/axpy.yaml", platform="emulator")
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas

from kernelsweep.device.kinds import GPU
from kernelsweep.errors import UserError
from kernelsweep.home import HOME
from kernelsweep.json_files import read_json
from kernelsweep.judge.best.best_file import best_entries
from kernelsweep.judge.data.measurements import frame, load_measurements
from kernelsweep.publish.index.statuses import read_platform
from kernelsweep.results import SAMPLE_COLUMNS, each_row

_TIMES = ("time_us", "time_low_us", "time_high_us")


@dataclass(frozen=True)
class PlatformResults:
    """The results of a platform, in a folder such as results/nvidia-h200, or a recording's."""

    folder: Path

    @cached_property
    def measurements(self) -> pandas.DataFrame:
        """One row a point, as the project's own figures read it, with a column for each axis of each study.

        The rows of a study are of the kernels that it had when it was counted last, not of those that are gone.

        Numbers are Int64 or float64, words are categories, and each flag is a column of booleans: flag_unstable.
        Times are in microseconds. Raises UserError where a file can't be read.
        """
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
        rows = load_measurements(files)
        flags = rows["flags"].str.get_dummies(sep=" ").astype(bool).add_prefix("flag_")
        rows = rows.drop(columns=["flags", "parameters"]).join(flags)
        for column in rows.select_dtypes(["str", "object"]).columns:
            words = rows[column].replace("", None)
            numbers = pandas.to_numeric(words, errors="coerce").convert_dtypes()
            are_words = column.endswith("sha256") or numbers.count() < max(words.count(), 1)
            rows[column] = words.astype("category") if are_words else numbers
        return rows

    def study(self, name: str) -> pandas.DataFrame:
        """A study's measurements, without the columns that are empty there, but with times, NA on the emulator.

        Raises UserError for another name.
        """
        rows = self.measurements[self.measurements["study"] == name]
        rows = rows.drop(columns=[column for column in rows if column not in _TIMES and rows[column].isna().all()])
        if rows.empty:
            known = ", ".join(self.measurements["study"].cat.categories)
            raise UserError(f"{self.folder} has no study {name!r}. It has: {known}.")
        words = rows.select_dtypes("category").columns
        return rows.assign(**{word: rows[word].cat.remove_unused_categories() for word in words}).reset_index(drop=True)

    def best(self, study: str) -> pandas.DataFrame:
        """The fastest configuration of each kernel at each problem size, as best.json has it.

        `ties` counts the configurations that can't be told from it. Raises UserError where there is none.
        """
        files = [*self.folder.glob("best.json"), *self.folder.glob(f"studies/{study}/best.json")]
        entries = [one for file in files for one in best_entries(read_json(file)) if one.study == study]
        if not entries:
            raise UserError(f"{self.folder} has no best configuration of {study!r}: it has no times, or no best.json.")
        rows = []
        for one in {(str(entry.point), entry.kernel): entry for entry in entries}.values():
            times = {name: getattr(one.fastest, name) for name in ("time_us", "time_low_us", "time_high_us")}
            rows.append({"kernel": one.kernel, **one.point, **one.fastest.parameters, **times, "ties": len(one.ties)})
        return pandas.DataFrame(rows).convert_dtypes()

    def samples(self, study: str, kernel: str) -> pandas.DataFrame:
        """Each timed run of a kernel, in microseconds. Raises UserError where there are none."""
        file = self.folder / f"samples/{study}/{kernel}.csv"
        rows = list(each_row(file, SAMPLE_COLUMNS, ("visit", "sample")))
        return frame(rows, SAMPLE_COLUMNS, ("visit", "sample")).convert_dtypes()


def load(folder: str | Path) -> PlatformResults:
    """The results in a folder, such as results/nvidia-h200, results/emulator or resources/recordings/nvidia-h200.

    Raises UserError where there is no such folder.
    """
    if not Path(folder).is_dir():
        raise UserError(f"{folder} is no folder. Name one with results, such as results/nvidia-h200.")
    return PlatformResults(Path(folder))


def run(study: str | Path, cores: int | None = None, **config: Any) -> PlatformResults:
    """Run a study, and return the results of the platform that ran.

    study   its file, config/studies/<study>.yaml of some folder, or the name of one of the working folder

    cores   that jobs may use; all by default
    config  settings of config.yaml for this run, such as platform="emulator" or axes={"n": [1024]}

    What it says is printed. Raises UserError, with its last words, where it failed before a point was run.
    """
    start = time.time()
    file = Path(study) if Path(study).suffix else Path(f"config/studies/{study}.yaml")
    if not file.is_file():
        raise UserError(f"{file} is no file. Name a study of {Path.cwd()}, or a study's file.")
    file = file.resolve()
    root, given = file.parents[2], [f"{name}={json.dumps(value)}" for name, value in config.items()]
    command = [sys.executable, "-m", "snakemake", "-s", str(HOME / "Snakefile"), "-d", str(root)]
    command += ["--cores", str(cores or os.cpu_count() or 1), file.stem, *(["--config", *given] if given else [])]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    platform = config.get("platform", "auto")
    platform = "*" if platform in ("auto", GPU) else platform
    found = sorted(root.glob(f"results/{platform}/points/{file.stem}/*.csv"), key=lambda path: path.stat().st_mtime)
    if not found or (ran.returncode and found[-1].stat().st_mtime < start):
        raise UserError(ran.stderr.strip())
    print(ran.stderr, end="")
    return load(found[-1].parents[2])
