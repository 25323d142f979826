"""A study's table: one row a step of its ladder, measured and published side by side, as CSV, Markdown and LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas

from kernelsweep.measurements import (
    UNDEFINED_BEHAVIOUR,
    at_reference,
    device_text,
    has_times,
    ladder_steps,
    reference_text,
    step_name,
    undefined_kernels,
)
from kernelsweep.published import Published

# Present only on a platform with times.
TIME_COLUMNS = (
    "time_us",
    "time_low_us",
    "time_high_us",
    "noise",
    "speedup",
    "bandwidth_gbs",
    "peak_fraction",
)
TABLE_COLUMNS = (
    "kernel",
    "unroll",
    "block_size",
    "status",
    *TIME_COLUMNS,
    "published_time_us",
    "published_speedup",
    "points_right",
    "points_run",
    "points_skipped",
    "failures",
    "flags",
    "message",
)
INTEGER_COLUMNS = ("unroll", "block_size", "points_right", "points_run", "points_skipped")
TEXT_COLUMNS = ("kernel", "status", "failures", "flags", "message")

# The status of a step whose reference point is in no row, and of a published row that is no step of ours.
NOT_MEASURED = "not_measured"
PUBLISHED_ONLY = "published_only"

EMPTY = "–"
# Four digits tell apart what the intervals tell apart (about 0.2% of a median); more would be noise.
TIME_DIGITS = 4
# A reader of a table cell's note needs the first line of a compiler's message, not its pages.
MESSAGE_LENGTH = 200

FLAG_NOTES = {
    UNDEFINED_BEHAVIOUR: (
        "Undefined behaviour in CUDA: result and time may change with the compiler or the GPU;"
        " measured, never a baseline."
    ),
    "noisy": "Noisy: the samples scatter more than the protocol allows; see `noise` in table.csv.",
}

LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "µ": r"$\mu$",
    "×": r"$\times$",
    "−": r"$-$",
    "–": "--",
    "…": r"\ldots{}",
    "|": r"\textbar{}",
}
SUPERSCRIPT_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"


@dataclass(frozen=True)
class _Column:
    """A formatted column: plain text cells, set right when they are numbers."""

    header: str
    cells: Sequence[str]
    right: bool = True


def study_table(
    study: Mapping[str, Any],
    measurements: pandas.DataFrame,
    device: Mapping[str, Any],
    published: Published | None,
) -> pandas.DataFrame:
    """One row a ladder step, in the ladder's order, then the published rows that are no step of ours.

    Columns (`TABLE_COLUMNS`):
      kernel, unroll, block_size    the step at the reference point
      status                        of that point: one of `results.STATUSES`, `not_measured` or `published_only`
      time_us, time_low_us, time_high_us, noise, bandwidth_gbs, peak_fraction
                                    as in measurements.csv; NaN unless the status is `ok`
      speedup                       the first step's time over this step's; NaN where either has none
      published_time_us, published_speedup
                                    the same from the publication, against its time for the same first step
      points_right, points_run, points_skipped
                                    over the kernel's whole sweep (all its unroll factors): right, attempted, skipped
      failures                      what became of the others: "2 wrong_result, 1 timed_out"
      flags, message                of the reference point
    On a device without times the time columns are left out.
    Raises ValueError when `measurements` hold several studies.
    """
    reference = at_reference(study, measurements)
    steps = ladder_steps(study)
    rows = [_step_row(kernel, unroll, study, reference) | _points(kernel, measurements) for kernel, unroll in steps]
    undefined = undefined_kernels(measurements)
    for row in rows:
        # A property of the kernel, so said even where the sweep has no row at the reference point.
        if row["status"] == NOT_MEASURED and row["kernel"] in undefined:
            row["flags"] = UNDEFINED_BEHAVIOUR
    if published is not None:
        rows += [
            {"kernel": kernel, "unroll": unroll, "status": PUBLISHED_ONLY}
            for kernel, unroll in published.times_us
            if (kernel, unroll) not in steps
        ]
        for row in rows:
            row["published_time_us"] = published.times_us.get((row["kernel"], row["unroll"]))
    table = pandas.DataFrame(rows, columns=list(TABLE_COLUMNS))
    table = table.astype(dict.fromkeys(INTEGER_COLUMNS, "Int64"))
    table = table.astype({column: "float64" for column in TIME_COLUMNS} | {"published_time_us": "float64"})
    table[list(TEXT_COLUMNS)] = table[list(TEXT_COLUMNS)].astype(object).fillna("").astype(str)
    table["speedup"] = table["time_us"].iloc[0] / table["time_us"]
    table["published_speedup"] = table["published_time_us"].iloc[0] / table["published_time_us"]
    return table if has_times(device) else table.drop(columns=list(TIME_COLUMNS))


def _step_row(kernel: str, unroll: int, study: Mapping[str, Any], reference: pandas.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = {
        "kernel": kernel,
        "unroll": unroll,
        "block_size": study["reference"]["block_size"],
        "status": NOT_MEASURED,
    }
    found = reference[(reference["kernel"] == kernel) & (reference["unroll"] == unroll)]
    if found.empty:
        return row
    point = found.iloc[0]
    row |= {column: point[column] for column in ("status", "flags", "message")}
    if point["status"] == "ok":
        row |= {column: point[column] for column in TIME_COLUMNS if column != "speedup"}
    return row


def _points(kernel: str, measurements: pandas.DataFrame) -> dict[str, Any]:
    counts = measurements.loc[measurements["kernel"] == kernel, "status"].value_counts()
    failed = counts.drop(["ok", "skipped"], errors="ignore").sort_index()
    return {
        "points_right": counts.get("ok", 0),
        "points_run": counts.sum() - counts.get("skipped", 0),
        "points_skipped": counts.get("skipped", 0),
        "failures": ", ".join(f"{count} {status}" for status, count in failed.items()),
    }


def as_csv(table: pandas.DataFrame) -> str:
    """The table for programs: raw numbers, units in the column names, an empty field where there is no value."""
    return str(table.to_csv(index=False, lineterminator="\n"))


def as_markdown(
    table: pandas.DataFrame, study: Mapping[str, Any], device: Mapping[str, Any], published: Published | None
) -> str:
    """The table for readers: a heading, where the numbers come from, the formatted rows, their notes."""
    marks, notes = _notes(table, study, device)
    columns = _columns(table, published)
    names = [
        f"`{kernel}`" + (f" <sup>{','.join(str(mark) for mark in row_marks)}</sup>" if row_marks else "")
        for kernel, row_marks in zip(table["kernel"], marks, strict=True)
    ]
    columns = [_Column("kernel", names, right=False), *columns]
    lines = [
        f"## {study['title']}",
        "",
        _provenance(study, device, published),
        "",
        *_markdown_rows(columns),
        "",
        *(f"<sup>{mark}</sup> {note}  " for mark, note in enumerate(notes, start=1)),
        *([""] if notes else []),
        _explanation(table, device),
        "",
    ]
    return "\n".join(lines)


def _markdown_rows(columns: Sequence[_Column]) -> list[str]:
    cells = [[column.header, *column.cells] for column in columns]
    cells = [[text.replace("|", r"\|") for text in column] for column in cells]
    widths = [max(len(text) for text in column) for column in cells]

    def line(texts: Sequence[str]) -> str:
        padded = (
            text.rjust(width) if column.right else text.ljust(width)
            for text, width, column in zip(texts, widths, columns, strict=True)
        )
        return f"| {' | '.join(padded)} |"

    rule = [
        "-" * (width - 1) + ":" if column.right else "-" * width for width, column in zip(widths, columns, strict=True)
    ]
    header, *rows = zip(*cells, strict=True)
    return [line(header), line(rule), *(line(row) for row in rows)]


def as_latex(
    table: pandas.DataFrame, study: Mapping[str, Any], device: Mapping[str, Any], published: Published | None
) -> str:
    r"""The table for a paper: a `table` environment with caption and label; needs only the package booktabs.

    The label is `tab:` and the title up to its colon, in lower case: `tab:unrolling`.
    """
    marks, notes = _notes(table, study, device)
    columns = _columns(table, published)
    header = " & ".join(["kernel", *(_heading(column.header) for column in columns)])
    body = []
    for index, kernel in enumerate(table["kernel"]):
        name = rf"\texttt{{{_escape(kernel)}}}"
        if marks[index]:
            name += rf"\textsuperscript{{{','.join(str(mark) for mark in marks[index])}}}"
        body.append(" & ".join([name, *(_escape(column.cells[index]) for column in columns)]) + r" \\")
        if index + 1 < len(table) and table["status"].iloc[index + 1] == PUBLISHED_ONLY != table["status"].iloc[index]:
            body.append(r"\midrule")
    label = re.sub(r"[^a-z0-9]+", "-", str(study["title"]).split(":")[0].lower()).strip("-")
    caption = f"{str(study['title']).rstrip('.')}. {_provenance(study, device, published)}"
    footnotes = [rf"\textsuperscript{{{mark}}}\,{_escape(note)}" for mark, note in enumerate(notes, start=1)]
    lines = [
        r"% Needs \usepackage{booktabs}. In two-column text, use table* instead of table.",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{_escape(caption)}}}",
        rf"  \label{{tab:{label}}}",
        r"  \scriptsize",
        r"  \setlength{\tabcolsep}{3pt}",
        rf"  \begin{{tabular}}{{@{{}}l{''.join('r' if column.right else 'l' for column in columns)}@{{}}}}",
        r"    \toprule",
        rf"    {header} \\",
        r"    \midrule",
        *(f"    {line}" for line in body),
        r"    \bottomrule",
        r"  \end{tabular}",
        "",
        r"  \smallskip",
        r"  \begin{minipage}{\linewidth}\raggedright",
        *(f"    {line}" + r"\\" for line in footnotes),
        f"    {_escape(_explanation(table, device))}",
        r"  \end{minipage}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def _heading(header: str) -> str:
    r"""A column's header on two lines, unit or device below, so that columns stay as narrow as their numbers."""
    first, bracket, second = header.partition(" (")
    if not bracket:
        return _escape(header)
    return rf"\begin{{tabular}}[b]{{@{{}}r@{{}}}}{_escape(first)}\\({_escape(second)}\end{{tabular}}"


def _escape(text: str) -> str:
    escaped = "".join(LATEX_SPECIAL.get(character, character) for character in text.replace("`", ""))
    return re.sub(
        f"[{SUPERSCRIPT_DIGITS}]+",
        lambda match: rf"\textsuperscript{{{''.join(str(SUPERSCRIPT_DIGITS.index(digit)) for digit in match[0])}}}",
        escaped,
    )


def _columns(table: pandas.DataFrame, published: Published | None) -> list[_Column]:
    """The formatted columns after the kernel's name; those without a single value are left out."""
    columns = [
        _Column("unroll", _numbers(table["unroll"], 0)),
        _Column("block", _numbers(table["block_size"], 0)),
    ]
    if "time_us" in table:
        decimals = _decimals(table["time_us"])
        columns += [
            _Column("time (µs)", _times(table, decimals)),
            _Column("95% interval (µs)", _intervals(table, decimals)),
            _Column("speedup", _numbers(table["speedup"], 2, "×")),
            _Column("bandwidth (GB/s)", _numbers(table["bandwidth_gbs"], 0)),
        ]
        if table["peak_fraction"].notna().any():
            columns.append(_Column("of peak", _numbers(table["peak_fraction"] * 100, 1, "%")))
    if published is not None:
        times = table["published_time_us"]
        columns += [
            _Column(f"{published.label} (µs)", _numbers(times, _decimals(times))),
            _Column(f"{published.label} (speedup)", _numbers(table["published_speedup"], 2, "×")),
        ]
    return [*columns, _Column("right", [_right(row) for _, row in table.iterrows()])]


def _decimals(values: pandas.Series[float]) -> int:
    """Decimals for a column of times: enough for its smallest value to show TIME_DIGITS digits."""
    if values.notna().sum() == 0:
        return 0
    return min(max(TIME_DIGITS - 1 - math.floor(math.log10(values.min())), 0), TIME_DIGITS - 1)


def _numbers(values: pandas.Series[Any], decimals: int, unit: str = "") -> list[str]:
    return [EMPTY if pandas.isna(value) else f"{value:.{decimals}f}{unit}" for value in values]


def _times(table: pandas.DataFrame, decimals: int) -> list[str]:
    """The times; where a step of ours has none, its status stands in the place."""
    instead = table["status"].where(table["status"] != PUBLISHED_ONLY, EMPTY).str.replace("_", " ")
    texts = _numbers(table["time_us"], decimals)
    return [word if text == EMPTY else text for text, word in zip(texts, instead, strict=True)]


def _intervals(table: pandas.DataFrame, decimals: int) -> list[str]:
    low, high = (_numbers(table[column], decimals) for column in ("time_low_us", "time_high_us"))
    return [EMPTY if EMPTY in pair else "–".join(pair) for pair in zip(low, high, strict=True)]


def _right(row: pandas.Series[Any]) -> str:
    if row["status"] == PUBLISHED_ONLY:
        return EMPTY
    text = f"{row['points_right']} of {row['points_run']}"
    if row["failures"]:
        text += f"; {row['failures'].replace('_', ' ')}"
    return text + (f"; {row['points_skipped']} skipped" if row["points_skipped"] else "")


def _notes(
    table: pandas.DataFrame, study: Mapping[str, Any], device: Mapping[str, Any]
) -> tuple[list[list[int]], list[str]]:
    """Each row's footnote numbers (from 1), and the footnotes."""
    notes: list[str] = []
    marks: list[list[int]] = []
    for _, row in table.iterrows():
        texts = [FLAG_NOTES.get(flag, flag.replace("_", " ") + ".") for flag in row["flags"].split()]
        if row["status"] == NOT_MEASURED and has_times(device):
            texts.append(f"Not measured: the sweep has no row at {reference_text(study)}.")
        elif row["status"] not in ("ok", PUBLISHED_ONLY, NOT_MEASURED):
            message = " ".join(row["message"].split())
            message = message if len(message) <= MESSAGE_LENGTH else message[: MESSAGE_LENGTH - 1] + "…"
            texts.append(f"At {reference_text(study)}: {row['status'].replace('_', ' ')}; {message or 'no message'}")
        notes += [text for text in texts if text not in notes]
        marks.append([notes.index(text) + 1 for text in texts])
    return marks, notes


def _provenance(study: Mapping[str, Any], device: Mapping[str, Any], published: Published | None) -> str:
    text = f"{device_text(device)}; reference point: {reference_text(study)}"
    if published is not None:
        text += f"; {published.label}: {published.device} ({published.source})"
    return text + "."


def _explanation(table: pandas.DataFrame, device: Mapping[str, Any]) -> str:
    first = step_name(table["kernel"].iloc[0], table["unroll"].iloc[0])
    texts = []
    if has_times(device):
        texts.append("Time: median over the samples, with the confidence interval of that median.")
        peak = device["peak_bandwidth_gbs"]
        texts.append(
            "Bandwidth: each input byte counted once"
            + ("." if peak is None else f"; the memory's theoretical peak is {peak:.0f} GB/s.")
        )
    else:
        texts.append("No times of ours: this platform has no clock that means something.")
    texts.append(f"Speedup: against `{first}` on the same device.")
    texts.append("Right: points of the kernel's whole sweep, all its unroll factors, whose result was right.")
    return " ".join(texts)
