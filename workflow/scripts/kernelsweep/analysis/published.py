"""Published figures, read from resources/published, which tables and figures set beside our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError, nearest
from kernelsweep.results import finite, read_rows
from kernelsweep.sweep.settings import PublishedSettings, StudySettings

FOLDER = "resources/published"

_FIGURES = ("source", "kernel", "metric", "unit", "value")

MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class Published:
    """The figures of one publication. An unroll factor is None where the file gives a kernel without one.

    label     how tables and figures call the publication
    file      its CSV in resources/published
    device    the device that was measured
    source    the source of its times
    times_us  microseconds by (kernel, unroll factor), in the file's order
    outputs   the elements that an exchange left by (exchange, arguments), in the file's order
    """

    label: str
    file: str = ""
    device: str = ""
    source: str = ""
    times_us: Mapping[tuple[str, int | None], float] = field(default_factory=dict)
    outputs: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def time_us(self, kernel: str, unroll: int | None) -> float | None:
        """The kernel's time at that unroll factor, or its only one where the publication has no factors."""
        return self.times_us.get((kernel, unroll), self.times_us.get((kernel, None)))


def load_published(spec: PublishedSettings | None, directory: Path, of_outputs: bool = False) -> Published | None:
    """The publication that a study's `published` entry names, or None where it names none.

    spec        `file` (a CSV in `directory`), `device`, `label`; `where` keeps the rows whose columns have these values
    of_outputs  whether the file has the outputs of exchanges (columns exchange, arguments, output) or times (source,
                kernel, metric, unit, value, and unroll where kernels have factors)
    Raises UserError, naming file and key, when the file or a column is missing, a unit or number cannot be read, no
    row is kept, or two rows give one figure.
    """
    if spec is None:
        return None
    path = directory / spec.file
    if of_outputs:
        rows = _chosen_rows(path, spec.where, ("exchange", "arguments", "output"))
        outputs = _each_once(rows, ("exchange", "arguments"), "output", path)
        of = {(exchange, arguments): " ".join(output.split()) for (exchange, arguments), output in outputs.items()}
        return Published(spec.label, spec.file, outputs=of)
    rows = [{"unroll": "", **row} for row in _chosen_rows(path, spec.where, _FIGURES) if row["metric"] == "time"]
    try:
        # Rounded to a femtosecond: 0.1644 ms is 164.4 us, not 164.39999999999998.
        values = [{**row, "us": round(_positive(row["value"]) * MICROSECONDS[row["unit"]], 9)} for row in rows]
        found = _each_once(values, ("kernel", "unroll"), "us", path)
        times_us = {(kernel, int(unroll) if unroll else None): time for (kernel, unroll), time in found.items()}
    except (KeyError, ValueError) as error:
        raise UserError(
            f"{path}: a unit (of times: {', '.join(MICROSECONDS)}), unroll factor or value can't be read: {error}"
        ) from None
    source = ", ".join(dict.fromkeys(row["source"] for row in rows))
    return Published(spec.label, spec.file, spec.device, source, times_us)


def _positive(text: str) -> float:
    if (value := finite(text)) <= 0:
        raise ValueError(f"{text} is no number above 0")
    return value


def _each_once(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], value: str, path: Path
) -> dict[tuple[str, ...], Any]:
    """The rows' values by some columns. Raises UserError where two rows have the same there, or there is none."""
    found: dict[tuple[str, ...], Any] = {}
    for row in rows:
        key = tuple(row[name] for name in names)
        if key in found:
            raise UserError(f"{path}: several values of {' '.join(key)}; narrow published.where to the rows of one run")
        found[key] = row[value]
    if not found:
        raise UserError(f"{path}: no row matches published.where")
    return found


def _chosen_rows(path: Path, where: Mapping[str, Any] | None, columns: Sequence[str]) -> list[dict[str, str]]:
    """The file's rows whose columns have the values in `where`; the file must have the `columns`."""
    if not path.is_file():
        raise UserError(f"published.file: {path} does not exist")
    rows = read_rows(path)
    where = where or {}
    missing = [column for column in (*columns, *where) if rows and column not in rows[0]]
    if missing:
        raise UserError(f"published.file: {path} has no column {', '.join(missing)}; it has {', '.join(rows[0])}")
    return [row for row in rows if all(row[column] == str(value) for column, value in where.items())]


def check_published(settings: StudySettings, root: Path, shown: str) -> None:
    """Raise UserError if a file of published figures that a study names doesn't exist, or can't be read."""
    name = settings.published.file if settings.published else None
    if name and not (root / FOLDER / name).is_file():
        known = sorted(path.name for path in (root / FOLDER).glob("*.csv"))
        guess = nearest(name, known) or ";"
        raise UserError(f"{shown}: published.file is {name!r}{guess} In {FOLDER}/: {', '.join(known) or 'none'}.")
    load_published(settings.published, root / FOLDER, settings.compares == "outputs")
