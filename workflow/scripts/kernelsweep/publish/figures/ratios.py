"""The ratios of times that a source prints instead of times, beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import pandas
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
from kernelsweep.drawing.dots import MEASURED_LOOK, PUBLISHED_LOOK, dot_handle, draw_pairs, label_rows, pairs
from kernelsweep.drawing.layout import (
    POINTS_PER_INCH,
    TWO_COLUMNS,
    Frame,
    Width,
    add_legend,
    empty_figure,
    new_figure,
    text_width_pt,
)
from kernelsweep.intervals import Interval, ratio, time_interval

FIGURE = Declaration(
    title="Published ratios",
    purpose="the ratios of times that a source prints, beside ours",
    needs=("times", "published"),
)
ROW_IN, FRAME_IN = 0.31, 0.45


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A row for each published ratio: the source's as a diamond, ours as a dot with its interval, and both numbers."""
    published = data.published.ratios if data.published else ()
    undefined = undefined_kernels(data.measurements)
    steps = timed(data.at_reference(), data.device)
    found = [_measured(one, data, steps) for one in published]
    ours = pandas.DataFrame(
        [asdict(one) if one else {} for one in found], columns=["value", "low", "high"], dtype=float
    )
    printed = [one.value for one in published]
    caption = _caption(data, published, undefined)
    frame = Frame(width, FIGURE.heading(data.title), _message(ours, printed), caption)
    if not published:
        return empty_figure(frame, "The study names no file of published ratios.")
    figure = new_figure(frame, FRAME_IN + ROW_IN * len(published))
    axes = figure.subplots()
    names = [_sides(one, undefined) for one in published]
    names_pt = max(text_width_pt(line) for name in names for line in name.split("\n"))
    dots = pairs(ours, printed)
    length_in = 0.95 * (width.points - names_pt) / POINTS_PER_INCH
    draw_pairs(axes, dots, dots["value"].map(lambda value: f"{value:.2f}×"), length_in)
    axes.axvline(1, color=palette.GREY, linewidth=0.8, zorder=1)
    label_rows(axes, names)
    axes.set_xlabel("speedup (×)")
    handles = [dot_handle("measured", *MEASURED_LOOK), dot_handle("published", *PUBLISHED_LOOK, is_open=True)]
    add_legend(figure, handles, is_above=True)
    return figure


def _measured(one: PublishedRatio, data: StudyData, reference: pandas.DataFrame) -> Interval | None:
    """Our ratio of times; None where a side has no time."""
    sides = []
    for kernel, unroll in ((one.reference_kernel, one.reference_unroll), (one.kernel, one.unroll)):
        grids = [step.grid_size for step in data.steps if (step.kernel, step.unroll) == (kernel, unroll)]
        found = Step(kernel, unroll, grids[0] if grids else None).rows(reference)
        sides += [time_interval(dict(row)) for _, row in found.iterrows()]
    return ratio(*sides) if len(sides) == 2 else None


def _sides(one: PublishedRatio, undefined: set[str]) -> str:
    sides = ((one.kernel, one.unroll), (one.reference_kernel, one.reference_unroll))
    return "\nover ".join(step_name(*side) + (UNDEFINED_MARK if side[0] in undefined else "") for side in sides)


def _message(ours: pandas.DataFrame, printed: Sequence[float]) -> str:
    larger, smaller = int((ours["low"] > printed).sum()), int((ours["high"] < printed).sum())
    return f"{larger} of {ours['value'].count()} ratios are larger here than published, {smaller} smaller."


def _caption(data: StudyData, published: Sequence[PublishedRatio], undefined: set[str]) -> str:
    sources = list_texts(list(dict.fromkeys(one.source for one in published))) if published else "none"
    texts = [
        f"{device_text(data.device)}; {reference_text(data.settings)}.",
        f"Line: 95% interval. No dot: no time of ours. Published: source {sources}, which prints no times.",
    ]
    if any({one.kernel, one.reference_kernel} & undefined for one in published):
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
