"""A figure of bandwidth by array size on each device, absolute and relative to the memory's peak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kernelsweep.analysis.reference import at_reference, timed, undefined_kernels
from kernelsweep.analysis.steps import Step, ladder_steps
from kernelsweep.analysis.words import device_text, list_texts, reference_text, size_text
from kernelsweep.drawing import style
from kernelsweep.drawing.layout import (
    ONE_COLUMN,
    TWO_COLUMNS,
    Frame,
    Legend,
    Width,
    empty_figure,
    panels_above_a_legend,
    size_axis,
)
from kernelsweep.share.devices import DataSet, data_set_labels

PANEL_IN = {TWO_COLUMNS: 2.3, ONE_COLUMN: 1.7}
HEADROOM = 1.08
# Line styles of the study's first and last step.
FIRST: Any = (0, (4, 1.5))
LAST = "-"
PANELS = {"bandwidth_gbs": "bandwidth (GB/s)", "peak_fraction": "share of the memory's peak (%)"}


@style.styled
def draw(study: str, settings: Mapping[str, Any], sets: Sequence[DataSet], width: Width = TWO_COLUMNS) -> Figure:
    """Two panels, one colour a device, at the reference point's block size and cache state; failed points are gaps.

    Steps of undefined behaviour are left out: every device must show the same kernels.
    """
    first, last = _first_and_last(study, settings, sets)
    drawn = [_of_set(study, settings, one, (first, last)) for one in sets]
    caption = _caption(settings, sets)
    if all(rows.empty for of_set in drawn for rows in of_set):
        reason = f"No device has times at {reference_text(settings, free=('array_size',))}."
        return empty_figure(Frame(width, settings["title"], "No bandwidth to draw.", caption), reason)
    handles = _handles(settings, sets, first, last)
    labels = [str(handle.get_label()) for handle in handles]
    frame = Frame(width, settings["title"], _message(settings, sets, drawn, last), caption)
    panels = panels_above_a_legend(frame, Legend(labels), len(PANELS), len(PANELS), PANEL_IN[width])
    for axes, (column, label) in zip(panels.grid[0], PANELS.items(), strict=True):
        _panel(axes, drawn, column)
        axes.set_ylabel(label)
    panels.label_x_at_the_bottom()
    panels.draw_legend(handles)
    return panels.figure


def _first_and_last(study: str, settings: Mapping[str, Any], sets: Sequence[DataSet]) -> tuple[int, int]:
    """The indices of the ladder's first and last step of defined behaviour; if there is none, of all steps."""
    undefined = set().union(*(undefined_kernels(one.of_study(study, settings)) for one in sets))
    defined = [number for number, step in enumerate(settings["ladder"]) if step["kernel"] not in undefined]
    shown = defined or range(len(settings["ladder"]))
    return shown[0], shown[-1]


def _of_set(
    study: str, settings: Mapping[str, Any], one: DataSet, numbers: tuple[int, int]
) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """The timed rows of the two steps, by array size."""
    rows = at_reference(settings, one.of_study(study, settings), free=("array_size",))
    rows = timed(rows, one.device).sort_values("array_size")
    first, last = (ladder_steps(settings, one.device)[number].rows(rows) for number in numbers)
    return first, last


def _panel(axes: Axes, drawn: Sequence[tuple[pandas.DataFrame, pandas.DataFrame]], column: str) -> None:
    every = pandas.concat([rows for of_set in drawn for rows in of_set])
    sizes = sorted(int(size) for size in every["array_size"].unique())
    scale = 100.0 if column == "peak_fraction" else 1.0
    for number, of_set in enumerate(drawn):
        for rows, dashes in zip(of_set, (FIRST, LAST), strict=True):
            axes.plot(sizes, scale * rows.set_index("array_size")[column].reindex(sizes), **_look(number, dashes))
    size_axis(axes, sizes)
    top = scale * float(every[column].max())
    axes.set_ylim(0, 100 if column == "peak_fraction" else top * HEADROOM)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(color=style.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)


def _look(number: int, dashes: Any) -> dict[str, Any]:
    return {
        "color": style.LINE_COLOURS[number % len(style.LINE_COLOURS)],
        "marker": style.MARKERS[number % len(style.MARKERS)],
        "linestyle": dashes,
        "linewidth": 1.0,
        "markersize": 3.6,
        "markeredgecolor": "white",
        "markeredgewidth": 0.3,
    }


def _names(settings: Mapping[str, Any], sets: Sequence[DataSet]) -> list[str]:
    """The steps' names, which are equal on all devices even if their grid sizes aren't."""
    steps: Sequence[Step] = ladder_steps(settings, sets[0].device)
    return [step.name for step in steps]


def _handles(settings: Mapping[str, Any], sets: Sequence[DataSet], first: int, last: int) -> list[Line2D]:
    names = _names(settings, sets)
    devices = [Line2D([], [], label=label, **_look(n, LAST)) for n, label in enumerate(data_set_labels(sets))]
    steps = {f"first step: {names[first]}": FIRST, f"last step: {names[last]}": LAST}
    return devices + [
        Line2D([], [], label=label, color=style.GREY, linewidth=1.0, linestyle=dashes)
        for label, dashes in steps.items()
    ]


def _message(
    settings: Mapping[str, Any],
    sets: Sequence[DataSet],
    drawn: Sequence[tuple[pandas.DataFrame, pandas.DataFrame]],
    last: int,
) -> str:
    """The last step's bandwidth on each device, at the largest size that all devices have."""
    common = set.intersection(*(set(rows["array_size"]) for _, rows in drawn))
    name = _names(settings, sets)[last]
    if not common:
        return f"{name} has no array size that was timed on every device."
    size = max(common)
    texts = []
    for label, (_, rows) in zip(data_set_labels(sets), drawn, strict=True):
        row = rows[rows["array_size"] == size].iloc[0]
        share = "" if pandas.isna(row["peak_fraction"]) else f" ({row['peak_fraction']:.0%} of its peak)"
        texts.append(f"{row['bandwidth_gbs']:,.0f} GB/s on {label}{share}")
    return f"At array size {size_text(size)}, {name} reads {list_texts(texts, most=len(texts))}."


def _caption(settings: Mapping[str, Any], sets: Sequence[DataSet]) -> str:
    devices = "; ".join(device_text(one.device) for one in sets)
    where = reference_text(settings, free=("array_size",))
    return f"{devices}. Reference point: {where}. Each input byte counted once; 1 GB/s is 10⁹ bytes/s."
