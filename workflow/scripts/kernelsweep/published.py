"""Published times, read from resources/published: what the study's own figures are set beside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError
from kernelsweep.results import read_rows

MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class Published:
    """The times of one publication.

    `times_us` maps (kernel, unroll factor) to microseconds, in the file's order; the factor is None for what has none,
    such as a CPU's loop.
    """

    label: str
    device: str
    source: str
    times_us: Mapping[tuple[str, int | None], float]


def load_published(spec: Mapping[str, Any] | None, directory: Path) -> Published | None:
    """The times that a study's `published` entry names, or None when it names none.

    `spec` has `file` (a CSV in `directory` with at least source, kernel, unroll, metric, unit and value), `device`,
    `label`, and `where`, which keeps the rows whose columns have the given values (or null). Only rows whose metric is
    `time` are read.
    Raises UserError, naming file and key, when the file is missing, a column of `where` is unknown, a unit or number
    cannot be read, or two rows give a time for the same (kernel, unroll).
    """
    if spec is None:
        return None
    path = directory / str(spec["file"])
    if not path.is_file():
        raise UserError(f"published.file: {path} does not exist")
    rows = read_rows(path)
    where = spec["where"] or {}
    unknown = [column for column in where if rows and column not in rows[0]]
    if unknown:
        raise UserError(f"published.where: {path} has no column {', '.join(unknown)}; it has {', '.join(rows[0])}")
    times_us: dict[tuple[str, int | None], float] = {}
    sources: list[str] = []
    for row in rows:
        if row["metric"] != "time" or any(row[column] != str(value) for column, value in where.items()):
            continue
        step = (row["kernel"], int(row["unroll"]) if row["unroll"] else None)
        if step in times_us:
            raise UserError(
                f"{path}: several times for {row['kernel']}, unroll {row['unroll'] or 'empty'};"
                " narrow published.where to the rows of one run"
            )
        times_us[step] = _microseconds(row, path)
        sources.append(row["source"])
    if not times_us:
        raise UserError(f"{path}: no row with metric `time` matches published.where = {dict(where)}")
    return Published(str(spec["label"]), str(spec["device"]), ", ".join(dict.fromkeys(sources)), times_us)


def _microseconds(row: Mapping[str, str], path: Path) -> float:
    if row["unit"] not in MICROSECONDS:
        raise UserError(f"{path}: unit `{row['unit']}` of {row['kernel']}'s time; known: {', '.join(MICROSECONDS)}")
    try:
        # Rounded to a femtosecond: 0.1644 ms is 164.4 us, not 164.39999999999998.
        return round(float(row["value"]) * MICROSECONDS[row["unit"]], 9)
    except ValueError:
        raise UserError(f"{path}: value `{row['value']}` of {row['kernel']}'s time is no number") from None
