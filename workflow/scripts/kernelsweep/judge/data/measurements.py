"""Load measurements.csv, sorted and typed, for everything that reads results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pandas
from pandas.api.types import union_categoricals

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

# The number of rows that become columns at once: a row of texts takes 3 KB.
_CHUNK = 20_000


def load_measurements(
    paths: Sequence[Path],
    study: str | None = None,
    unproven: Collection[tuple[str, str]] = (),
    left_out: Collection[str] = (),
) -> pandas.DataFrame:
    """The rows of all `paths`, sorted by study, kernel and point, whatever the order of the files.

    study     keep the rows of this study
    unproven  the kernels whose proof failed, by study and name: their rows get the flag PROOF_FAILED
    left_out  columns that nobody reads

    Each file is CSV with the columns of results.MEASUREMENT_COLUMNS, plain or `.csv.gz`; other columns are kept as
    text. An empty field becomes NaN in a column of numbers and "" in a column of text.
    Raises UserError as results.each_row(), and when a point occurs twice, or a row names none.
    """
    read = (row for path in paths for row in each_row(path, CONTRACT_COLUMNS, study=study))
    rows = frame(read, MEASUREMENT_COLUMNS).drop(columns=[*left_out])
    return as_measurements(rows, ", ".join(map(str, paths)), unproven)


def as_measurements(rows: pandas.DataFrame, files: str, unproven: Collection[tuple[str, str]] = ()) -> pandas.DataFrame:
    """Sort the frame() of measurements.csv that was read from these files; as load_measurements() returns it.

    Raises UserError when a point occurs twice, or a row names none.
    """
    if ((rows["parameters"] == "") & rows[list(POINT_INTEGERS)].isna().all(axis="columns")).any():
        raise UserError(f"{files}: {', '.join(POINT_INTEGERS)} and parameters are empty in some row; it names no point")
    key = ["study", "kernel", "platform", "device", *ALL_POINT_COLUMNS]
    if (again := rows.duplicated(key)).any():
        twice = rows.loc[again, key].iloc[0]
        raise UserError(f"{files}: the point {dict(twice)} is there twice; keep one row a point")
    return _with_own_axes(with_flag(rows.sort_values(key, ignore_index=True), unproven, PROOF_FAILED))


def with_flag(rows: pandas.DataFrame, kernels: Iterable[tuple[str, str]], flag: str) -> pandas.DataFrame:
    """The rows with one more flag on those of some kernels, by study and name."""
    for study, kernel in kernels:
        flags = rows["flags"]
        chosen = (rows["study"] == study) & (rows["kernel"] == kernel)
        rows = rows.assign(flags=flags.mask(chosen, (flags + f" {flag}").str.strip()))
    return rows


def frame(rows: Iterable[Mapping[str, str]], columns: Sequence[str], numbers: Sequence[str] = ()) -> pandas.DataFrame:
    """Rows of results.each_row() as a frame, with `columns` first, even where no row has them.

    A text that several rows have is in memory once: a million rows take 400 MB.

    numbers  the columns of numbers besides results.INTEGERS and FLOATS; all others hold texts
    """
    numeric, rest, parts, sizes = {*INTEGERS, *FLOATS, *numbers}, iter(rows), list[dict[str, Any]](), list[int]()
    while (chunk := list(islice(rest, _CHUNK))) or not parts:
        sizes.append(len(chunk))
        names = dict.fromkeys([*columns, *(name for header in {tuple(row): None for row in chunk} for name in header)])
        parts.append({name: _column([row.get(name, "") for row in chunk], name in numeric) for name in names})
    joined = dict[str, Any]()
    for column in dict.fromkeys(name for part in parts for name in part):
        is_number = column in numeric
        # Some files may lack a column that `columns` doesn't name.
        pairs = zip(parts, sizes, strict=True)
        found = [part.pop(column) if column in part else _column([""] * size, is_number) for part, size in pairs]
        if not is_number:
            joined[column] = pandas.Series(union_categoricals(found)).astype("str")
            continue
        values = pandas.concat(found, ignore_index=True)
        if column in FLOATS:
            values = values.astype("float64")
        elif column in INTEGERS:  # A study without an axis of this name has empty fields.
            values = values.astype("Int64" if column not in POINT_INTEGERS or values.isna().any() else "int64")
        joined[column] = values
    return pandas.DataFrame(joined, copy=False)


def _column(texts: list[str], is_number: bool) -> Any:
    """A column of numbers, or of categories, which take a byte or two a row."""
    if not is_number:
        return pandas.Categorical(texts)
    return pandas.to_numeric(pandas.Series(texts, dtype="str").replace("", None))


def _with_own_axes(rows: pandas.DataFrame) -> pandas.DataFrame:
    """The rows with a further column for each axis in their column parameters: of numbers, or of words."""
    codes, texts = pandas.factorize(rows["parameters"])
    for axis in dict.fromkeys(axis for text in texts for axis in read_parameters(text)):
        values = pandas.Series([read_parameters(text).get(axis) for text in texts])
        numbers = pandas.to_numeric(values, errors="coerce")
        own = values.fillna("")
        if numbers.notna().sum() == values.notna().sum():
            own = numbers.astype("Int64") if (numbers.dropna() % 1 == 0).all() else numbers
        own, is_there = (column.take(codes).set_axis(rows.index) for column in (own, values.notna()))
        rows[axis] = own.where(is_there, rows[axis]) if axis in rows else own
    return rows
