"""Where each thread's value goes: a picture of the array before and after each published exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernelsweep.analysis.reference import with_shown_output
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import device_text
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.heatmap import text_colour
from kernelsweep.drawing.layout import POINTS_PER_INCH, TWO_COLUMNS, Frame, Width, empty_figure, new_figure, wrap

FIGURE = Declaration(
    title="Which lane's value lands where",
    purpose="where each lane's value goes",
)
# The least width of a picture, and of a cell in print. A picture of more elements takes the whole width.
PICTURE_IN, CELL_LEAST_PT, MOST_CELLS = 3.3, 11.0, 16
# Places in a picture from its title down, in points: the threads' names, the input, the output, and what is published.
THREADS_PT, INPUT_PT, OUTPUT_PT, PUBLISHED_PT, HEIGHT_PT, CELL_PT = 11.0, 21.0, 51.0, 63.0, 80.0, 12.0
# Beside the cells, in cells: the rows' names on the left, and all gaps between threads that hold several elements.
NAMES, GAPS = 2.9, 1.5
# Threads are coloured along a scale between these colours. Each is seen as a line on paper, and on a dark page.
SCALE = LinearSegmentedColormap.from_list("threads", palette.SCALE)
DIFFERENT = palette.text_in(palette.VERMILLION)


@dataclass(frozen=True)
class _Picture:
    """One published exchange, and what our kernel left.

    published  the elements that the publication has after the exchange
    measured   those that the kernel left, empty where there is no output
    remark     the point's status where it is not `ok`, or why there is no output, else ""
    elements   the number that each thread holds
    """

    kernel: str
    arguments: str
    published: Sequence[int]
    measured: Sequence[int]
    remark: str
    elements: int

    @property
    def differing(self) -> list[int]:
        """The places at which measured and published outputs differ."""
        pairs = zip(self.published, self.measured, strict=False)
        return [place for place, (one, other) in enumerate(pairs) if one != other]

    @property
    def verdict(self) -> str:
        """The comparison in words; "" where all is as published."""
        if not self.measured:
            return "not measured"
        return f"{len(self.differing)} differ" if self.differing else self.remark

    @property
    def top(self) -> float:
        """Where it begins: without threads' names, lower."""
        return 0.0 if self.elements > 1 else INPUT_PT - THREADS_PT

    @property
    def height(self) -> float:
        """Its height; published values have a row where one differs."""
        return HEIGHT_PT - self.top - (0.0 if self.differing else CELL_PT)

    def left(self, place: int) -> float:
        """The left edge of a cell, with gaps between threads that hold several elements."""
        threads = len(self.published) // self.elements
        gap = GAPS / (threads - 1) if 1 < threads < len(self.published) else 0.0
        return place + gap * (place // self.elements)


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A picture for each published exchange: the elements before and after it, joined by lines, coloured by thread.

    Elements are numbered, so the values of the measured output tell where each came from. Where it differs from the
    published one, it is outlined, with the published value below. A picture without an output says why.
    """
    caption, heading = _caption(data), FIGURE.heading(data.title)
    if not data.published:
        frame = Frame(width, heading, "No published exchange to draw.", caption)
        return empty_figure(frame, "The study names no published exchanges.")
    every = _pictures(data)
    pictures = [one for one in every if (len(one.published) + NAMES + GAPS) * CELL_LEAST_PT <= width.points]
    if len(pictures) < len(every):
        caption += " Larger arrays are in the wider figure."
    columns = width.columns(len(pictures), PICTURE_IN)
    narrow = [one for one in pictures if len(one.published) <= MOST_CELLS]
    rows = [narrow[start : start + columns] for start in range(0, len(narrow), columns)]
    rows += [[one] for one in pictures if one not in narrow]
    heights = [max(picture.height for picture in row) for row in rows]
    figure = new_figure(Frame(width, heading, _message(pictures), caption), sum(heights) / POINTS_PER_INCH)
    grid = figure.add_gridspec(len(rows), columns, height_ratios=heights)
    for number, row in enumerate(rows):
        for place, picture in enumerate(row):
            axes = figure.add_subplot(grid[number, place] if picture in narrow else grid[number, :])
            axes.set_axis_off()
            axes.set(xlim=(-NAMES, len(picture.published) + GAPS), ylim=(picture.top + heights[number], picture.top))
            _draw_picture(axes, picture)
    return figure


def _pictures(data: StudyData) -> list[_Picture]:
    rows = with_shown_output(data.settings, data.measurements)
    elements = {str(one.name): int(one.axes.get("unroll", [1])[0]) for one in data.settings.kernels}
    return [
        _picture(kernel, arguments, output, rows, elements.get(kernel, 1))
        for (kernel, arguments), output in data.published.items()
    ]


def _picture(kernel: str, text: str, published: str, rows: pandas.DataFrame, elements: int) -> _Picture:
    expected, arguments = _values(published), sorted(text.split())
    found = rows[(rows["kernel"] == kernel) & (rows["array_size"] == len(expected)) & (rows["unroll"] == elements)]
    found = found[[sorted(str(words).split()) == arguments for words in found["arguments"]]]
    if found.empty:
        return _Picture(kernel, text, expected, [], "no such point in this sweep", elements)
    point = found.iloc[0]
    measured = _values(point["output"]) if pandas.notna(point["output"]) else []
    remark = "" if point["status"] == "ok" else str(point["status"]).replace("_", " ")
    if len(measured) != len(expected):
        remark = ": ".join(filter(None, [remark, point["message"]])) or "not recorded"
        return _Picture(kernel, text, expected, [], remark, elements)
    return _Picture(kernel, text, expected, measured, remark, elements)


def _values(output: str) -> list[int]:
    """The elements of an output; floating-point elements are whole numbers as well."""
    return [int(float(value)) for value in output.split()]


def _draw_picture(axes: Axes, picture: _Picture) -> None:
    count, per_thread = len(picture.published), picture.elements
    colours = [SCALE(place // per_thread / max((count - 1) // per_thread, 1)) for place in range(count)]
    right = picture.left(count - 1) + 1
    axes.text(-NAMES, picture.top, f"{picture.kernel}: {picture.arguments}".replace("-", "−"), va="top")
    axes.text(right, picture.top, picture.verdict, va="top", ha="right", color=DIFFERENT)
    for first in range(0, count if per_thread > 1 else 0, per_thread):
        middle = (picture.left(first) + picture.left(first + per_thread - 1) + 1) / 2
        axes.text(middle, THREADS_PT, f"thread {first // per_thread}", va="top", ha="center", color=palette.GREY)
    for top, name in ((INPUT_PT, "input"), (OUTPUT_PT, "output")):
        axes.text(-NAMES, top + CELL_PT / 2, name, va="center_baseline", color=palette.GREY)
    for place in range(count):
        _cell(axes, picture.left(place), INPUT_PT, place, colours[place])
    for place, value in enumerate(picture.measured):
        is_known = 0 <= value < count
        if is_known:
            ends = [picture.left(value) + 0.5, picture.left(place) + 0.5]
            axes.plot(ends, [INPUT_PT + CELL_PT, OUTPUT_PT], color=colours[value], linewidth=0.8, zorder=1)
        _cell(axes, picture.left(place), OUTPUT_PT, value, colours[value] if is_known else palette.PALE_GREY)
    below: Any = {"va": "center_baseline", "color": DIFFERENT}
    for place in picture.differing:
        look: Any = {"fill": False, "edgecolor": palette.VERMILLION, "linewidth": 1.8, "zorder": 4, "clip_on": False}
        axes.add_patch(Rectangle((picture.left(place), OUTPUT_PT), 1, CELL_PT, **look))
        axes.text(
            picture.left(place) + 0.5, PUBLISHED_PT + CELL_PT / 2, str(picture.published[place]), ha="center", **below
        )
    if picture.differing:
        axes.text(-NAMES, PUBLISHED_PT + CELL_PT / 2, "published", **below)
    if not picture.measured:
        why = "\n".join(wrap(f"no output: {picture.remark}", PICTURE_IN * 0.7 * POINTS_PER_INCH)[:3])
        axes.text(
            right / 2, (INPUT_PT + OUTPUT_PT + 2 * CELL_PT) / 2, why, ha="center", va="center", color=palette.GREY
        )


def _cell(axes: Axes, left: float, top: float, value: int, colour: Any) -> None:
    axes.add_patch(Rectangle((left, top), 1, CELL_PT, facecolor=colour, edgecolor="white", linewidth=0.6, zorder=2))
    look: Any = {"ha": "center", "va": "center_baseline", "color": text_colour(colour), "zorder": 3}
    axes.text(left + 0.5, top + CELL_PT / 2, str(value), **look)


def _message(pictures: Sequence[_Picture]) -> str:
    measured = [picture for picture in pictures if picture.measured]
    same = sum(not picture.differing for picture in measured)
    missing = len(pictures) - len(measured)
    return f"{same} of {len(measured)} measured outputs are as published; {missing} not measured."


def _caption(data: StudyData) -> str:
    reference = data.settings.reference
    return (
        f"{device_text(data.device)}. Elements of {reference['dtype']} in one thread block, groups of"
        f" {reference['block_size']} lanes; before the exchange, element i has the value i. Colours: the thread that"
        " holds an element before the exchange; lines: where its value went."
    )
