"""A figure of the devices beside each other: how fast each step is on each, over the first device's, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernelsweep.analysis.reference import undefined_kernels
from kernelsweep.analysis.steps import ladder_steps, step_labels
from kernelsweep.analysis.words import UNDEFINED_NOTE, device_text, reference_text
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width, empty_figure, legend_above, new_figure
from kernelsweep.share.devices import DataSet, data_set_labels, device_rows

ROW_IN, FRAME_IN = 0.2, 0.45
# The room of a row that its devices share.
SPREAD = 0.6


@style.styled
def draw(study: str, settings: Mapping[str, Any], sets: Sequence[DataSet], width: Width = TWO_COLUMNS) -> Figure:
    """A row for each step, and in it a dot and a 95% interval for each device after the first.

    A dot right of 1 is a step that is faster than on the first device. Steps without a time on both have no dot.
    """
    rows = device_rows(study, settings, sets)
    labels = data_set_labels(sets)
    caption = _caption(settings, sets, rows)
    title = f"{settings['title'].partition(':')[0]}: speed beside other devices"
    others = [one.platform for one in sets[1:]]
    shown = rows[rows["platform"].isin(others) & rows["speed_ratio"].notna()]
    if shown.empty:
        reason = "There is one data set." if len(sets) == 1 else f"No step has times on two of {', '.join(labels)}."
        return empty_figure(Frame(width, title, "Nothing to compare.", caption), reason)
    names = step_labels(ladder_steps(settings, sets[0].device), undefined_kernels(rows))
    frame = Frame(width, title, _message(shown, dict(zip(others, labels[1:], strict=True)), labels[0]), caption)
    figure = new_figure(frame, FRAME_IN + ROW_IN * len(names) * max(1.0, len(others) / 2), len(others))
    axes = figure.subplots()
    handles = [
        _draw_device(axes, rows[rows["platform"] == platform], number, len(others), label)
        for number, (platform, label) in enumerate(zip(others, labels[1:], strict=True))
    ]
    axes.axvline(1, color=palette.GREY, linewidth=0.8, zorder=1)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=palette.GRID_GREY, linewidth=0.5)
    axes.set_xlabel(f"× as fast as on {labels[0]}", loc="right")
    legend_above(figure, handles, len(others))
    return figure


def _draw_device(axes: Axes, rows: pandas.DataFrame, number: int, count: int, label: str) -> Any:
    """A device's dots, beside the others' in each row."""
    offset = SPREAD * (number - (count - 1) / 2) / count
    places = [row + offset for row in range(len(rows))]
    ratios = rows["speed_ratio"].astype("float64")
    ends = [ratios - rows["speed_ratio_low"], rows["speed_ratio_high"] - ratios]
    return axes.errorbar(
        ratios,
        places,
        xerr=[end.astype("float64") for end in ends],
        fmt=style.MARKERS[number % len(style.MARKERS)],
        color=palette.LINE_COLOURS[number % len(palette.LINE_COLOURS)],
        markersize=3.6,
        elinewidth=0.8,
        capsize=2,
        label=label,
    )


def _message(shown: pandas.DataFrame, labels: Mapping[str, str], first: str) -> str:
    """The range of the ratios of each device."""
    texts = []
    for platform, of_device in shown.groupby("platform", sort=False):
        low, high = of_device["speed_ratio"].min(), of_device["speed_ratio"].max()
        texts.append(f"{labels[str(platform)]} runs these steps {low:.3f} to {high:.3f} times as fast as {first}.")
    return " ".join(texts)


def _caption(settings: Mapping[str, Any], sets: Sequence[DataSet], rows: pandas.DataFrame) -> str:
    devices = "; ".join(device_text(one.device) for one in sets)
    text = f"{devices}. Reference point: {reference_text(settings)}. Lines: 95% intervals of the ratios."
    return f"{text} {UNDEFINED_NOTE}" if undefined_kernels(rows) else text
