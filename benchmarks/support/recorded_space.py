"""Spaces of configurations that were all measured: from our measurements, and from files in the T4 format."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.own_sweep import ROOT

from kernelsweep.errors import UserError
from kernelsweep.project.project import load_study
from kernelsweep.results import each_row, read_parameters
from kernelsweep.sweep.point import in_words


@dataclass(frozen=True)
class RecordedSpace:
    """Configurations, each a value on every axis, with their costs; a configuration that failed costs infinity."""

    name: str
    configurations: list[dict[str, Any]]
    costs: list[float]

    @property
    def best(self) -> float:
        """The least cost."""
        return min(self.costs)


def spaces_in(path: Path, fewest: int) -> Iterator[RecordedSpace]:
    """The spaces in a file with at least this many configurations, by name.

    path  measurements.csv, or measurements.csv.gz of a recording: a space a study and problem size, with the kernel as
          an axis; or a T4 file, as JSON or as .json.gz: one space

    Raises UserError for a file that is neither.
    """
    is_table = ".csv" in path.suffixes
    found = _of_measurements(path) if is_table else [_of_t4(path)]
    for space in sorted(found, key=lambda space: space.name):
        if len(space.configurations) >= fewest and math.isfinite(space.best):
            yield space


def _of_measurements(path: Path) -> list[RecordedSpace]:
    spaces: dict[tuple[str, ...], RecordedSpace] = {}
    problems: dict[str, Any] = {}
    for row in each_row(path):
        study = row["study"]
        if study not in problems:
            problems[study] = load_study(study, ROOT)
        if row["status"] == "skipped" or row["kernel"] not in problems[study].kernels:
            continue
        values = {**row, **read_parameters(row.get("parameters") or "")}
        axes = {axis: values[axis] for axis in problems[study].problem.axes if values.get(axis)}
        is_kernels = {axis: problems[study].problem.axes[axis].of_kernel for axis in axes}
        place = {axis: value for axis, value in axes.items() if not is_kernels[axis]}
        name = f"{study}, {in_words(place)}"
        space = spaces.setdefault((study, *place.values()), RecordedSpace(name, [], []))
        own = {axis: _number(value) for axis, value in axes.items() if is_kernels[axis]}
        space.configurations.append({"kernel": row["kernel"], **dict.fromkeys(("grid_size",)), **own})
        space.costs.append(float(row["time_us"]) if row["status"] == "ok" else math.inf)
    return list(spaces.values())


def _number(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _of_t4(path: Path) -> RecordedSpace:
    """The space in a T4 file: the cost is the first objective, and what isn't correct has failed."""
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            results = json.load(file)["results"]
        costs = [_cost(result) for result in results]
        return RecordedSpace(path.name.split(".")[0], [result["configuration"] for result in results], costs)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is no T4 file ({error!r}). Allowed: measurements.csv, T4 files as JSON.") from error


def _cost(result: Mapping[str, Any]) -> float:
    objective = (result.get("objectives") or ["time"])[0]
    values = [one["value"] for one in result.get("measurements", []) if one["name"] == objective]
    if result["invalidity"] != "correct" or not values or not isinstance(values[0], int | float):
        return math.inf
    return float(values[0])
