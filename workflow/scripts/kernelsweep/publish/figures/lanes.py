"""Where each thread's value goes: a picture of the array before and after each published exchange."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernelsweep.analysis.reference import with_shown_output
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import device_text
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.heatmap import text_colour
from kernelsweep.drawing.layout import (
    MARGIN_PT,
    ONE_COLUMN,
    POINTS_PER_INCH,
    TWO_COLUMNS,
    Frame,
    Width,
    empty_figure,
    new_figure,
    text_width_pt,
    wrap,
)

FIGURE = Declaration(
    title="Which lane's value lands where",
    purpose="where each lane's value goes",
    needs=("outputs",),
)
PICTURES_A_ROW = {TWO_COLUMNS: 2, ONE_COLUMN: 1}
# A picture of more elements takes the whole width of a figure of two columns; one column has no room for it.
MOST_CELLS = 16
# Heights in a picture, from its title down, in points. All pictures of a column must fit on one page.
TITLE_PT, THREADS_PT, CELL_PT, PUBLISHED_PT, BELOW_PT = 13.0, 10.0, 12.0, 11.0, 9.0
LINES_PT = {TWO_COLUMNS: 30.0, ONE_COLUMN: 12.0}
# The reason for a missing output has room for this many lines between the cells.
MOST_LINES = 3
# Beside the cells, in cells: the rows' names on the left, and all gaps between threads that hold several elements.
NAMES, GAPS = 2.9, 1.5
# Threads are coloured along a scale between these colours. Each is seen as a line on paper, and on a dark page.
SCALE = matplotlib.colors.LinearSegmentedColormap.from_list("threads", palette.SCALE)


@dataclass(frozen=True)
class _Picture:
    """One published exchange, and what our kernel left.

    published  the elements that the publication has after the exchange
    measured   those that the kernel left, None where there is no output
    remark     the point's status where it is not `ok`, or why there is no output, else ""
    elements   the number that each thread holds
    """

    kernel: str
    arguments: str
    published: Sequence[int]
    measured: Sequence[int] | None
    remark: str
    elements: int

    @property
    def differing(self) -> list[int]:
        """The places at which measured and published outputs differ."""
        if self.measured is None:
            return []
        return [place for place, value in enumerate(self.published) if self.measured[place] != value]


@dataclass(frozen=True)
class _Frame:
    """Where a picture's parts stand: one cell wide a unit across, a point a unit down.

    lefts       the left edge of each cell
    input_top   the upper edge of the input's cells
    output_top  the upper edge of the output's cells
    width_pt    the picture's width in print
    """

    lefts: Sequence[float]
    input_top: float
    output_top: float
    width_pt: float

    @property
    def right(self) -> float:
        """The right edge of the last cell."""
        return self.lefts[-1] + 1


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A picture for each published exchange: the elements before and after it, joined by lines, coloured by thread.

    Elements are numbered, so the values of the measured output tell where each came from. Where it differs from the
    published one, it is outlined, with the published value below. A picture without an output says why.
    """
    caption = _caption(data)
    if data.published is None:
        frame = Frame(width, FIGURE.heading(data.title), "No published exchange to draw.", caption)
        return empty_figure(frame, "The study names no published exchanges.")
    pictures = _pictures(data, data.published.outputs)
    if width is ONE_COLUMN and any(len(picture.published) > MOST_CELLS for picture in pictures):
        pictures = [picture for picture in pictures if len(picture.published) <= MOST_CELLS]
        caption += f" Arrays of more than {MOST_CELLS} elements are in the figure for two columns."
    columns, lines_pt = PICTURES_A_ROW[width], LINES_PT[width]
    rows = _rows(pictures, columns)
    heights_pt = [max(_height_pt(picture, lines_pt) for picture in row) for row in rows]
    frame = Frame(width, FIGURE.heading(data.title), _message(pictures), caption)
    figure = new_figure(frame, sum(heights_pt) / POINTS_PER_INCH)
    grid = figure.add_gridspec(len(rows), columns, height_ratios=heights_pt)
    for number, row in enumerate(rows):
        for place, picture in enumerate(row):
            wide = len(picture.published) > MOST_CELLS
            axes = figure.add_subplot(grid[number, :] if wide else grid[number, place])
            axes.set_axis_off()
            axes.set_ylim(heights_pt[number], 0)
            _draw_picture(axes, picture, _frame(picture, lines_pt, width.points / (1 if wide else columns)))
    return figure


def _rows(pictures: Sequence[_Picture], columns: int) -> list[list[_Picture]]:
    """The pictures in rows of `columns`; those of more than MOST_CELLS elements follow, each in a row of its own."""
    narrow = [picture for picture in pictures if len(picture.published) <= MOST_CELLS]
    rows = [narrow[start : start + columns] for start in range(0, len(narrow), columns)]
    return rows + [[picture] for picture in pictures if len(picture.published) > MOST_CELLS]


def _pictures(data: StudyData, published: Mapping[tuple[str, str], str]) -> list[_Picture]:
    rows = with_shown_output(data.settings, data.measurements)
    kernels = data.settings["kernels"]
    elements = {str(kernel["name"]): int(kernel["axes"].get("unroll", [1])[0]) for kernel in kernels}
    return [
        _picture(kernel, arguments, output, rows, elements.get(kernel, 1))
        for (kernel, arguments), output in published.items()
    ]


def _picture(kernel: str, text: str, published: str, rows: pandas.DataFrame, elements: int) -> _Picture:
    arguments = _numbers(text)
    output = _values(published)
    found = rows[(rows["kernel"] == kernel) & (rows["array_size"] == len(output))]
    found = found[found["arguments"].map(_numbers).map(lambda those: those == arguments).astype(bool)]
    found = found[found["unroll"] == elements]
    if found.empty:
        return _Picture(kernel, text, output, None, "no such point in this sweep", elements)
    point = found.iloc[0]
    measured = _values(point["output"]) if pandas.notna(point["output"]) else []
    remark = "" if point["status"] == "ok" else str(point["status"]).replace("_", " ")
    if len(measured) != len(output):
        reason = f"{remark}: {point['message']}" if remark and point["message"] else remark
        return _Picture(kernel, text, output, None, reason or "not recorded", elements)
    return _Picture(kernel, text, output, measured, remark, elements)


def _values(output: str) -> list[int]:
    """The elements of an output; floating-point elements are whole numbers as well."""
    return [int(float(value)) for value in output.split()]


def _height_pt(picture: _Picture, lines_pt: float) -> float:
    threads_pt = THREADS_PT if picture.elements > 1 else 0.0
    published_pt = PUBLISHED_PT if picture.differing else 0.0
    return TITLE_PT + threads_pt + CELL_PT + lines_pt + CELL_PT + published_pt + BELOW_PT


def _frame(picture: _Picture, lines_pt: float, width_pt: float) -> _Frame:
    count = len(picture.published)
    threads = count // picture.elements
    gap = GAPS / (threads - 1) if 1 < threads < count else 0.0
    lefts = [place + gap * (place // picture.elements) for place in range(count)]
    input_top = TITLE_PT + (THREADS_PT if picture.elements > 1 else 0.0)
    return _Frame(lefts, input_top, input_top + CELL_PT + lines_pt, width_pt)


def _draw_picture(axes: Axes, picture: _Picture, frame: _Frame) -> None:
    axes.set_xlim(-NAMES, len(picture.published) + GAPS)
    _draw_title(axes, picture, frame)
    colours = _colours(picture)
    _name(axes, frame.input_top, "input")
    for place, left in enumerate(frame.lefts):
        _cell(axes, left, frame.input_top, place, colours[place])
    _name(axes, frame.output_top, "output")
    if picture.measured is None:
        _say_why(axes, picture, frame)
        return
    _draw_output(axes, picture.measured, colours, frame)
    _draw_differences(axes, picture, frame)


def _draw_title(axes: Axes, picture: _Picture, frame: _Frame) -> None:
    """The exchange and its verdict, and above the input the threads, where they hold several elements each."""
    axes.text(-NAMES, 0, picture.kernel, va="top", weight="bold")
    axes.annotate(
        picture.arguments.replace("-", "−"),
        (-NAMES, 0),
        xytext=(text_width_pt(f"{picture.kernel} ", bold=True) + MARGIN_PT, 0),
        textcoords="offset points",
        va="top",
    )
    verdict, colour = _verdict(picture)
    axes.text(frame.right, 0, verdict, va="top", ha="right", color=colour)
    if picture.elements > 1:
        for first in range(0, len(frame.lefts), picture.elements):
            middle = (frame.lefts[first] + frame.lefts[first + picture.elements - 1] + 1) / 2
            thread = f"thread {first // picture.elements}"
            axes.text(middle, TITLE_PT, thread, va="top", ha="center", color=palette.GREY)


def _draw_output(axes: Axes, measured: Sequence[int], colours: Sequence[Any], frame: _Frame) -> None:
    """The elements that the kernel left, each with a line from its place in the input."""
    for place, value in enumerate(measured):
        known = 0 <= value < len(measured)
        if known:
            ends = [frame.lefts[value] + 0.5, frame.lefts[place] + 0.5]
            heights = [frame.input_top + CELL_PT, frame.output_top]
            axes.plot(ends, heights, color=colours[value], linewidth=0.8, zorder=1, solid_capstyle="butt")
        _cell(axes, frame.lefts[place], frame.output_top, value, colours[value] if known else palette.PALE_GREY)


def _draw_differences(axes: Axes, picture: _Picture, frame: _Frame) -> None:
    """An outline where the output differs from the published one, with the published value below."""
    bottom = frame.output_top + CELL_PT
    for place in picture.differing:
        left = frame.lefts[place]
        outline = Rectangle(
            (left, frame.output_top), 1, CELL_PT, fill=False, edgecolor=palette.VERMILLION, linewidth=1.8, zorder=4
        )
        outline.set_clip_on(False)
        axes.add_patch(outline)
        axes.text(
            left + 0.5,
            bottom + PUBLISHED_PT / 2,
            str(picture.published[place]),
            ha="center",
            va="center_baseline",
            color=palette.text_in(palette.VERMILLION),
        )
    if picture.differing:
        _name(axes, bottom, "published", PUBLISHED_PT, palette.text_in(palette.VERMILLION))


def _colours(picture: _Picture) -> list[Any]:
    """Each element's colour, that of the thread that holds it."""
    threads = [place // picture.elements for place in range(len(picture.published))]
    return [SCALE(thread / max(threads[-1], 1)) for thread in threads]


def _name(axes: Axes, top: float, text: str, height: float = CELL_PT, colour: str = palette.GREY) -> None:
    axes.text(-NAMES, top + height / 2, text, va="center_baseline", color=colour)


def _cell(axes: Axes, left: float, top: float, value: int, colour: Any) -> None:
    axes.add_patch(Rectangle((left, top), 1, CELL_PT, facecolor=colour, edgecolor="white", linewidth=0.6, zorder=2))
    axes.text(
        left + 0.5,
        top + CELL_PT / 2,
        str(value),
        ha="center",
        va="center_baseline",
        color=text_colour(matplotlib.colors.to_rgba(colour)),
        zorder=3,
    )


def _say_why(axes: Axes, picture: _Picture, frame: _Frame) -> None:
    """In the output's place, why there is none."""
    axes.add_patch(
        Rectangle(
            (0, frame.output_top),
            frame.right,
            CELL_PT,
            facecolor="white",
            edgecolor=palette.PALE_GREY,
            hatch="/////",
            linewidth=0.5,
            zorder=2,
        )
    )
    cells = len(picture.published) + NAMES + GAPS
    lines = wrap(f"no output: {picture.remark}", frame.width_pt * frame.right / cells - 2 * MARGIN_PT)
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"{lines[MOST_LINES - 1][:-2]} …"]
    axes.text(
        frame.right / 2,
        (frame.input_top + CELL_PT + frame.output_top) / 2,
        "\n".join(lines),
        ha="center",
        va="center",
        color=palette.GREY,
        linespacing=1.1,
    )


def _verdict(picture: _Picture) -> tuple[str, str]:
    if picture.measured is None:
        return "not measured", palette.GREY
    differing = len(picture.differing)
    if differing:
        return f"{differing} differ", palette.text_in(palette.VERMILLION)
    if picture.remark:
        return picture.remark, palette.text_in(palette.VERMILLION)
    return "as published", palette.GREY


def _message(pictures: Sequence[_Picture]) -> str:
    measured = [picture for picture in pictures if picture.measured is not None]
    if not measured:
        return "No exchange has a measured output."
    same = [picture for picture in measured if not picture.differing]
    share = "All" if len(same) == len(measured) else f"{len(same)} of"
    text = f"{share} {len(measured)} measured outputs are as published"
    missing = len(pictures) - len(measured)
    return text + (f"; {missing} not measured." if missing else ".")


def _caption(data: StudyData) -> str:
    reference = data.settings["reference"]
    return (
        f"{device_text(data.device)}. Elements of {reference['dtype']} in one thread block, groups of"
        f" {reference['block_size']} lanes; before the exchange, element i has the value i. Colours: the thread that"
        " holds an element before the exchange; lines: where its value went. Threads of several elements are named."
    )


def _numbers(arguments: str) -> dict[str, int]:
    """An exchange's arguments by name: {"lane_mask": 1, "first": 0} for "lane_mask=1 first=0"."""
    return {name: int(value) for name, value in (word.split("=") for word in arguments.split())}
