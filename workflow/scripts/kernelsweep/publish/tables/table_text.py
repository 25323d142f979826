"""A study's table for readers, its counters below it, and the short table for a paper."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import pandas

from kernelsweep.device.arithmetic_peak import arithmetic_peak_gflops, why_unknown
from kernelsweep.errors import check_known
from kernelsweep.judge.best.best_words import (
    chosen_text,
    is_short,
    libraries_text,
    sizes_text,
    some_of,
    use_rows,
)
from kernelsweep.judge.best.find import LITTLE, Use, reference_uses
from kernelsweep.judge.data.published import SPEEDUP, TIME
from kernelsweep.judge.data.reference import UNDEFINED_BEHAVIOUR, undefined_kernels
from kernelsweep.judge.data.step_metrics import by_step, heading, shown_metrics, sources, step_metrics, title, unit_of
from kernelsweep.judge.data.steps import varied_axes
from kernelsweep.judge.data.study_data import StudyData, kernel_axes, shown_place, size_axes, swept_values, varied
from kernelsweep.judge.data.words import (
    UNDEFINED_MARK,
    axis_value,
    configuration_values,
    device_text,
    kernel_text,
    limit_text,
    place_text,
    reference_text,
    small_number,
    values_text,
)
from kernelsweep.publish.tables.formats import EMPTY, Column, TableText, decimals, four_digits, interval_text, numbers
from kernelsweep.publish.tables.published_text import PublishedColumn, published_tables
from kernelsweep.publish.tables.study_table import (
    KERNEL_ROW,
    NO_STEP,
    NOT_MEASURED,
    RIVAL_ROW,
    place_of_table,
    published_columns,
)
from kernelsweep.results import COUNTED, EDITED, MESSAGE_LENGTH, PROOF_FAILED, arithmetic_of
from kernelsweep.study.settings import StudySettings

# In LaTeX, the letters on a line of sizes, of a configuration, and of one with its kernel, also beside its peak's name.
_SIZES, _CONFIGURATION, _USE, _NARROW_USE = 18, 36, 30, 22

NO_TIMES_OF_OURS = "The emulator has no times."

_FLAGS = {
    UNDEFINED_BEHAVIOUR: (
        "Undefined behaviour in CUDA: result and time may change with the compiler or the GPU;"
        " measured, and compared with published steps alone."
    ),
    "noisy": "Noisy: a visit reached its limit of samples or seconds before its median was as precise as asked.",
    "imprecise": "Imprecise: the 95% interval is wider than asked (measuring.relative_precision).",
    "throttled": "Throttled: too few samples at the full clock.",
    "once_wrong": "Wrong in an earlier run of the same code, and right now: its result is not to be relied on.",
    "runs_again": "Maybe the machine's fault: the next command runs it again.",
    "set_clocks": "The GPU's clock was held by a setting of the user's.",
    "other_processes": "Other processes were on the GPU.",
    PROOF_FAILED: "A check found a mistake in this kernel (proofs.csv): never the best, in no claim.",
    EDITED: "Recorded before an edit of this kernel.",
    "partial_barrier": "Partial barrier: threads passed one only because others of their block had ended.",
    "graph": "Timed as one CUDA graph, because it has more than 300 launches: they start sooner than in a stream.",
    "leaves_state": "Leaves something in a `__device__` variable: each timed run finds it as it was at first.",
}

_IN_ITALICS = (
    "Italics: published numbers, with device and source. A published speedup is over that source's first step."
)

# With more axes, several share a column.
_MOST_AXES = 5
# Ties beyond the closest are counted: a table's column has little room.
_MOST_TIES = 2


def table_text(table: pandas.DataFrame, data: StudyData) -> TableText:
    """The table that study_table() made, without columns that say nothing, and its counters below it.

    Without times, its numbers are of a kernel's whole sweep: there is a row for each kernel, and the sweep is named.
    """
    where = place_of_table(data)
    is_timed = data.has_times and not data.compares_outputs
    rows = table if is_timed else table.drop_duplicates("kernel")
    told = [*(_of_points(table, data) if is_timed else ()), *_of_sweep(rows, " (all points)" * is_timed)]
    columns = [column for column in told if not {*column.cells} <= {"", EMPTY}]
    marks, notes = _numbered([_notes(row, where, data) for _, row in rows.iterrows()])
    return TableText(
        title=data.title,
        provenance=f"{device_text(data.device)}; {where if is_timed else values_text(swept_values(data))}.",
        kernels=[*map(kernel_text, rows["kernel"])],
        marks=marks,
        columns=columns,
        notes=notes,
        explanation=" ".join(_explanation(table, columns, data)),
        below=[
            *(() if is_timed else _beside_steps(table, data)),
            *_counters(data),
            *published_tables(data.published),
        ],
    )


def _beside_steps(table: pandas.DataFrame, data: StudyData) -> list[TableText]:
    """The published times and speedups of a study's steps, where there are no times of ours."""
    if not (columns := list(_published_columns(table, data))):
        return []
    return [
        TableText(
            title="Published, step by step",
            provenance="As printed; the sources' tables are below.",
            kernels=list(table["kernel"]),
            marks=[()] * len(table),
            columns=[*_step_columns(table, data), *columns],
            explanation="",
        )
    ]


def _axes(data: StudyData) -> list[str]:
    """The axes by which rows differ: of kernels, with several values in the sweep, that the study doesn't fix."""
    fixed = [*data.settings.reference] if data.steps else []
    if not any(step.grid_size for step in data.steps):
        fixed.append("grid_size")
    return [axis for axis in varied(data.kernel_rows, kernel_axes(data.settings)) if axis not in fixed]


def _step_columns(table: pandas.DataFrame, data: StudyData) -> Iterable[Column]:
    """A column per axis; of many, one per word for several, such as block=32×16."""
    if len(axes := _axes(data)) > _MOST_AXES:
        known = [{axis: row[axis] for axis in axes if pandas.notna(row[axis])} for _, row in table.iterrows()]
        words = [*map(configuration_values, known)]
        for name in dict.fromkeys(name for of_row in words for name in of_row):
            yield Column(name, [of_row.get(name, EMPTY) for of_row in words])
        return
    for axis in axes:
        cells = [EMPTY if pandas.isna(value) else axis_value(axis, value) for value in table[axis]]
        yield Column({"grid_size": "grid"}.get(axis, axis), cells)


def _published_columns(table: pandas.DataFrame, data: StudyData) -> Iterable[Column]:
    for one, what, _ in _published_times(data):
        # Libraries and limits follow the steps.
        yield Column(f"*{one.origin}* {what}", [*one.cells, *[EMPTY] * (len(table) - len(one.cells))])


def _of_points(table: pandas.DataFrame, data: StudyData) -> Iterable[Column]:
    """The columns of the point that a row names."""
    yield from _step_columns(table, data)
    yield Column("time (µs)", _times(table))
    yield Column("95% interval (µs)", [interval_text(row) for _, row in table.iterrows()])
    if "fastest_us" in table:
        cells = [EMPTY if pandas.isna(time) else four_digits(time) for time in table["fastest_us"]]
        yield Column("fastest (µs)", cells)
    yield Column("speedup", _ratios(table["speedup"]))
    yield from _published_columns(table, data)
    nearest = {*table["peak_of"]} - {""}
    if not nearest or "memory" in nearest:
        yield Column("bandwidth (GB/s)", numbers(table["bandwidth_gbs"], 0))
    yield Column("of peak", numbers(table["peak_fraction"] * 100, 1, "%"))
    for limit in data.settings.limits:
        yield Column(f"of {limit.replace('_', ' ')}", numbers(table[f"{limit}_fraction"] * 100, 1, "%"))
    yield Column("GFLOP/s", numbers(table["gflops"], 0))
    if "as_fast" in table:
        ties = [some_of(text.split("; "), _MOST_TIES) if text else EMPTY for text in table["as_fast"]]
        yield Column("as fast", ties, right=False)
    if (table["launches"].dropna() > 1).any():
        yield Column("launches", numbers(table["launches"], 0))
    errors = [
        EMPTY if pandas.isna(error) else small_number(error) if error else "0" for error in table["relative_error"]
    ]
    yield Column("relative error", errors)


def _of_sweep(table: pandas.DataFrame, of_all: str) -> Iterable[Column]:
    """The columns of all points of a kernel's sweep.

    of_all  what their heads say of it, beside columns of one point
    """
    shares = [EMPTY if pandas.isna(share) else f"{100 * share:.2g}%" for share in table["error_share_high"]]
    yield Column(f"largest error, of what is allowed{of_all}", shares)
    if (table["points_right"] < table["points_run"]).any() or table["points_skipped"].fillna(0).any():
        yield Column(f"right{of_all}", [_right(row) for _, row in table.iterrows()])
    if "proven" in table:
        yield Column("checked", [text or EMPTY for text in table["proven"]], right=False)


def _published_times(data: StudyData) -> list[tuple[PublishedColumn, str, int | None]]:
    """The published times and speedups, with the ends of their heads, and their decimals in LaTeX."""
    known = {TIME: ("(µs)", None), SPEEDUP: (SPEEDUP, 2)}
    return [(one, *known[one.quantity]) for one in published_columns(data) if one.quantity in known]


def _times(table: pandas.DataFrame) -> list[str]:
    """The times, or the status of a row of ours that has none."""
    instead = table["status"].str.replace("_", " ")
    return [
        word if pandas.isna(time) else four_digits(time) for time, word in zip(table["time_us"], instead, strict=True)
    ]


def _ratios(values: pandas.Series[float]) -> list[str]:
    digits = 3 if values.max() < 1.2 else 2  # So that a difference is seen.
    return [EMPTY if pandas.isna(value) else f"{value:.{digits if value >= 0.1 else 3}f}×" for value in values]


def _right(row: pandas.Series[Any]) -> str:
    """A kernel's points: `158 of 160; 2 wrong result; 20 skipped`."""
    if pandas.isna(row["points_run"]):
        return EMPTY
    texts = [f"{row['points_right']} of {row['points_run']}", row["failures"].replace("_", " ")]
    return "; ".join(filter(None, [*texts, f"{row['points_skipped']} skipped" if row["points_skipped"] else ""]))


def _notes(row: pandas.Series[Any], where: str, data: StudyData) -> list[str]:
    """What a reader has to know of a row: its flags, and why it has no right result."""
    texts = [_FLAGS.get(flag, flag.replace("_", " ") + ".") for flag in row["flags"].split()]
    if row["status"] == NOT_MEASURED and data.has_times and not data.compares_outputs:
        texts.append(f"Not measured: the sweep has no row at {where}.")
    if row["status"] not in ("ok", NO_STEP, NOT_MEASURED):
        message = " ".join(row["message"].split()) or "no message"
        message = message if len(message) <= MESSAGE_LENGTH else f"{message[: MESSAGE_LENGTH - 1]}…"
        texts.append(f"At {where}: {row['status'].replace('_', ' ')}; {message}")
    return texts


def _numbered(texts: Sequence[Sequence[str]]) -> tuple[list[list[int]], list[str]]:
    """Each row's footnote numbers (from 1), and the footnotes, each once."""
    notes = list(dict.fromkeys(text for row in texts for text in row))
    return [sorted(notes.index(text) + 1 for text in row) for row in texts], notes


def _explanation(table: pandas.DataFrame, columns: Sequence[Column], data: StudyData) -> list[str]:
    """Sentences on what the columns hold, and on the fastest configuration where each row is a kernel's."""
    heads = [column.header for column in columns]
    texts = [] if data.has_times or data.compares_outputs else [NO_TIMES_OF_OURS]
    if "as_fast" in table:
        texts.append("Each row: the kernel's fastest configuration at this point.")
    elif data.steps and "time_us" in table:
        texts.append("Each step has a fixed configuration. Fastest: its kernel's best one, which table.csv names.")
    if any(head.startswith("of ") for head in heads):
        texts += _peaks(data)
    if limits := data.settings.limits:
        texts += (
            [f"Limits, measured in the same run: {', '.join(map(limit_text, limits))}."] if "time_us" in table else []
        )
    texts += [_IN_ITALICS] if any("*" in head for head in heads) else []
    of_kernels = table.drop_duplicates("kernel")
    if not any(head.startswith("right") for head in heads):
        texts.append(f"All {of_kernels['points_run'].sum():,} points of these kernels' sweeps are right.")
    if repeated := of_kernels["repeated_points"].sum():
        same = of_kernels["bit_identical_points"].sum()
        texts.append(f"Repeated runs left the same bits at {same:,} of {repeated:,} floating-point points.")
    return texts


def _peaks(data: StudyData) -> list[str]:
    """What a share of a peak is, where the device has one."""
    kinds = filter(None, (arithmetic_of({"work": work}) for work in {*data.kernel_rows["work"]}))
    peaks = {kind: arithmetic_peak_gflops(data.device, kind) for kind in sorted({*kinds})}
    texts = [f"{gflops:,.0f} GFLOP/s of {kind}" for kind, gflops in peaks.items() if gflops]
    if peak := data.device["peak_bandwidth_gbs"]:
        texts.insert(0, f"memory {peak:,.0f} GB/s")
    missing = [why_unknown(data.device, kind) for kind, gflops in peaks.items() if not gflops]
    return [*([f"Theoretical peaks: {', '.join(texts)}."] if texts else []), *missing]


# Counters


def _counters(data: StudyData) -> list[TableText]:
    """The hardware metrics of a study's steps; none if they have not been collected."""
    metrics, steps = step_metrics(data), data.steps
    if not (names := shown_metrics(data, metrics)):
        return []
    named = metrics[metrics["metric"].isin(names)]
    who = sources(named, data.device)
    columns = [_counter(metrics, name, len(steps)) for name in names]
    constant = [column for column in columns if len({*column.cells}) == 1 < len(steps)]
    names = [name for name, column in zip(names, columns, strict=True) if column not in constant]
    columns = [column for column in columns if column not in constant]
    varied = varied_axes([step.axes for step in steps])
    columns = [*(Column(axis, [str(step.axes[axis]) for step in steps]) for axis in varied), *columns]
    definitions = data.metrics.definitions
    texts = ["Counters come from separate runs at the reference point, because collecting them slows a kernel."]
    texts += [f"{column.cells[0]} at each step: {column.header}." for column in constant]
    marks, notes = _numbered([_messages(named, number) for number in range(len(steps))])
    return [
        TableText(
            title="What the kernels do to memory" if set(named["source"]) == {COUNTED} else "Hardware counters",
            provenance=f"{who[:1].upper()}{who[1:]}; {reference_text(data.settings)}.",
            kernels=[step.kernel for step in steps],
            marks=marks,
            columns=columns,
            notes=notes,
            explanation=" ".join(texts),
            words={f"{title(name)[:1].upper()}{title(name)[1:]}": definitions[name]["meaning"] for name in names},
        )
    ]


def _counter(metrics: pandas.DataFrame, name: str, steps: int) -> Column:
    values, unit = by_step(metrics, name, steps), unit_of(metrics, name)
    return Column(heading(name, unit), numbers(values, 2 if unit == "%" else decimals(values.abs().max())))


def _messages(metrics: pandas.DataFrame, step: int) -> list[str]:
    """Why metrics of a step have no value: each reason once, with its metrics."""
    rows = metrics[(metrics["step"] == step) & (metrics["message"] != "")]
    return [
        f"{', '.join(map(title, of_message['metric']))}: {message}"
        for message, of_message in rows.groupby("message", sort=False)
    ]


# The short table


def _why_no_times(data: StudyData) -> str:
    return "This study compares outputs, not times." if data.has_times else NO_TIMES_OF_OURS


_MARKS = {
    UNDEFINED_BEHAVIOUR: (UNDEFINED_MARK, "undefined behaviour"),
    PROOF_FAILED: (" ‡", "a check found a mistake"),
    EDITED: (" §", "recorded before an edit"),
}


# The columns that have other heads in LaTeX than in table.csv: head, factor and decimals.
_SHORT = {
    "time_us": ("time (µs)", 1, None),
    "bandwidth_gbs": ("GB/s", 1, 0),
    "gflops": ("GFLOP/s", 1, 0),
    "peak_fraction": ("of peak (%)", 100, 1),
    "speedup": ("speedup", 1, 2),
}


def short_text(table: pandas.DataFrame, data: StudyData) -> TableText | str:
    """The rows of a study's kernels and of libraries for one column of a paper; or why there are none.

    The number in brackets behind a time is the longer part of its 95% interval to either side, in units of the time's
    last digit: 25.63(11) covers 25.52 to 25.74.
    """
    if "time_us" not in table:
        return _why_no_times(data)
    rows = table[table["kind"].isin([KERNEL_ROW, RIVAL_ROW]) & (table["status"] != NO_STEP)]
    axes = [axis for axis in kernel_axes(data.settings) if axis in varied(data.kernel_rows, kernel_axes(data.settings))]
    axes = [axis for axis in axes if rows[axis].notna().any() and (axis != "grid_size" or axis in _axes(data))]
    configurations = [_configuration(row, axes) for _, row in rows.iterrows()]
    columns = [Column("configuration", configurations, right=False), *_chosen(rows, data)]
    marks = {flag: mark for flag, mark in _MARKS.items() if rows["flags"].str.contains(flag).any()}
    names = [
        kernel + "".join(sign for flag, (sign, _) in marks.items() if flag in flags)
        for kernel, flags in zip(rows["kernel"], rows["flags"], strict=True)
    ]
    texts = [f"Configuration: {' / '.join(axes)}"] if axes else []
    texts += [
        "in brackets: 95% interval of the last digits",
        *(f"{sign.strip()}: {word}" for sign, word in marks.values()),
    ]
    if origins := list(dict.fromkeys(one.origin for one in published_columns(data))):
        texts.append(f"published: {', '.join(origins)}")
    return TableText(
        title=data.title,
        provenance=f"{data.device['name']}, {place_text(shown_place(data))}.",
        kernels=names,
        columns=[column for column in columns if set(column.cells) != {EMPTY}],
        explanation="; ".join(texts) + ". " + " ".join(_peaks(data)),
    )


def counters_table(data: StudyData) -> TableText | str:
    """The hardware metrics of a study's steps, for a column of a paper; or why there are none."""
    if not (counters := _counters(data)):
        return "No counters were collected for this study."
    (table,) = counters
    provenance = f"{data.device['name']}, {table.provenance}"
    undefined = {kernel: f"{kernel}{UNDEFINED_MARK}" for kernel in undefined_kernels(data.measurements)}
    kernels = [undefined.get(kernel, kernel) for kernel in table.kernels]
    texts = [table.explanation, f"{UNDEFINED_MARK.strip()}: undefined behaviour." * (kernels != table.kernels)]
    title = _paper_title(data, "counters")
    return replace(table, title=title, provenance=provenance, kernels=kernels, explanation=" ".join(texts).strip())


def _paper_title(data: StudyData, what: str) -> str:
    """A table's title, whose part up to the colon is its label: the study's with what the table has."""
    name, colon, rest = data.title.partition(": ")
    return f"{name}, {what}{colon}{rest}"


def best_table(data: StudyData) -> TableText | str:
    """What to use, a row by range of sizes as on the page, for a column of a paper; or why there is none."""
    if not data.has_times or data.compares_outputs:
        return _why_no_times(data)
    if not (uses := reference_uses(data)):
        return "No configuration has a time."
    where = reference_text(data.settings, free=[*size_axes(data.settings), *kernel_axes(data.settings)])
    rows, rules, last = list[tuple[str, ...]](), list[int](), uses[0]
    has_peaks = any(use.configuration.peak_of not in (None, "memory") for use in uses)
    for use in uses:
        rules += [len(rows)] * (use.everywhere != last.everywhere)
        last = use
        sizes = sizes_text(use, uses, any("arithmetic" in one.kind for one in uses))
        rows += _use_rows(use, sizes, data.settings, _NARROW_USE if has_peaks else _USE)
    libraries = libraries_text(use_rows(uses, data.settings), data.settings)
    values = uses[0].configuration.parameters
    texts = [
        f"Use the row for all sizes or, where that loses more than {LITTLE:.0%}, the row of that size." * bool(rules),
        "Or: as fast at each of the sizes." * any(use.ties for use in uses),
        f"{values['block_size']} × {values['unroll']}: block size × unroll factor." if is_short(values) else "",
        "Loses: at its worst size this much slower than our fastest, without libraries.",
        f"{libraries}." * bool(libraries),
        "Times and shares of the peak: at the largest of the sizes; in brackets: 95% interval of the last digits.",
    ]
    heads = ("sizes", "kernel to use", "loses (%)", "time (µs)", "of peak (%)", "peak")
    first, *others = map(Column, heads, zip(*rows, strict=True), [head.endswith(")") for head in heads])
    return TableText(
        title=_paper_title(data, "what to use"),
        provenance=f"{data.device['name']}, {where}.",
        kernels=(),
        first=first,
        columns=others if has_peaks else others[:-1],
        rules=rules,
        explanation=" ".join(filter(None, texts)),
    )


def _use_rows(use: Use, sizes: str, study: StudySettings, letters: int) -> list[tuple[str, ...]]:
    """What to use, and its ties without sizes and losses: sizes, use, loss, time, share of a peak, and which.

    letters  those of a kernel with its configuration on one line
    """
    rows = []
    for tie in (None, *use.ties[:_MOST_TIES]):
        one = tie or use
        kernel = "or " * bool(tie) + f"`{one.kernel}`" * (not tie or tie.kernel != use.kernel)
        configuration = chosen_text(one, study)
        # A line breaks between values only.
        values = [word.replace(" ", "\xa0") for word in re.split(r" (?=in |\w+=)", configuration)]
        text = f"{kernel} {configuration}".strip().replace("  ", " ")
        if len(text) > letters:
            lines = textwrap.wrap(" ".join(values), _CONFIGURATION, break_long_words=False)
            text = "\n".join([kernel, *lines] if "`" in kernel else [kernel + lines[0], *lines[1:]])
        rows.append(
            (
                "" if tie else "\n".join(textwrap.wrap(sizes, _SIZES)),
                text,
                "" if tie else f"{100 * use.worst:.1f}",
                _uncertain_time({"status": "ok", **asdict(one.configuration)}),
                *numbers([100 * (one.configuration.peak_fraction or math.nan)], 1),
                one.configuration.peak_of or "",
            )
        )
    more = len(use.ties) - _MOST_TIES
    return [*rows, *[("", f"or {more} more", "", "", "", "")] * (more > 0)]


def _configuration(row: pandas.Series[Any], axes: Sequence[str]) -> str:
    return "/".join(axis_value(axis, row[axis]) for axis in axes if not pandas.isna(row[axis])) or EMPTY


def _uncertain_time(row: Mapping[str, Any] | pandas.Series[Any]) -> str:
    """A time, and behind it the longer part of its interval, of two digits; rounded, it still covers the interval."""
    if pandas.isna(time := row["time_us"]):
        return str(row["status"]).replace("_", " ")
    for places in range(decimals(time), -1, -1):
        shown = f"{time:.{places}f}"
        side = max(float(shown) - row["time_low_us"], row["time_high_us"] - float(shown))
        # Not by the last bit of a binary fraction.
        digits = math.ceil(round(side * 10**places, 6))
        if digits < 100:
            break
    return f"{shown}({digits})"


def _chosen(rows: pandas.DataFrame, data: StudyData) -> list[Column]:
    """The columns that the study's file chooses for its LaTeX, by their names in table.csv without units.

    Otherwise time, rate, share of the peak and speedup. Raises UserError for a column that isn't there.
    """
    rate = "gflops" if rows["gflops"].notna().any() else "bandwidth_gbs"
    columns_of_table = {str(column).partition(" (")[0]: rows[column] for column in rows}
    published = {
        one.name.partition(" (")[0]: (f"{one.first.device} {what}", 1, places)
        for one, what, places in _published_times(data)
    }
    columns = []
    for name in data.settings.table or ("time_us", rate, "peak_fraction", "speedup", *published):
        check_known(name, columns_of_table, f"{data.title}: table names")
        header, scale, places = (_SHORT | published).get(name, (name.replace("_", " "), 1, None))
        values = columns_of_table[name]
        if name == "time_us":
            cells = [_uncertain_time(row) for _, row in rows.iterrows()]
        elif pandas.api.types.is_numeric_dtype(values):
            digits = 0 if pandas.api.types.is_integer_dtype(values) else places
            cells = numbers(values * scale, decimals(values.abs().max()) if digits is None else digits)
        else:
            cells = [str(value) or EMPTY for value in values]
        columns.append(Column(header, cells, right=pandas.api.types.is_numeric_dtype(values)))
    return columns
