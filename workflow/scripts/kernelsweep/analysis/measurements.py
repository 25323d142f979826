"""Load measurements.csv, sorted and typed, for everything that reads results."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import pandas

from kernelsweep.errors import UserError
from kernelsweep.json_files import AGAIN
from kernelsweep.results import (
    ALL_POINT_COLUMNS,
    CONTRACT_COLUMNS,
    FURTHER_MEASUREMENT_COLUMNS,
    FURTHER_POINT_INTEGERS,
    MEASUREMENT_COLUMNS,
    POINT_INTEGERS,
    PROOF_FAILED,
    read_parameters,
)

OTHER_INTEGERS = ("launches", "samples", *FURTHER_POINT_INTEGERS)
FLOATS = (
    "time_us",
    "time_low_us",
    "time_high_us",
    "noise",
    "bandwidth_gbs",
    "peak_fraction",
    "clock_mhz",
    "relative_error",
    "gflops",
    "error_share",
)

# The exceptions that pandas and its decompressors raise for a file that is not CSV.
UNREADABLE = (
    OSError,
    EOFError,
    zlib.error,
    UnicodeDecodeError,
    pandas.errors.ParserError,
    pandas.errors.EmptyDataError,
)


def load_measurements(
    paths: Sequence[Path],
    study: str | None = None,
    unproven: Collection[tuple[str, str]] = (),
) -> pandas.DataFrame:
    """The rows of all `paths`, sorted by study, kernel and point, whatever the order of the files.

    study     keep the rows of this study
    unproven  the kernels whose proof failed, by study and name: their rows get the flag PROOF_FAILED

    Each file is CSV with the columns of results.MEASUREMENT_COLUMNS, plain or `.csv.gz`; other columns are kept as
    text. An empty field becomes NaN in a column of numbers and "" in a column of text.
    Raises UserError when a column is missing, a number cannot be read, or a point occurs twice. (results.each_row()
    checks values.)
    """
    rows = typed_rows((_load(path, study) for path in paths), MEASUREMENT_COLUMNS, OTHER_INTEGERS, FLOATS)
    key = ["study", "kernel", "platform", "device", *ALL_POINT_COLUMNS]
    if rows.duplicated(key).any():
        twice = rows[rows.duplicated(key)].iloc[0]
        files = ", ".join(str(path) for path in paths)
        raise UserError(f"{files}: the point {dict(twice[key])} is there twice; keep one row a point")
    failed = pandas.Series(
        [kernel in unproven for kernel in zip(rows["study"], rows["kernel"], strict=True)], dtype=bool
    )
    rows.loc[failed, "flags"] = (rows.loc[failed, "flags"] + f" {PROOF_FAILED}").str.strip()
    return _with_own_axes(rows.sort_values(key, ignore_index=True))


def typed_rows(
    read: Iterable[pandas.DataFrame], columns: Sequence[str], integers: Sequence[str], floats: Sequence[str]
) -> pandas.DataFrame:
    """The rows of all frames, with `columns` even where there is none, and POINT_INTEGERS and others as numbers."""
    rows = pandas.concat([pandas.DataFrame(columns=list(columns), dtype=str), *read], ignore_index=True)
    # A study without an axis of this name has empty fields.
    points = {column: "Int64" if rows[column].isna().any() else "int64" for column in POINT_INTEGERS}
    return rows.astype(points | dict.fromkeys(integers, "Int64") | dict.fromkeys(floats, "float64"))


def _with_own_axes(rows: pandas.DataFrame) -> pandas.DataFrame:
    """The rows with a further column for each axis in their column parameters: of numbers, or of words."""
    named = rows["parameters"].map(read_parameters)
    for axis in dict.fromkeys(axis for axes in named for axis in axes):
        values = named.map(lambda axes, axis=axis: axes.get(axis))
        numbers = pandas.to_numeric(values, errors="coerce")
        own = values.fillna("")
        if numbers.notna().sum() == values.notna().sum():
            own = numbers.astype("Int64") if (numbers.dropna() % 1 == 0).all() else numbers
        rows[axis] = own.where(values.notna(), rows[axis]) if axis in rows else own
    return rows


@lru_cache(maxsize=1)  # A recording's file has many studies, and takes longer to read than one of them to sort.
def _texts(path: Path, changed: int) -> pandas.DataFrame:
    return pandas.read_csv(path, dtype=str, keep_default_na=False)


def read_table(
    path: Path, needed: Sequence[str], further: Sequence[str], numbers: Sequence[str], study: str | None = None
) -> pandas.DataFrame:
    """The rows of a CSV file, of one study or of all, as texts but for the columns of `numbers`.

    Raises UserError, naming the file, where it can't be read, lacks a column of `needed`, or a number is none.
    """
    try:
        rows = _texts(path, path.stat().st_mtime_ns)
        rows = rows if study is None else rows[rows["study"] == study]
    except KeyError as error:
        raise UserError(f"{path}: no column {error}") from error
    except UNREADABLE as error:
        raise UserError(f"{path}: can't be read: {error}. {AGAIN}") from error
    if missing := [column for column in needed if column not in rows.columns]:
        raise UserError(f"{path}: no column {', '.join(missing)}; expected {', '.join(needed)}")
    rows = rows.assign(**{column: "" for column in further if column not in rows.columns})
    for column in numbers:
        try:
            rows[column] = pandas.to_numeric(rows[column].replace("", None))
        except ValueError as error:
            raise UserError(f"{path}: column {column}: {error}") from error
    return rows


def _load(path: Path, study: str | None) -> pandas.DataFrame:
    numbers = (*POINT_INTEGERS, *OTHER_INTEGERS, *FLOATS)
    rows = read_table(path, CONTRACT_COLUMNS, FURTHER_MEASUREMENT_COLUMNS, numbers, study)
    if ((rows["parameters"] == "") & rows[list(POINT_INTEGERS)].isna().all(axis="columns")).any():
        raise UserError(f"{path}: {', '.join(POINT_INTEGERS)} and parameters are empty in some row; it names no point")
    return rows
