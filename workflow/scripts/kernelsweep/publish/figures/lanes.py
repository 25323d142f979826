"""Where each thread's value goes: a picture of the array before and after each published exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from kernelsweep.judge.data.published import published_outputs
from kernelsweep.judge.data.reference import with_shown_output
from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.judge.data.words import device_text
from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.layout import TWO_COLUMNS, Frame, columns, empty_figure, new_figure
from kernelsweep.publish.figure_files import FIGURES

FIGURE = FIGURES["lanes"]
# The size of a picture, and the least width of a cell in print. A picture of more elements takes the whole width.
PICTURE_IN, HEIGHT_IN, CELL_LEAST_IN, MOST_CELLS = 3.3, 0.95, 0.15, 16
# In cells: the rows' names on the left, and the gap between threads that hold several elements.
NAMES, GAP = 2.9, 0.5
# The heights of the input and the output, each one cell high, and of what is above them.
UPPER, LOWER, THREADS, TOP = 2.5, 0.0, 3.8, 5.0
# Threads are coloured along a scale between these colours. Each is seen as a line on paper, and on a dark page.
SCALE = LinearSegmentedColormap.from_list("threads", palette.SCALE)


@dataclass(frozen=True)
class _Picture:
    """One published exchange, and what our kernel left.

    published  the elements that the publication has after the exchange
    measured   those that the kernel left, empty where there is no output
    remark     in what these are not as published, or why there is no output; "" where all is as published
    elements   the number that each thread holds
    """

    name: str
    published: Sequence[int]
    measured: Sequence[int]
    remark: str
    elements: int

    def left(self, place: int) -> float:
        """The left edge of a cell, with gaps between threads that hold several elements."""
        return place + GAP * (place // self.elements) * (self.elements > 1)


@style.styled
def draw(data: StudyData, width: float = TWO_COLUMNS) -> Figure:
    """A picture for each published exchange: the elements before and after it, joined by lines, coloured by thread.

    Elements are numbered, so the values of the measured output show where each came from. A picture whose output is not
    as published, or that has none, says so.
    """
    caption, heading = _caption(data), FIGURE.heading(data.title)
    if not published_outputs(data.published):
        frame = Frame(width, heading, "No published exchange to draw.", caption)
        return empty_figure(frame, "The study names no published exchanges.")
    all_pictures = _pictures(data)
    pictures = [picture for picture in all_pictures if (len(picture.published) + NAMES) * CELL_LEAST_IN <= width]
    if len(pictures) < len(all_pictures):
        caption += " Larger arrays are in the wider figure."
    across = columns(len(pictures), width, PICTURE_IN)
    narrow = [picture for picture in pictures if len(picture.published) <= MOST_CELLS]
    rows = [narrow[start : start + across] for start in range(0, len(narrow), across)]
    rows += [[picture] for picture in pictures if picture not in narrow]
    same = sum(bool(picture.measured) and picture.measured == picture.published for picture in pictures)
    message = f"{same} of {len(pictures)} outputs are as published."
    figure = new_figure(Frame(width, heading, message, caption), HEIGHT_IN * len(rows))
    grid = figure.add_gridspec(len(rows), across)
    for number, row in enumerate(rows):
        for place, picture in enumerate(row):
            axes = figure.add_subplot(grid[number, place] if picture in narrow else grid[number, :])
            axes.set_axis_off()
            axes.set(xlim=(-NAMES, picture.left(len(picture.published) - 1) + 1), ylim=(LOWER, TOP + 1))
            _draw_picture(axes, picture)
    return figure


def _pictures(data: StudyData) -> list[_Picture]:
    rows = with_shown_output(data.settings, data.measurements)
    elements = {str(one.name): int(one.axes.get("unroll", [1])[0]) for one in data.settings.kernels}
    return [
        _picture(kernel, arguments, output, rows, elements.get(kernel, 1))
        for (kernel, arguments), output in published_outputs(data.published).items()
    ]


def _picture(kernel: str, text: str, published: str, rows: pandas.DataFrame, elements: int) -> _Picture:
    name, expected, arguments = f"{kernel}: {text}".replace("-", "−"), _values(published), sorted(text.split())
    points = rows[(rows["kernel"] == kernel) & (rows["array_size"] == len(expected)) & (rows["unroll"] == elements)]
    points = points[[sorted(str(words).split()) == arguments for words in points["arguments"]]]
    if points.empty:
        return _Picture(name, expected, [], "no such point in this sweep", elements)
    point = points.iloc[0]
    measured = _values(point["output"]) if pandas.notna(point["output"]) else []
    if len(measured) != len(expected):
        status = "" if point["status"] == "ok" else str(point["status"]).replace("_", " ")
        return _Picture(name, expected, [], status or "no output was recorded", elements)
    differing = sum(one != other for one, other in zip(expected, measured, strict=True))
    return _Picture(name, expected, measured, f"{differing} differ" if differing else "", elements)


def _values(output: str) -> list[int]:
    """The elements of an output; floating-point elements are whole numbers as well."""
    return [int(float(value)) for value in output.split()]


def _draw_picture(axes: Axes, picture: _Picture) -> None:
    count, per_thread = len(picture.published), picture.elements
    colours = [SCALE(place // per_thread / max((count - 1) // per_thread, 1)) for place in range(count)]
    axes.text(-NAMES, TOP, picture.name)
    mark: Any = {"ha": "right", "color": palette.text_in(palette.VERMILLION)}
    axes.text(picture.left(count - 1) + 1, TOP if picture.measured else LOWER, picture.remark, **mark)
    for first in range(0, count if per_thread > 1 else 0, per_thread):
        middle = picture.left(first) + per_thread / 2
        axes.text(middle, THREADS, f"thread {first // per_thread}", ha="center", color=palette.GREY)
    rows = {"input": (UPPER, range(count)), "output": (LOWER, picture.measured)}
    for name, (bottom, values) in rows.items():
        axes.text(-NAMES, bottom + 0.5, name, va="center_baseline", color=palette.GREY)
        for place, value in enumerate(values):
            is_known, left = 0 <= value < count, picture.left(place)
            colour = colours[value] if is_known else palette.GREY
            axes.bar(left, 1, 1, bottom, align="edge", color=colour, edgecolor="white", linewidth=0.6)
            axes.text(left + 0.5, bottom + 0.5, str(value), ha="center", va="center_baseline", color=palette.WHITE)
            if name == "output" and is_known:
                ends = [picture.left(value) + 0.5, left + 0.5]
                axes.plot(ends, [UPPER, LOWER + 1], color=colour, linewidth=0.8, zorder=0.5)


def _caption(data: StudyData) -> str:
    reference = data.settings.reference
    return (
        f"{device_text(data.device)}. Elements of {reference['dtype']} in one thread block, groups of"
        f" {reference['block_size']} lanes; before the exchange, element i has the value i. Colours: the thread that"
        " holds an element before the exchange; lines: where its value went."
    )
