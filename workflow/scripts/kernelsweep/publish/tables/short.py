"""The short table for a paper: six columns that fit one column of a two-column page, with one line below them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import pandas

from kernelsweep.analysis.objective import quantity_of_row
from kernelsweep.analysis.places import kernel_axes, shown_place, varied
from kernelsweep.analysis.reference import UNDEFINED_BEHAVIOUR
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import UNDEFINED_MARK, axis_value
from kernelsweep.judge.best.best_words import place_text
from kernelsweep.publish.tables.formats import EMPTY, Column, TableText, numbers, shown_decimals
from kernelsweep.publish.tables.ladder_text import NO_TIMES_OF_OURS
from kernelsweep.results import EDITED, PROOF_FAILED
from kernelsweep.sweep.study_quantities import Quantity, quantities_of

_STEP_AXES = ("block_size", "unroll", "grid_size")
_AXIS_WORDS = {"block_size": "block size", "unroll": "unroll factor", "grid_size": "thread blocks"}
_MARKS = {UNDEFINED_BEHAVIOUR: UNDEFINED_MARK, PROOF_FAILED: " ‡", EDITED: " §"}
_MARK_WORDS = {UNDEFINED_MARK: "undefined behaviour", " ‡": "a proof found a mistake", " §": "recorded before an edit"}


def short_table(table: pandas.DataFrame, data: StudyData) -> TableText | str:
    """The rows of a study's kernels and of libraries, for LaTeX; or why there are none.

    table  as of_study.table_of() makes it

    The number in brackets behind a time is the longer part of its 95% interval to either side, in units of the time's
    last digit: 25.63(11) covers 25.52 to 25.74.
    """
    if not data.has_times or "time_us" not in table:
        return NO_TIMES_OF_OURS if not data.has_times else "This study compares outputs, not times."
    steps = len(data.steps) or len(data.kernel_names)
    below = table.iloc[steps:]
    rows = pandas.concat([table.iloc[:steps], below[below["kernel"].isin(data.settings["rivals"])]])
    axes = [axis for axis in _axes(data) if rows[axis].notna().any()]
    header, values = _throughput(rows, data)
    columns = [
        Column("configuration", [_configuration(row, axes) for _, row in rows.iterrows()], right=False),
        Column("time (µs)", _times(rows)),
        Column(header, values),
        Column("of peak (%)", numbers(rows["peak_fraction"] * 100, 1)),
        Column("speedup", numbers(rows["speedup"], 2)),
    ]
    marks = [[mark for flag, mark in _MARKS.items() if flag in flags.split()] for flags in rows["flags"]]
    names = [kernel + "".join(signs) for kernel, signs in zip(rows["kernel"], marks, strict=True)]
    return TableText(
        title=data.title,
        provenance=f"{data.device['name']}, {place_text(shown_place(data))}.",
        kernels=names,
        marks=[[] for _ in names],
        columns=[column for column in columns if set(column.cells) != {EMPTY}],
        notes=[],
        explanation=_explanation(rows, axes, {mark for signs in marks for mark in signs}, data),
        main_rows=steps,
    )


def _axes(data: StudyData) -> list[str]:
    """The axes that a configuration is told by."""
    if not data.steps:
        return varied(data.kernel_rows, kernel_axes(data.settings))
    has_grids = any(step.grid_size is not None for step in data.steps)
    return [axis for axis in _STEP_AXES if axis != "grid_size" or has_grids]


def _configuration(row: pandas.Series[Any], axes: Sequence[str]) -> str:
    """A row's values on the axes: `512×8`; on a study's own axes `float32/64/4`."""
    known = [axis for axis in axes if not pandas.isna(row[axis])]
    return _between(axes).join(axis_value(axis, row[axis]) for axis in known) or EMPTY


def _between(axes: Sequence[str]) -> str:
    """The sign between values on the axes."""
    return "×" if set(axes) <= set(_STEP_AXES) else "/"


def _times(rows: pandas.DataFrame) -> list[str]:
    """Times with the longer sides of their intervals, or the statuses of rows without one."""
    cells = []
    for place, (_, row) in enumerate(rows.iterrows()):
        decimals = shown_decimals(rows["time_us"].iloc[[place]])
        if pandas.isna(row["time_us"]):
            cells.append(str(row["status"]).replace("_", " "))
            continue
        side = max(row["time_us"] - row["time_low_us"], row["time_high_us"] - row["time_us"])
        # Rounded up, so that it covers the interval; not by the last bit of a binary fraction.
        cells.append(f"{row['time_us']:.{decimals}f}({math.ceil(round(side * 10**decimals, 6))})")
    return cells


def _throughput(rows: pandas.DataFrame, data: StudyData) -> tuple[str, list[str]]:
    """The header and the values of the study's own quantity, or else of its arithmetic, or of its bytes."""
    if own := list(data.settings.get("quantities") or ()):
        quantity = quantities_of(data.settings)[own[0]]
        return quantity.unit, [_quantity(quantity, row, data) for _, row in rows.iterrows()]
    is_arithmetic = "gflops" in rows and rows["gflops"].notna().any()
    return ("GFLOP/s", numbers(rows["gflops"], 0)) if is_arithmetic else ("GB/s", numbers(rows["bandwidth_gbs"], 0))


def _quantity(quantity: Quantity, row: pandas.Series[Any], data: StudyData) -> str:
    found = None if pandas.isna(row["time_us"]) else quantity_of_row(quantity, dict(row), data.settings)
    return EMPTY if found is None else f"{found.value:.{shown_decimals(pandas.Series([found.value]))}f}"


def _explanation(rows: pandas.DataFrame, axes: Sequence[str], marks: Collection[str], data: StudyData) -> str:
    """The line below the table."""
    words = f" {_between(axes)} ".join(_AXIS_WORDS.get(axis, axis) for axis in axes)
    texts = [f"Configuration: {words}"] if axes else []
    texts.append("in brackets: 95% interval of the last digits")
    if rows["peak_fraction"].notna().any():
        of_memory = "peak_of" not in rows or set(rows["peak_of"].dropna()) <= {"memory"}
        texts.append(f"peak: {data.device['peak_bandwidth_gbs']:,.0f} GB/s" if of_memory else "peak: the nearest one")
    texts += [f"{mark.strip()}: {meaning}" for mark, meaning in _MARK_WORDS.items() if mark in marks]
    return f"{'; '.join(texts)}."
