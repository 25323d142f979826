"""The ratios of times that a source prints instead of times, beside ours."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelsweep.analysis.published import PublishedRatio
from kernelsweep.analysis.reference import timed, undefined_kernels
from kernelsweep.analysis.steps import Step
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import (
    UNDEFINED_MARK,
    UNDEFINED_NOTE,
    device_text,
    list_texts,
    reference_text,
    step_name,
)
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.dots import MEASURED_LOOK, PUBLISHED_LOOK, dot_handle, draw_pairs
from kernelsweep.drawing.layout import ONE_COLUMN, TWO_COLUMNS, Frame, Width, empty_figure, legend_above, new_figure
from kernelsweep.drawing.value_axis import logarithmic
from kernelsweep.intervals import Interval, ratio, time_interval

FIGURE = Declaration(
    title="Published ratios",
    purpose="the ratios of times that a source prints, beside ours",
    needs=("times", "published"),
)
# A row's height, with the two sides beside the axis or above it.
ROW_IN = {TWO_COLUMNS: 0.2, ONE_COLUMN: 0.3}
FRAME_IN = 0.45
# The axis' length, and the factor by which it goes beyond the outermost dots, for their numbers.
AXIS_IN, ROOM = {TWO_COLUMNS: 3.5, ONE_COLUMN: 3.2}, {TWO_COLUMNS: 1.35, ONE_COLUMN: 1.45}
VALUES = ("value", "low", "high")


@dataclass(frozen=True)
class _Row:
    """A published ratio with the names of its sides, and ours; None where a side has no time."""

    sides: tuple[str, str]
    published: float
    measured: Interval | None


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A row for each published ratio: the source's as a diamond, ours as a dot with its interval, and both numbers."""
    published = data.published.ratios if data.published else ()
    undefined = undefined_kernels(data.measurements)
    steps = timed(data.at_reference(), data.device)
    rows = [_row(one, data, steps, undefined) for one in published]
    frame = Frame(width, FIGURE.heading(data.title), _message(rows), _caption(data, rows, published, undefined))
    if not rows:
        return empty_figure(frame, "The study names no file of published ratios.")
    figure = new_figure(
        frame, FRAME_IN + ROW_IN[ONE_COLUMN if width.stacks else TWO_COLUMNS] * len(rows), with_legend=1
    )
    axes = figure.subplots()
    _draw_rows(axes, rows, width)
    _write_sides(axes, rows, width)
    legend_above(
        figure, [dot_handle("measured", *MEASURED_LOOK), dot_handle("published", *PUBLISHED_LOOK, is_open=True)]
    )
    return figure


def _row(one: PublishedRatio, data: StudyData, reference: pandas.DataFrame, undefined: set[str]) -> _Row:
    sides = []
    for kernel, unroll in ((one.reference_kernel, one.reference_unroll), (one.kernel, one.unroll)):
        grids = [step.grid_size for step in data.steps if (step.kernel, step.unroll) == (kernel, unroll)]
        found = Step(kernel, unroll, grids[0] if grids else None).rows(reference)
        sides.append(time_interval(dict(found.iloc[0])) if len(found) == 1 else None)
    over, under = sides
    names = [
        step_name(kernel, unroll) + (UNDEFINED_MARK if kernel in undefined else "")
        for kernel, unroll in ((one.kernel, one.unroll), (one.reference_kernel, one.reference_unroll))
    ]
    return _Row((names[0], names[1]), one.value, ratio(over, under) if over and under else None)


def _draw_rows(axes: Axes, rows: list[_Row], width: Width) -> None:
    ours = [{"row": place, **asdict(row.measured)} for place, row in enumerate(rows) if row.measured]
    printed = [{"row": place} | dict.fromkeys(VALUES, row.published) for place, row in enumerate(rows)]
    dots = pandas.concat([pandas.DataFrame(found, columns=["row", *VALUES], dtype=float) for found in (ours, printed)])
    dots = dots.assign(is_open=[False] * len(ours) + [True] * len(printed)).reset_index(drop=True)
    draw_pairs(axes, dots, dots["value"].map(lambda value: f"{value:.2f}×"))
    axes.axvline(1, color=palette.GREY, linewidth=0.8, zorder=1)
    logarithmic(axes, min(1.0, dots["low"].min()) / ROOM[width], dots["high"].max() * ROOM[width], AXIS_IN[width])
    axes.set_ylim(len(rows) - 0.5, -0.7)
    axes.set_xlabel("speedup (×, logarithmic)")


def _write_sides(axes: Axes, rows: list[_Row], width: Width) -> None:
    """The names of the rows: beside the axis, or where that would leave it no room, above each row."""
    names = [" over ".join(row.sides) for row in rows]
    axes.set_yticks(range(len(rows)), [""] * len(rows) if width.stacks else names)
    axes.tick_params(axis="y", length=0)
    for place, name in enumerate(names if width.stacks else ()):
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        at = axes.get_yaxis_transform()
        axes.text(0.01, place - 0.43, name, transform=at, va="center_baseline", bbox=paper, zorder=2)


def _message(rows: list[_Row]) -> str:
    known = [(row, row.measured) for row in rows if row.measured]
    if not known:
        return "No times to compare."
    larger = sum(ours.low > row.published for row, ours in known)
    smaller = sum(ours.high < row.published for row, ours in known)
    return f"{larger} of {len(known)} ratios are larger here than published, {smaller} smaller."


def _caption(data: StudyData, rows: list[_Row], published: tuple[PublishedRatio, ...], undefined: set[str]) -> str:
    sources = list_texts(list(dict.fromkeys(one.source for one in published))) if published else "none"
    texts = [
        f"{device_text(data.device)}; {reference_text(data.settings)}.",
        f"Line: 95% interval. Published: source {sources}, which prints no times.",
    ]
    if any(row.measured is None for row in rows):
        texts.append("No dot: no time of ours.")
    if any({one.kernel, one.reference_kernel} & undefined for one in published):
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
