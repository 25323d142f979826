"""Load metrics.csv: hardware counters by Nsight Compute, or the emulator's counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas

from kernelsweep.analysis.measurements import read_table, refuse
from kernelsweep.results import (
    ALL_POINT_COLUMNS,
    FURTHER_POINT_COLUMNS,
    FURTHER_POINT_INTEGERS,
    METRIC_COLUMNS,
    POINT_INTEGERS,
)

# The columns that the contract does not ask of metrics.csv.
_OPTIONAL = (*FURTHER_POINT_COLUMNS, "message", "binary_sha256")


def load_metrics(paths: Sequence[Path], study: str | None = None) -> pandas.DataFrame:
    """The rows of all `paths`, of one `study` or of all.

    Each file is CSV with results.METRIC_COLUMNS. An empty value becomes NaN, an empty text "".
    Raises UserError when a column is missing or a number cannot be read.
    """
    frames = [pandas.DataFrame(columns=list(METRIC_COLUMNS), dtype=str), *(_load(path) for path in paths)]
    rows = pandas.concat(frames, ignore_index=True)
    rows = rows.astype({"value": "float64"})
    rows = rows.astype({column: "Int64" if rows[column].isna().any() else "int64" for column in POINT_INTEGERS})
    rows = rows.astype(dict.fromkeys(FURTHER_POINT_INTEGERS, "Int64"))
    rows = rows.sort_values(["study", "kernel", *ALL_POINT_COLUMNS, "metric"], ignore_index=True)
    return rows if study is None else rows[rows["study"] == study]


def _load(path: Path) -> pandas.DataFrame:
    needed = [column for column in METRIC_COLUMNS if column not in _OPTIONAL]
    numbers = (*POINT_INTEGERS, *FURTHER_POINT_INTEGERS, "value")
    rows = read_table(path, needed, _OPTIONAL, numbers)
    for column in numbers:
        refuse(rows, (rows[column] < 0) | rows[column].isin([math.inf]), column, "numbers from 0 up", path)
    return rows[list(METRIC_COLUMNS)]


@dataclass(frozen=True)
class Metrics:
    """A study's metrics.

    rows         as load_metrics() gives them
    definitions  the configuration's, by the metric's name
    """

    rows: pandas.DataFrame = field(default_factory=lambda: load_metrics([]))
    definitions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
