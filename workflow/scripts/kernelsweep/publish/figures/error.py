"""The relative error of floating-point sums against array size: the cost of the order of summation in accuracy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
from kernelsweep.drawing.series import draw_points, line_handles

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
# The strip of exact sums: its frame, and a row for each group that has one.
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
# Open dots, through which those below can be seen, and their entry in the legend.
OPEN: dict[str, Any] = {"s": 16, "linewidth": 0.9, "is_open": True}
OPEN_HANDLE: dict[str, Any] = {"linestyle": "none", "markersize": 4.0, "markeredgewidth": 0.9}
OPEN_HANDLE |= {"markerfacecolor": "none", "markeredgecolor": "auto"}


@dataclass(frozen=True)
class _Sums:
    """The floating-point sums that are drawn.

    steps      the ladder's
    of_steps   the rows of each step, of one block size
    groups     the steps that have the same errors everywhere, which share dots
    errors     a row for each dot: group, its number; dtype, array_size and relative_error
    """

    steps: Sequence[Step]
    of_steps: Sequence[pandas.DataFrame]
    groups: Sequence[Sequence[Step]]
    errors: pandas.DataFrame

    @cached_property
    def rows(self) -> pandas.DataFrame:
        """The rows of all steps."""
        return pandas.concat(self.of_steps).drop_duplicates()

    @property
    def dtypes(self) -> list[str]:
        """The types of sums that have a panel: those with several errors other than 0, or else those with any."""
        counts = {dtype: len(self.inexact(dtype)) for dtype in ROUNDOFF_POWERS}
        return [dtype for dtype, count in counts.items() if count >= min(LEAST_DOTS, max(1, *counts.values()))]

    def inexact(self, dtype: str) -> pandas.DataFrame:
        """The dots of a type's errors other than 0."""
        return self.errors[(self.errors["dtype"] == dtype) & (self.errors["relative_error"] > 0)]

    @property
    def exact(self) -> pandas.DataFrame:
        """The dots of sums without any error, of types that have a panel; row is their group's place on the strip."""
        dots = self.errors[(self.errors["relative_error"] == 0) & self.errors["dtype"].isin(self.dtypes)]
        return dots.assign(row=dots["group"].rank(method="dense") - 1)


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
        reason = "All floating-point sums are exact." if sums.groups else _reason(sums.rows)
        return empty_figure(Frame(width, FIGURE.heading(data.title), "No errors to draw.", caption), reason)
    undefined = undefined_kernels(sums.rows)
    exact_rows = sums.exact["row"].nunique()
    heights_in = [BODY_IN[width], *([STRIP_FRAME_IN + STRIP_ROW_IN * exact_rows] if exact_rows else [])]
    labels = _group_labels(sums, undefined, LEGEND_WIDTH_PT[width])
    frame = Frame(width, FIGURE.heading(data.title), _message(data, sums, undefined), caption)
    legend = Legend(labels, LEGEND_TITLE, spacing=0.55)
    panels = panels_in_a_row(frame, legend, len(sums.dtypes), heights_in)
    for number, dtype in enumerate(sums.dtypes):
        _draw_panel(panels, number, sums, dtype)
        size_axis(panels.grid[-1][number], sorted(int(size) for size in sums.errors["array_size"].unique()))
        panels.grid[-1][number].margins(x=SIDE_SHARE)
    for number in panels.left:
        panels.grid[0][number].set_ylabel("relative error of the sum")
        if exact_rows:
            panels.grid[1][number].set_yticks([(exact_rows - 1) / 2], ["exact"])
    panels.label_x_at_the_bottom()
    panels.draw_legend(line_handles(labels, **OPEN_HANDLE))
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
    return _grouped(steps, of_steps)


def _at_block_size(rows: pandas.DataFrame, block_size: int) -> pandas.DataFrame:
    """The rows of the block size that is nearest, by its logarithm, to the given one."""
    tried = rows.loc[rows["status"] != "skipped", "block_size"].unique()
    if not len(tried):
        return rows.iloc[:0]
    nearest: int = min(tried.tolist(), key=lambda size: (abs(math.log2(size / block_size)), size))
    return rows[rows["block_size"] == nearest]


def _grouped(steps: Sequence[Step], of_steps: Sequence[pandas.DataFrame]) -> _Sums:
    """The sums, with a group for all steps with the same errors, in the order of the first of them."""
    columns = ["dtype", "array_size", "relative_error"]
    groups: dict[tuple[Any, ...], list[Step]] = {}
    for step, rows in zip(steps, of_steps, strict=True):
        right = rows.loc[(rows["status"] == "ok") & rows["relative_error"].notna(), columns].sort_values(columns[:2])
        if not right.empty:
            groups.setdefault(tuple(right.itertuples(index=False, name=None)), []).append(step)
    dots = [(number, *dot) for number, of_group in enumerate(groups) for dot in of_group]
    return _Sums(steps, of_steps, list(groups.values()), pandas.DataFrame(dots, columns=["group", *columns]))


def _draw_panel(panels: Panels, number: int, sums: _Sums, dtype: str) -> None:
    """One type's errors, and its strip of exact sums."""
    upper, *strip = (part[number] for part in panels.grid)
    _draw_errors(upper, sums, dtype)
    for axes in strip:
        _draw_exact(axes, sums, dtype)
        upper.tick_params(axis="x", length=0)


def _draw_errors(axes: Axes, sums: _Sums, dtype: str) -> None:
    roundoff, dots = 2.0 ** ROUNDOFF_POWERS[dtype], sums.inexact(dtype)
    draw_points(axes, dots, "array_size", "relative_error", "group", list(range(len(sums.groups))), **OPEN)
    drawn = [roundoff, *dots.loc[numpy.isfinite(dots["relative_error"]), "relative_error"]]
    axes.set_yscale("log")
    room = max(ROOM, math.sqrt(LEAST_RANGE * min(drawn) / max(drawn)))
    axes.set_ylim(min(drawn) / room, max(drawn) * room)
    decades = numpy.arange(math.ceil(math.log10(axes.get_ylim()[0])), math.floor(math.log10(axes.get_ylim()[1])) + 1)
    axes.set_yticks([10.0 ** int(power) for power in decades], [f"10{superscript(int(power))}" for power in decades])
    axes.minorticks_off()
    axes.axhline(roundoff, color=palette.GREY, linewidth=0.8, linestyle=(0, (6, 2)), zorder=1)
    axes.set_title(f"{dtype} (dashed: unit roundoff, 2{superscript(ROUNDOFF_POWERS[dtype])})", loc="left")


def _draw_exact(axes: Axes, sums: _Sums, dtype: str) -> None:
    """Where sums are exact: a row for each group, so that no marker covers another."""
    exact = sums.exact
    dots = exact[exact["dtype"] == dtype]
    draw_points(axes, dots, "array_size", "row", "group", list(range(len(sums.groups))), **OPEN)
    axes.set_ylim(exact["row"].max() + 0.6, -0.6)
    axes.set_yticks([])
    axes.tick_params(axis="y", length=0)
    axes.set_facecolor("#f2f2f2")
    axes.grid(visible=False, axis="y")
    axes.grid(axis="x", color="white", linewidth=0.5)
    axes.spines["left"].set_visible(False)


def _group_labels(sums: _Sums, undefined: set[str], width_pt: float) -> list[str]:
    """Each group's steps, wrapped to a width."""
    labels = dict(zip(sums.steps, step_labels(sums.steps, undefined), strict=True))
    every = [", ".join(labels[step].replace(" ", "\N{NO-BREAK SPACE}") for step in group) for group in sums.groups]
    return ["\n".join(wrap(names, width_pt)) for names in every]


def _message(data: StudyData, sums: _Sums, undefined: set[str]) -> str:
    """The smallest and the largest error at the largest size, of the reference's type or the first one."""
    reference = data.settings["reference"]["dtype"]
    dtype = reference if reference in sums.dtypes else sums.dtypes[0]
    labels = dict(zip(sums.steps, step_labels(sums.steps), strict=True))
    named = [[labels[step] for step in group if step.kernel not in undefined] for group in sums.groups]
    shown = sums.errors[(sums.errors["dtype"] == dtype) & sums.errors["group"].map(lambda group: bool(named[group]))]
    if shown.empty:
        return f"Only kernels with undefined behaviour have errors in {dtype}."
    size = int(shown["array_size"].max())
    errors = shown[shown["array_size"] == size].set_index("group")["relative_error"]
    smallest, largest = float(errors.min()), float(errors.max())
    text = f"At array size {size_text(size)}, {dtype}: "
    if smallest == largest:
        return text + f"every sum has the error {_error_text(smallest)}."
    least, most = (
        [name for group in errors.index[errors == error] for name in named[group]] for error in (smallest, largest)
    )
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
    there = set(sums.errors["dtype"])
    texts = []
    for dtype in (dtype for dtype in ROUNDOFF_POWERS if dtype in there and dtype not in sums.dtypes):
        few = len(sums.inexact(dtype))
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
