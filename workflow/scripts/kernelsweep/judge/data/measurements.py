"""Load measurements.csv, sorted and typed, for everything that reads results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pandas

from kernelsweep.errors import UserError
from kernelsweep.results import (
    ALL_POINT_COLUMNS,
    CONTRACT_COLUMNS,
    FLOATS,
    INTEGERS,
    MEASUREMENT_COLUMNS,
    POINT_INTEGERS,
    PROOF_FAILED,
    each_row,
    read_parameters,
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
    Raises UserError as results.each_row(), and when a point occurs twice, or a row names none.
    """
    read = (row for path in paths for row in each_row(path, CONTRACT_COLUMNS, study=study))
    return as_measurements(list(read), ", ".join(map(str, paths)), unproven)


def as_measurements(
    read: Sequence[Mapping[str, str]], files: str, unproven: Collection[tuple[str, str]] = ()
) -> pandas.DataFrame:
    """Sort and type the rows of measurements.csv that were read from these files; as load_measurements() returns them.

    Raises UserError when a point occurs twice, or a row names none.
    """
    rows = frame(read, MEASUREMENT_COLUMNS)
    if ((rows["parameters"] == "") & rows[list(POINT_INTEGERS)].isna().all(axis="columns")).any():
        raise UserError(f"{files}: {', '.join(POINT_INTEGERS)} and parameters are empty in some row; it names no point")
    key = ["study", "kernel", "platform", "device", *ALL_POINT_COLUMNS]
    if rows.duplicated(key).any():
        twice = rows[rows.duplicated(key)].iloc[0]
        raise UserError(f"{files}: the point {dict(twice[key])} is there twice; keep one row a point")
    failed = pandas.Series(
        [kernel in unproven for kernel in zip(rows["study"], rows["kernel"], strict=True)], dtype=bool
    )
    rows.loc[failed, "flags"] = (rows.loc[failed, "flags"] + f" {PROOF_FAILED}").str.strip()
    return _with_own_axes(rows.sort_values(key, ignore_index=True))


def frame(rows: Sequence[Mapping[str, str]], columns: Sequence[str], numbers: Sequence[str] = ()) -> pandas.DataFrame:
    """Rows of results.each_row() as a frame, with `columns` first, even where no row has them.

    numbers  the columns of numbers besides results.INTEGERS and FLOATS; all others hold texts
    """
    texts = pandas.DataFrame(rows)
    named = list(dict.fromkeys([*columns, *texts.columns]))
    texts = texts.reindex(columns=named, fill_value="").fillna("").astype(str)
    numeric = {}
    for column in texts.columns.intersection([*INTEGERS, *FLOATS, *numbers]):
        values = pandas.to_numeric(texts[column].replace("", None))
        if column in FLOATS:
            values = values.astype("float64")
        elif column in INTEGERS:  # A study without an axis of this name has empty fields.
            values = values.astype("Int64" if column not in POINT_INTEGERS or values.isna().any() else "int64")
        numeric[column] = values
    return texts.assign(**numeric)


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
