"""The relative error of floating-point sums against array size: the cost of the order of summation in accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kernelsweep.analysis.reference import at_reference, undefined_kernels
from kernelsweep.analysis.steps import Step, grids_text, step_labels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import (
    UNDEFINED_NOTE,
    device_text,
    failures_text,
    list_texts,
    reference_text,
    size_text,
    small_number,
    superscript,
)
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import (
    ONE_COLUMN,
    TWO_COLUMNS,
    Frame,
    Legend,
    Panels,
    Width,
    empty_figure,
    panels_in_a_row,
    size_axis,
    wrap,
)

FIGURE = Declaration(
    title="Floating-point error against array size",
    purpose="error of floating-point sums against array size",
    needs=("floats",),
)
BODY_IN = {TWO_COLUMNS: 2.6, ONE_COLUMN: 1.9}
LEGEND_TITLE = "same dots: same errors"
FREE = ("array_size", "dtype", "operation", "block_size", "cache")
# The unit roundoff of a type, half the distance from 1 to the next number, as powers of two.
ROUNDOFF_POWERS = {"float32": -24, "float64": -53}
# The strip of exact sums: its frame, and a row for each line that has one.
STRIP_FRAME_IN, STRIP_ROW_IN = 0.05, 0.1
# How far a logarithmic axis goes beyond the smallest and largest error or unit roundoff, and its least range, which
# makes two ticks; as factors.
ROOM, LEAST_RANGE = 2.5, 100.0
# The room for a label of the legend.
LEGEND_WIDTH_PT = {TWO_COLUMNS: 150.0, ONE_COLUMN: ONE_COLUMN.points - 80.0}
# A type with fewer errors other than 0 than this is a sentence, not a panel.
LEAST_DOTS = 3
# The room beside the outermost sizes, as a share of the axis.
SIDE_SHARE = 0.08


@dataclass(frozen=True)
class _Line:
    """Steps whose errors are the same everywhere, and these errors by (dtype, array size)."""

    steps: Sequence[Step]
    errors: Mapping[tuple[str, int], float]


@dataclass(frozen=True)
class _Sums:
    """The floating-point sums that are drawn.

    steps      the ladder's
    of_steps   the rows of each step, of one block size
    lines      one for all steps with the same errors
    """

    steps: Sequence[Step]
    of_steps: Sequence[pandas.DataFrame]
    lines: Sequence[_Line]

    @cached_property
    def rows(self) -> pandas.DataFrame:
        """The rows of all steps."""
        return pandas.concat(self.of_steps).drop_duplicates()

    @cached_property
    def right(self) -> pandas.DataFrame:
        """The rows with an error."""
        rows = self.rows
        return rows[(rows["status"] == "ok") & rows["relative_error"].notna()]

    @property
    def dtypes(self) -> list[str]:
        """The types of sums that have a panel: those with several errors other than 0, or else those with any."""
        counts = {dtype: self.inexact(dtype) for dtype in ROUNDOFF_POWERS}
        return [dtype for dtype, count in counts.items() if count >= min(LEAST_DOTS, max(1, *counts.values()))]

    def inexact(self, dtype: str) -> int:
        """The number of dots of a type's errors other than 0."""
        return sum(
            error > 0 for line in self.lines for (of_dtype, _), error in line.errors.items() if of_dtype == dtype
        )

    @property
    def exact(self) -> list[_Line]:
        """The lines with sums without any error, of types that have a panel."""
        shown = self.dtypes
        return [line for line in self.lines if any(line.errors[at] == 0 and at[0] in shown for at in line.errors)]


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A panel for each floating-point type with errors, logarithmic both ways; steps with the same errors share dots.

    Each step is drawn at the reference's block size, or at the nearest that it has. Sums without any error stand on a
    strip below, a row for each kind of dot. A dashed line is at the type's unit roundoff. No lines join the dots: the
    errors are those of one random input each.
    """
    sums = _sums(data)
    caption = _caption(data, sums)
    if not sums.dtypes:
        reason = "All floating-point sums are exact." if sums.lines else _reason(sums.rows)
        return empty_figure(Frame(width, FIGURE.heading(data.title), "No errors to draw.", caption), reason)
    undefined = undefined_kernels(sums.right)
    exact = sums.exact
    heights_in = [BODY_IN[width], *([STRIP_FRAME_IN + STRIP_ROW_IN * len(exact)] if exact else [])]
    labels = _line_labels(sums, undefined, LEGEND_WIDTH_PT[width])
    frame = Frame(width, FIGURE.heading(data.title), _message(data, sums, undefined), caption)
    legend = Legend(labels, LEGEND_TITLE, spacing=0.55)
    panels = panels_in_a_row(frame, legend, len(sums.dtypes), heights_in)
    for number, dtype in enumerate(sums.dtypes):
        _draw_panel(panels, number, sums, dtype)
        size_axis(panels.grid[-1][number], sorted(int(size) for size in sums.right["array_size"].unique()))
        panels.grid[-1][number].margins(x=SIDE_SHARE)
    for number in panels.left:
        panels.grid[0][number].set_ylabel("relative error of the sum")
        if exact:
            panels.grid[1][number].set_yticks([(len(exact) - 1) / 2], ["exact"])
    panels.label_x_at_the_bottom()
    handles = [Line2D([], [], label=label, **_look(index)) for index, label in enumerate(labels)]
    panels.draw_legend(handles)
    return panels.figure


def _sums(data: StudyData) -> _Sums:
    """The sums at the reference's cache state, or at the first one that was measured."""
    rows = data.kernel_rows
    rows = rows[(rows["operation"] == "sum") & rows["dtype"].isin(ROUNDOFF_POWERS)]
    at_cache = at_reference(data.settings, rows, free=[column for column in FREE if column != "cache"])
    if at_cache.empty and not rows.empty:
        at_cache = rows[rows["cache"] == min(rows["cache"])]
    at_cache = at_cache.sort_values("array_size")
    steps = data.steps
    of_steps = [_at_block_size(step.rows(at_cache), data.settings["reference"]["block_size"]) for step in steps]
    return _Sums(steps, of_steps, _lines(steps, of_steps))


def _at_block_size(rows: pandas.DataFrame, block_size: int) -> pandas.DataFrame:
    """The rows of the block size that is nearest, by its logarithm, to the given one."""
    tried = rows.loc[rows["status"] != "skipped", "block_size"].unique()
    if not len(tried):
        return rows.iloc[:0]
    nearest: int = min(tried.tolist(), key=lambda size: (abs(math.log2(size / block_size)), size))
    return rows[rows["block_size"] == nearest]


def _lines(steps: Sequence[Step], of_steps: Sequence[pandas.DataFrame]) -> list[_Line]:
    """One line for all steps with the same errors, in the order of the first of them."""
    grouped: dict[tuple[tuple[tuple[str, int], float], ...], list[Step]] = {}
    for step, rows in zip(steps, of_steps, strict=True):
        right = rows[(rows["status"] == "ok") & rows["relative_error"].notna()].sort_values(["dtype", "array_size"])
        points = zip(right["dtype"], right["array_size"], right["relative_error"], strict=True)
        errors = tuple(((str(dtype), int(size)), float(error)) for dtype, size, error in points)
        if errors:
            grouped.setdefault(errors, []).append(step)
    return [_Line(of_line, dict(errors)) for errors, of_line in grouped.items()]


def _draw_panel(panels: Panels, number: int, sums: _Sums, dtype: str) -> None:
    """One type's errors, and its strip of exact sums."""
    upper, *strip = (part[number] for part in panels.grid)
    _draw_errors(upper, sums.lines, dtype)
    for axes in strip:
        _draw_exact(axes, sums, dtype)
        upper.tick_params(axis="x", length=0)


def _look(index: int) -> dict[str, Any]:
    """The colour and the open marker of a line's dots, through which those below can be seen."""
    open_marker = {"linestyle": "none", "markersize": 4.0, "markerfacecolor": "none", "markeredgewidth": 0.9}
    return style.line_look(index) | open_marker


def _draw_errors(axes: Axes, lines: Sequence[_Line], dtype: str) -> None:
    roundoff = 2.0 ** ROUNDOFF_POWERS[dtype]
    sizes = sorted({size for line in lines for of_dtype, size in line.errors if of_dtype == dtype})
    positive = [roundoff]
    for index, line in enumerate(lines):
        # An error of 0 has no logarithm.
        errors = [line.errors.get((dtype, size), math.nan) for size in sizes]
        axes.plot(sizes, [error if error > 0 else math.nan for error in errors], **_look(index))
        positive += [error for error in errors if error > 0 and math.isfinite(error)]
    axes.set_yscale("log")
    room = max(ROOM, math.sqrt(LEAST_RANGE * min(positive) / max(positive)))
    axes.set_ylim(min(positive) / room, max(positive) * room)
    decades = numpy.arange(math.ceil(math.log10(axes.get_ylim()[0])), math.floor(math.log10(axes.get_ylim()[1])) + 1)
    axes.set_yticks([10.0 ** int(power) for power in decades], [f"10{superscript(int(power))}" for power in decades])
    axes.minorticks_off()
    axes.axhline(roundoff, color=palette.GREY, linewidth=0.8, linestyle=(0, (6, 2)), zorder=1)
    axes.set_title(f"{dtype} (dashed: unit roundoff, 2{superscript(ROUNDOFF_POWERS[dtype])})", loc="left")
    axes.grid(color=palette.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)


def _draw_exact(axes: Axes, sums: _Sums, dtype: str) -> None:
    """Where sums are exact: a row for each line, so that no marker covers another."""
    exact = sums.exact
    for row, line in enumerate(exact):
        sizes = [size for (of_dtype, size), error in line.errors.items() if of_dtype == dtype and error == 0]
        axes.plot(sizes, [row] * len(sizes), **_look(sums.lines.index(line)))
    axes.set_ylim(len(exact) - 0.4, -0.6)
    axes.set_yticks([])
    axes.tick_params(axis="y", length=0)
    axes.set_facecolor("#f2f2f2")
    axes.grid(axis="x", color="white", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)


def _line_labels(sums: _Sums, undefined: set[str], width_pt: float) -> list[str]:
    """Each line's steps, wrapped to a width."""
    labels = dict(zip(sums.steps, step_labels(sums.steps, undefined), strict=True))
    every = [", ".join(labels[step].replace(" ", "\N{NO-BREAK SPACE}") for step in line.steps) for line in sums.lines]
    return ["\n".join(wrap(names, width_pt)) for names in every]


def _message(data: StudyData, sums: _Sums, undefined: set[str]) -> str:
    """The smallest and the largest error at the largest size, of the reference's type or the first one."""
    reference = data.settings["reference"]["dtype"]
    dtype = reference if reference in sums.dtypes else sums.dtypes[0]
    labels = dict(zip(sums.steps, step_labels(sums.steps), strict=True))
    named = [(line, [labels[step] for step in line.steps if step.kernel not in undefined]) for line in sums.lines]
    sizes = {size for line, names in named if names for of_dtype, size in line.errors if of_dtype == dtype}
    if not sizes:
        return f"Only kernels with undefined behaviour have errors in {dtype}."
    place = dtype, max(sizes)
    found = [(line.errors[place], names) for line, names in named if names and place in line.errors]
    smallest, largest = min(error for error, _ in found), max(error for error, _ in found)
    text = f"At array size {size_text(place[1])}, {dtype}: "
    if smallest == largest:
        return text + f"every sum has the error {_error_text(smallest)}."
    least = [name for error, names in found if error == smallest for name in names]
    most = [name for error, names in found if error == largest for name in names]
    return text + (
        f"smallest error {_error_text(smallest)}, of {list_texts(least)};"
        f" largest {_error_text(largest)}, of {list_texts(most)}."
    )


def _error_text(error: float) -> str:
    """An error in words: 0 (exact), 3.1·10⁻⁸."""
    if error == 0 or not math.isfinite(error):
        return "0 (exact)" if error == 0 else str(error)
    return small_number(error)


def _reason(rows: pandas.DataFrame) -> str:
    if rows.empty:
        return "No floating-point sums of the ladder's steps in this sweep."
    return f"No floating-point sum has an error: {failures_text(list(rows['status'])) or 'none measured'}."


def _caption(data: StudyData, sums: _Sums) -> str:
    rows = sums.rows
    reference = data.settings["reference"] | {"operation": "sum"}
    if not rows.empty:
        reference["cache"] = rows["cache"].iloc[0]
    where = reference_text({"reference": reference}, free=("array_size", "dtype"))
    present = [step for step, of_step in zip(sums.steps, sums.of_steps, strict=True) if not of_step.empty]
    texts = [
        f"{device_text(data.device)}. Reference point: {where}.{grids_text(present)}",
        "Error against the exactly rounded sum (math.fsum) of one input.",
        *_without_panel(sums),
        *(["Unit roundoff: half the distance from 1 to the next number."] if sums.dtypes else []),
    ]
    # Kernels that leave partials are among those that launch several blocks once.
    if ((rows["launches"] == 1) & (rows["grid_size"] > 1)).any():
        texts.append(
            "Partials of kernels that leave one a thread block are combined on the host in extended precision."
        )
    texts += _other_block_sizes(sums, reference["block_size"])
    missing = [
        step.name if step.grid_size is None else f"{step.name} with {step.grid_size:,} blocks"
        for step in sums.steps
        if step not in present
    ]
    if missing and present:
        texts.append(f"Not in this sweep: {', '.join(missing)}.")
    failed = failures_text(list(rows["status"]))
    if failed:
        texts.append(f"Points without an error: {failed}.")
    if undefined_kernels(rows):
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)


def _without_panel(sums: _Sums) -> list[str]:
    """A sentence for each type that has sums but no panel."""
    there = set(sums.right["dtype"])
    texts = []
    for dtype in (dtype for dtype in ROUNDOFF_POWERS if dtype in there and dtype not in sums.dtypes):
        few = sums.inexact(dtype)
        texts.append(f"Of the sums in {dtype}, all {f'but {few} ' if few else ''}are exact.")
    return texts


def _other_block_sizes(sums: _Sums, reference: int) -> list[str]:
    """The steps that are drawn at another block size than the reference's, a sentence for each size."""
    steps_of: dict[int, list[str]] = {}
    for label, rows in zip(step_labels(sums.steps), sums.of_steps, strict=True):
        if not rows.empty and rows["block_size"].iloc[0] != reference:
            steps_of.setdefault(int(rows["block_size"].iloc[0]), []).append(label)
    return [
        f"Block size {block_size}, the nearest in this sweep: "
        f"{'all steps' if len(labels) == len(sums.steps) else ', '.join(labels)}."
        for block_size, labels in steps_of.items()
    ]
