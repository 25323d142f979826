"""The table of a study of exchanges: the elements that each left of a small array, beside the published ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas

from kernelsweep.analysis.reference import UNDEFINED_BEHAVIOUR, undefined_kernels, with_shown_output
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import device_text
from kernelsweep.publish.tables.formats import EMPTY, Column, TableText, numbers
from kernelsweep.publish.tables.point_notes import (
    NOT_MEASURED,
    POINT_COUNTS,
    PUBLISHED_ONLY,
    failure_note,
    flag_notes,
    numbered,
    point_counts,
    right_text,
)

PUBLISHED_COLUMNS = ("published_output", "same")
TABLE_COLUMNS = (
    "kernel",
    "arguments",
    "width",
    "block_size",
    "unroll",
    "status",
    "output",
    *PUBLISHED_COLUMNS,
    *POINT_COUNTS,
    "failures",
    "flags",
    "message",
)
# The columns that a row copies from its point.
MEASURED_COLUMNS = ("width", "block_size", "unroll", "status", "output", "flags", "message")
INTEGER_COLUMNS = ("width", "block_size", "unroll", *POINT_COUNTS)
TEXT_COLUMNS = tuple(column for column in TABLE_COLUMNS if column not in INTEGER_COLUMNS)


def exchange_table(data: StudyData) -> pandas.DataFrame:
    """One row for each published exchange, in the publication's order, then the study's kernels without one.

    Columns (`TABLE_COLUMNS`):
      kernel, arguments             the exchange
      width, block_size, unroll     lanes of a group, threads of the block, elements a thread: an array in one thread
                                    block, as long as the published output or the reference point's array
      status                        of that point: one of `results.STATUSES`, `not_measured`, or `published_only` where
                                    the study has no such kernel
      output                        the elements that it left, in order
      published_output, same        the published ones, and whether ours are those: yes or no, empty where either is
                                    missing; without a publication the columns are left out
      points_right, points_run, points_skipped
                                    over the kernel's whole sweep, all its arguments: right, attempted, skipped
      failures                      the statuses of the others: "2 wrong_result, 1 timed_out"
      flags, message                of the point
    """
    outputs = {} if data.published is None else data.published.outputs
    exchanges = list(outputs)
    for kernel in data.settings["kernels"]:
        if kernel["name"] not in {name for name, _ in outputs}:
            exchanges.append((kernel["name"], _first_arguments(kernel, data)))
    reference = with_shown_output(data.settings, data.measurements)
    undefined = undefined_kernels(data.measurements)
    rows = []
    for kernel, arguments in exchanges:
        row: dict[str, Any] = {"kernel": kernel, "arguments": arguments, "status": PUBLISHED_ONLY}
        if kernel in data.kernel_names:
            row |= {"status": NOT_MEASURED, "width": data.settings["reference"]["block_size"]}
            row |= {"flags": UNDEFINED_BEHAVIOUR if kernel in undefined else ""}
            row |= point_counts(kernel, data.measurements)
        elements = len(outputs.get((kernel, arguments), "").split()) or data.settings["reference"]["array_size"]
        found = reference[(reference["kernel"] == kernel) & (reference["arguments"] == arguments)]
        found = found[found["array_size"] == elements]
        if not found.empty:
            row |= {column: found[column].iloc[0] for column in MEASURED_COLUMNS}
        row["published_output"] = outputs.get((kernel, arguments), "")
        if row["published_output"] and pandas.notna(row.get("output")) and row["output"]:
            row["same"] = "yes" if row["output"] == row["published_output"] else "no"
        rows.append(row)
    table = pandas.DataFrame(rows, columns=list(TABLE_COLUMNS)).astype(dict.fromkeys(INTEGER_COLUMNS, "Int64"))
    table[list(TEXT_COLUMNS)] = table[list(TEXT_COLUMNS)].astype(object).fillna("").astype(str)
    return table if data.published is not None else table.drop(columns=list(PUBLISHED_COLUMNS))


def _first_arguments(kernel: Mapping[str, Any], data: StudyData) -> str:
    """The first arguments that the study gives the kernel; where only a platform has some, the first measured."""
    axes = {**data.settings["axes"], **kernel["axes"]}
    measured = data.measurements.loc[data.measurements["kernel"] == kernel["name"], "arguments"]
    return str([*axes.get("arguments", []), *measured, ""][0])


def exchange_text(table: pandas.DataFrame, data: StudyData) -> TableText:
    """The table that exchange_table() made, for readers."""
    published, place = data.published, _place(data.settings)
    marks, notes = numbered([_notes(row, place) for _, row in table.iterrows()])
    columns = [Column("arguments", [text or EMPTY for text in table["arguments"]], right=False, names=True)]
    columns.append(Column("width", numbers(table["width"], 0), apart=True))
    if (table["unroll"].dropna() != 1).any():
        columns.append(Column("elements a thread", numbers(table["unroll"], 0), apart=True))
    columns.append(Column("output", [_output(row) for _, row in table.iterrows()], right=False))
    if published is not None:
        columns += [
            Column(published.label, [text or EMPTY for text in table["published_output"]], right=False),
            Column("same", [text or EMPTY for text in table["same"]], right=False),
        ]
    columns.append(Column("right", [right_text(row) for _, row in table.iterrows()], apart=True))
    elements = data.settings["reference"]["array_size"]
    source = "" if published is None else f"; {published.label}: {published.file}"
    return TableText(
        title=data.title,
        provenance=f"{device_text(data.device)}; outputs of {place}{source}.",
        kernels=list(table["kernel"]),
        marks=marks,
        columns=columns,
        notes=notes,
        explanation=(
            f"Output: where element i of the input is the number i. Most have {elements} elements."
            " Width: lanes of a group. Right: points of the kernel's whole sweep, all its arguments and widths,"
            " whose every element was right."
        ),
        main_rows=len(table),
    )


def _place(study: Mapping[str, Any]) -> str:
    """The point whose outputs are shown, in words."""
    reference = study["reference"]
    return f"elements of {reference['dtype']} in one thread block, groups of {reference['block_size']} lanes"


def _output(row: pandas.Series[Any]) -> str:
    """The elements, or the status of the point that left none."""
    return row["output"] or (EMPTY if row["status"] == PUBLISHED_ONLY else str(row["status"]).replace("_", " "))


def _notes(row: pandas.Series[Any], place: str) -> list[str]:
    texts = flag_notes(row)
    if row["status"] == NOT_MEASURED:
        texts.append(f"Not measured: the sweep has no row for these arguments at {place}.")
    if row.get("same") == "no":
        texts.append("The output is not the published one.")
    return texts + failure_note(row, place)
