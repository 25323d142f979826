"""The ratios of times that a source prints instead of times, beside ours."""

from __future__ import annotations

from dataclasses import dataclass

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
from kernelsweep.drawing.layout import ONE_COLUMN, TWO_COLUMNS, Frame, Width, empty_figure, legend_above, new_figure
from kernelsweep.intervals import Interval, ratio, time_interval
from kernelsweep.publish.figures.ladder import PUBLISHED

FIGURE = Declaration(
    title="Published ratios",
    purpose="the ratios of times that a source prints, beside ours",
    needs=("times", "published"),
)
# A row's height, with the two sides beside the axis or above it.
ROW_IN = {TWO_COLUMNS: 0.2, ONE_COLUMN: 0.3}
FRAME_IN = 0.45
# The axis ends this far beyond the largest ratio; behind it are two columns of numbers, each this wide.
ROOM, NUMBER_PT = 1.07, 27.0


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
    _draw_rows(axes, rows)
    _write_sides(axes, rows, width)
    legend_above(figure, axes.get_legend_handles_labels()[0])
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


def _draw_rows(axes: Axes, rows: list[_Row]) -> None:
    high = max([row.published for row in rows] + [row.measured.high for row in rows if row.measured])
    label: str | None = "measured"
    for place, row in enumerate(rows):
        _write(axes, place, 2, f"{row.published:.2f}×", palette.VERMILLION)
        if row.measured is None:
            _write(axes, place, 1, "–", palette.BLUE)
            continue
        axes.plot([row.measured.low, row.measured.high], [place, place], color=palette.BLUE, linewidth=1.0)
        axes.plot([row.measured.value], [place], "o", color=palette.BLUE, markersize=4.5, label=label, zorder=3)
        label = None
        _write(axes, place, 1, f"{row.measured.value:.2f}×", palette.BLUE)
    values = [row.published for row in rows]
    axes.plot(values, range(len(rows)), linestyle="none", label="published", **PUBLISHED)
    axes.axvline(1, color=palette.GREY, linewidth=0.8, zorder=1)
    axes.set_xlim(0, high * ROOM)
    axes.set_ylim(len(rows) - 0.5, -0.7)
    axes.grid(axis="x", color=palette.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_xlabel("speedup (×)")


def _write_sides(axes: Axes, rows: list[_Row], width: Width) -> None:
    """The names of the rows: beside the axis, or where that would leave it no room, above each row."""
    names = [" over ".join(row.sides) for row in rows]
    axes.set_yticks(range(len(rows)), [""] * len(rows) if width.stacks else names)
    axes.tick_params(axis="y", length=0)
    for place, name in enumerate(names if width.stacks else ()):
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        at = axes.get_yaxis_transform()
        axes.text(0.01, place - 0.43, name, transform=at, va="center_baseline", bbox=paper, zorder=2)


def _write(axes: Axes, row: int, column: int, text: str, colour: str) -> None:
    """A number in one of the columns to the right of the axis."""
    axes.annotate(
        text,
        (1, row),
        xytext=(column * NUMBER_PT, 0),
        xycoords=axes.get_yaxis_transform(),
        textcoords="offset points",
        ha="right",
        va="center_baseline",
        color=palette.text_in(colour),
    )


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
        texts.append("–: no time of ours.")
    if any({one.kernel, one.reference_kernel} & undefined for one in published):
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
