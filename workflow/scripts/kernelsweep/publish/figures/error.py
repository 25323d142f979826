"""The relative error of floating-point sums, step by step: the cost of the order of summation in accuracy."""

from __future__ import annotations

import math

import pandas
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelsweep.analysis.reference import undefined_kernels
from kernelsweep.analysis.steps import step_labels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import (
    UNDEFINED_NOTE,
    device_text,
    failures_text,
    size_text,
    small_number,
    superscript,
)
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width, empty_figure
from kernelsweep.drawing.series import facet_grid, on_grid

FIGURE = Declaration(
    title="Floating-point error, step by step",
    purpose="error of floating-point sums, where one is larger than the type's rounding",
    needs=("floats",),
)
# The unit roundoff of a type, half the distance from 1 to the next number, as powers of two.
ROUNDOFF_POWERS = {"float32": -24, "float64": -53}
ROW_IN, FRAME_IN, PANEL_IN = 0.16, 0.6, 3.2
# How far the axis goes beyond the smallest and largest error.
ROOM = 2.5
DOT = {"size": 3.0, "alpha": 0.6, "linewidth": 0.0}


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A row for each step, a dot for each of its sums, a panel for each type with an error above its unit roundoff.

    Where no sum is off by more than that, the figure says so instead.
    """
    rows = _sums(data)
    frame = Frame(width, FIGURE.heading(data.title), _message(rows), _caption(data, rows))
    known = rows[rows["relative_error"].notna()]
    dtypes = [dtype for dtype in ROUNDOFF_POWERS if (known.loc[known["dtype"] == dtype, "is_large"]).any()]
    if not dtypes:
        return empty_figure(frame, frame.message)
    drawn = known[known["dtype"].isin(dtypes)]
    labels = list(dict.fromkeys(rows["step"]))
    drawn = drawn.sort_values("relative_error")
    figure, grid = facet_grid(frame, drawn, "dtype", dtypes, (PANEL_IN, FRAME_IN + ROW_IN * len(labels)))
    for dtype, axes in grid.axes_dict.items():
        _draw_panel(axes, drawn[drawn["dtype"] == dtype], labels, dtype)
    grid.set_axis_labels("relative error of a sum", "")
    return figure


def _sums(data: StudyData) -> pandas.DataFrame:
    """The sums of each step with any array size, block size and cache; columns step, its label, and is_large."""
    sums = data.kernel_rows
    sums = sums[(sums["operation"] == "sum") & sums["dtype"].isin(list(ROUNDOFF_POWERS))]
    labels = step_labels(data.steps, undefined_kernels(sums))
    of_steps = [step.rows(sums).assign(step=label) for step, label in zip(data.steps, labels, strict=True)]
    rows = pandas.concat(of_steps) if of_steps else sums.assign(step="")
    errors = rows["relative_error"].where(rows["status"] == "ok").astype(float)
    roundoff = rows["dtype"].map(lambda dtype: 2.0 ** ROUNDOFF_POWERS[dtype]).astype(float)
    return rows.assign(relative_error=errors, is_large=errors > roundoff)


def _draw_panel(axes: Axes, rows: pandas.DataFrame, labels: list[str], dtype: str) -> None:
    """A type's errors, those above its unit roundoff in another colour; exact sums stand on the left, at 0."""
    finite = rows.loc[(rows["relative_error"] > 0) & (rows["relative_error"] < math.inf), "relative_error"]
    low, high = finite.min() / ROOM, finite.max() * ROOM
    shown = rows.assign(relative_error=rows["relative_error"].clip(low, high))
    looks = {False: palette.BLUE, True: palette.VERMILLION}
    common = {"x": "relative_error", "y": "step", "order": labels, "hue": "is_large", "palette": looks, "legend": False}
    seaborn.stripplot(shown, jitter=False, log_scale=(True, False), ax=axes, **common, **DOT)
    on_grid(axes)
    axes.axvline(2.0 ** ROUNDOFF_POWERS[dtype], color=palette.GREY, linewidth=0.8, linestyle=(0, (6, 2)), zorder=1)
    decades = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    exact = {low: "0"} if (rows["relative_error"] == 0).any() else {}
    ticks = exact | {10.0**power: f"10{superscript(power)}" for power in decades if 10.0**power > low * ROOM}
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.minorticks_off()
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _message(rows: pandas.DataFrame) -> str:
    known = rows[rows["relative_error"].notna()]
    if known.empty:
        return f"No floating-point sum has an error: {failures_text(list(rows['status'])) or 'none in this sweep'}."
    units = known["relative_error"] / known["dtype"].map(lambda dtype: 2.0 ** ROUNDOFF_POWERS[dtype])
    worst = known.iloc[int(units.argmax())]
    error, size = small_number(worst["relative_error"]), size_text(int(worst["array_size"]))
    largest = f"{error}, of {worst['step']} at array size {size}"
    large, kind = int(known["is_large"].sum()), worst["dtype"]
    if not large:
        return f"No sum is off by more than the unit roundoff of its type; the nearest: {largest}, {kind}."
    return f"{large:,} of {len(known):,} sums are off by more than the unit roundoff; the farthest: {largest}, {kind}."


def _caption(data: StudyData, rows: pandas.DataFrame) -> str:
    texts = [
        f"{device_text(data.device)}. A dot: a point of the sweep. Error against the exactly rounded sum (math.fsum)",
        "of one random input. Dashed: the unit roundoff, half the distance from 1 to the next number.",
    ]
    if failed := failures_text(list(rows["status"])):
        texts.append(f"Points without an error: {failed}.")
    if undefined_kernels(rows):
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
