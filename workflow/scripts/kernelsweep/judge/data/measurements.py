"""Load measurements.csv, sorted and typed, for everything that reads results."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from kernelsweep.errors import UserError
from kernelsweep.results import (
    ALL_POINT_COLUMNS,
    CONTRACT_COLUMNS,
    FLOATS,
    INTEGERS,
    INTERVAL,
    MEASUREMENT_COLUMNS,
    POINT_INTEGERS,
    PROOF_FAILED,
    TIME_DIGITS,
    Table,
    each_table,
    read_parameters,
)
from kernelsweep.scatter import USUAL_VISITS, fitted, range_squared, reach_of
from kernelsweep.statistics import CONFIDENCE

# An interval's end is at most so far from its time, by the ratio's logarithm: a factor of 22,026.
_FARTHEST = 10


def load_measurements(
    paths: Sequence[Path],
    study: str | None = None,
    unproven: Collection[tuple[str, str]] = (),
    left_out: Collection[str] = (),
) -> pandas.DataFrame:
    """The rows of all `paths`, sorted by study, kernel and point, whatever the order of the files.

    unproven  the kernels whose proof failed, by study and name: their rows get the flag PROOF_FAILED
    left_out  columns that nobody reads

    Each file is CSV with the columns of results.MEASUREMENT_COLUMNS, plain or `.csv.gz`; other columns are kept as
    text. An empty field becomes NaN in a column of numbers and "" in a column of text.
    Raises UserError as results.each_row(), and when a point occurs twice, or a row names none.
    """
    of_study = [study] if study else []
    read = (table for path in paths for table in each_table(path, CONTRACT_COLUMNS, studies=of_study))
    rows = as_measurements(frame(read, MEASUREMENT_COLUMNS), ", ".join(map(str, paths)), unproven)
    return rows.drop(columns=[*left_out])


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
    rows = with_flag(rows.sort_values(key, ignore_index=True), unproven, PROOF_FAILED)
    return _with_own_axes(_with_scatter(rows))


def _with_scatter(rows: pandas.DataFrame) -> pandas.DataFrame:
    """The rows, with 95% intervals of times that cover how processes scatter, as all points of a study show it.

    Three visits to a point may lie close together by chance: the interval that spans them contains the time in 75% of
    cases only. Points that were visited once keep their intervals, where no other point of the study tells more.
    """
    low, time, high = INTERVAL
    numbers = (
        rows[["visit_spread", "visits"]].apply(pandas.to_numeric, errors="coerce").fillna({"visits": USUAL_VISITS})
    )
    several = rows.assign(**numbers)[numbers["visit_spread"].notna() & rows[time].notna()]
    for _, timed in several.groupby(["study", "platform", "device"]):
        times, visits = timed[time].to_numpy(float), timed["visits"].to_numpy(int)
        own = timed["visit_spread"].to_numpy() ** 2 / timed["visits"].map(range_squared).to_numpy()
        processes = timed.groupby("kernel")["visits"].max()
        scatter = fitted(times, own, visits, int((processes - 1).sum()))
        assert scatter, "a group has rows"
        # A visit may be disturbed for long, and an end is still a number above zero.
        reach = np.exp(np.minimum(reach_of(times, own, visits, scatter, CONFIDENCE), _FARTHEST))
        # With a file's digits, so that all readers have the same.
        rows.loc[timed.index, low] = np.minimum(timed[low], times / reach).round(TIME_DIGITS).clip(10**-TIME_DIGITS)
        rows.loc[timed.index, high] = np.maximum(timed[high], times * reach).round(TIME_DIGITS)
    return rows


def covering(paths: Iterable[str | Path], studies: Collection[str] = ()) -> Iterator[Table]:
    """The rows of all `paths` by results.each_table(), with the intervals that load_measurements() gives them.

    The files are read twice: what a study's points tell is known at its last one.
    """
    paths = [*paths]

    def tables() -> Iterator[Table]:
        return (table for path in paths for table in each_table(path, studies=studies))

    told = ({name: table[name] for name in _OF_SCATTER if name in table} for table in tables())
    rows = _with_scatter(frame(told, _OF_SCATTER))
    ends = {end: iter(rows[end]) for end in INTERVAL[::2]}
    for table in tables():
        pairs = {end: zip(table["time_us"], values, strict=False) for end, values in ends.items()}
        texts = {end: [f"{at:.{TIME_DIGITS}f}" if time else "" for time, at in of] for end, of in pairs.items()}
        yield {**table, **texts}


_OF_SCATTER = ("study", "kernel", "platform", "device", *INTERVAL, "visit_spread", "visits")


def with_flag(rows: pandas.DataFrame, kernels: Iterable[tuple[str, str]], flag: str) -> pandas.DataFrame:
    """The rows with one more flag on those of some kernels, by study and name."""
    for study, kernel in kernels:
        flags = rows["flags"]
        chosen = (rows["study"] == study) & (rows["kernel"] == kernel)
        rows = rows.assign(flags=flags.mask(chosen, (flags + f" {flag}").str.strip()))
    return rows


def frame(tables: Iterable[Table], columns: Sequence[str], numbers: Sequence[str] = ()) -> pandas.DataFrame:
    """The rows of results.each_table() as a frame, with `columns` first, even where no row has them.

    A text that several rows have is in memory once: a million rows take 400 MB.

    numbers  the columns of numbers besides results.INTEGERS and FLOATS; all others hold texts
    """
    numeric, size = {*INTEGERS, *FLOATS, *numbers}, 0
    found: dict[str, array[Any]] = {}
    # A text's place among its column's.
    known = defaultdict[str, defaultdict[str, int]](_places)
    for table in chain([dict[str, list[str]].fromkeys(columns, [])], tables):
        # Some files may lack a column that `columns` doesn't name.
        found |= {name: array("d" if name in numeric else "i") for name in table if name not in found}
        size += len(next(iter(table.values()), ()))
        for name, column in found.items():
            texts = [*[""] * (size - len(column) - len(table.get(name, ()))), *table.get(name, ())]
            if name in numeric:
                column.extend([float(text) if text else nan for text in texts])
            else:
                column.extend(map(known[name].__getitem__, texts))
    joined = dict[str, Any]()
    for name in [*found]:
        values = np.asarray(found.pop(name))
        if name not in numeric:
            joined[name] = pandas.Series(pandas.Categorical.from_codes(values, pandas.Index(known.pop(name)))).astype(
                "str"
            )
        elif name not in INTEGERS:
            joined[name] = values
        else:  # A study without an axis of this name has empty fields.
            is_whole = name in POINT_INTEGERS and not np.isnan(values).any()
            joined[name] = pandas.Series(values).astype("int64" if is_whole else "Int64")
    return pandas.DataFrame(joined, copy=False)


def _places() -> defaultdict[str, int]:
    places = defaultdict[str, int]()
    places.default_factory = places.__len__
    return places


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
