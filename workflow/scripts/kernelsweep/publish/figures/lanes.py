"""Which thread's value lands where: each published exchange as a picture of the array before and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kernelsweep.analysis.published import PublishedOutputs
from kernelsweep.analysis.reference import at_reference
from kernelsweep.analysis.words import device_text
from kernelsweep.drawing import style
from kernelsweep.drawing.heatmap import text_colour
from kernelsweep.problems.exchange import parse_arguments

EMPTY_BODY_IN = 1.2
PICTURES_A_ROW = 2
# Heights in a picture, from its title down, in points.
TITLE_PT, THREADS_PT, CELL_PT, LINES_PT, PUBLISHED_PT, BELOW_PT = 13.0, 10.0, 12.0, 30.0, 11.0, 9.0
# In one column, where all pictures stand one above the other on one page.
NARROW_LINES_PT = 22.0
# Why there is no output, as far as there is room between the cells.
MOST_LINES = 3
# Beside the cells, in cells: the rows' names on the left, and all gaps between threads that hold several elements.
NAMES, GAPS = 2.9, 1.5
# Threads are coloured along this stretch of the scale: its pale end would vanish as a line on paper.
SCALE, PALEST = "viridis", 0.86


@dataclass(frozen=True)
class _Picture:
    """One published exchange and what was measured of it.

    published  the elements that the publication has after the exchange
    measured   those that the kernel left, None where there is no output
    remark     what became of the point where it is not `ok`, else ""
    elements   how many a thread holds
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


@style.styled
def draw(
    study: Mapping[str, Any],
    measurements: pandas.DataFrame,
    device: Mapping[str, Any],
    published: PublishedOutputs | None,
    width_in: float = style.TWO_COLUMN_IN,
) -> Figure:
    """A picture for each published exchange: the elements before and after it, joined by lines, coloured by thread.

    Elements are numbered, so the values of the measured output tell where each came from. Where it differs from the
    published one, it is outlined, with the published value below. A picture without an output says why.
    """
    caption = _caption(study, device)
    if published is None:
        message = "No published exchange to draw."
        figure = style.new_figure(width_in, EMPTY_BODY_IN, study["title"], message, caption)
        style.say_missing(figure.subplots(), "The study names no published exchanges.")
        return figure
    rows = at_reference(study, measurements, free=("block_size",))
    # As published: the whole array in one thread block and one group of lanes.
    one_block = rows["block_size"] * rows["unroll"] == rows["array_size"]
    rows = rows[one_block & (rows["width"] == rows["array_size"]).fillna(False)]
    elements = {str(kernel["name"]): int(kernel["axes"].get("unroll", [1])[0]) for kernel in study["kernels"]}
    pictures = [
        _picture(kernel, arguments, output, rows, elements.get(kernel, 1))
        for (kernel, arguments), output in published.outputs.items()
    ]
    columns, lines_pt = (1, NARROW_LINES_PT) if style.is_narrow(width_in) else (PICTURES_A_ROW, LINES_PT)
    heights_pt = [
        max(_height_pt(picture, lines_pt) for picture in pictures[start : start + columns])
        for start in range(0, len(pictures), columns)
    ]
    body_in = sum(heights_pt) / style.POINTS_PER_INCH
    figure = style.new_figure(width_in, body_in, study["title"], _message(pictures), caption)
    grid = figure.subplots(len(heights_pt), columns, squeeze=False, height_ratios=heights_pt)
    for index, axes in enumerate(grid.flat):
        axes.set_axis_off()
        if index < len(pictures):
            _draw_picture(axes, pictures[index], heights_pt[index // columns], lines_pt, width_in / columns)
    return figure


def _picture(kernel: str, text: str, published: str, rows: pandas.DataFrame, elements: int) -> _Picture:
    arguments = parse_arguments(text)
    output = _values(published)
    found = rows[(rows["kernel"] == kernel) & (rows["array_size"] == len(output))]
    found = found[found["arguments"].map(parse_arguments).map(lambda those: those == arguments).astype(bool)]
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
    """The elements of an output; those of a floating-point type are whole numbers as well."""
    return [int(float(value)) for value in output.split()]


def _height_pt(picture: _Picture, lines_pt: float) -> float:
    threads_pt = THREADS_PT if picture.elements > 1 else 0.0
    published_pt = PUBLISHED_PT if picture.differing else 0.0
    return TITLE_PT + threads_pt + CELL_PT + lines_pt + CELL_PT + published_pt + BELOW_PT


def _draw_picture(axes: Axes, picture: _Picture, height_pt: float, lines_pt: float, width_in: float) -> None:
    """The picture, one cell wide a unit across and a point a unit down."""
    count = len(picture.published)
    threads = count // picture.elements
    gap = GAPS / (threads - 1) if 1 < threads < count else 0.0
    lefts = [place + gap * (place // picture.elements) for place in range(count)]
    axes.set_xlim(-NAMES, count + GAPS)
    axes.set_ylim(height_pt, 0)
    right = lefts[-1] + 1
    axes.text(-NAMES, 0, picture.kernel, va="top", weight="bold")
    axes.annotate(
        picture.arguments.replace("-", "−"),
        (-NAMES, 0),
        xytext=(style.text_width_pt(f"{picture.kernel} ", style.TEXT_PT, bold=True) + style.MARGIN_PT, 0),
        textcoords="offset points",
        va="top",
    )
    verdict, colour = _verdict(picture)
    axes.text(right, 0, verdict, va="top", ha="right", color=colour)

    top = TITLE_PT
    if picture.elements > 1:
        for first in range(0, count, picture.elements):
            middle = (lefts[first] + lefts[first + picture.elements - 1] + 1) / 2
            axes.text(middle, top, f"thread {first // picture.elements}", va="top", ha="center", color=style.GREY)
        top += THREADS_PT
    colours = _colours(picture)
    _name(axes, top, "input")
    for place in range(count):
        _cell(axes, lefts[place], top, place, colours[place])
    top += CELL_PT
    bottom = top + lines_pt
    _name(axes, bottom, "output")
    if picture.measured is None:
        _say_why(axes, picture, bottom, right, lines_pt, width_in)
        return
    for place, value in enumerate(picture.measured):
        known = 0 <= value < count
        if known:
            ends = [lefts[value] + 0.5, lefts[place] + 0.5]
            axes.plot(ends, [top, bottom], color=colours[value], linewidth=0.8, zorder=1, solid_capstyle="butt")
        _cell(axes, lefts[place], bottom, value, colours[value] if known else style.PALE_GREY)
    differing = picture.differing
    for place in differing:
        outline = Rectangle(
            (lefts[place], bottom), 1, CELL_PT, fill=False, edgecolor=style.VERMILLION, linewidth=1.8, zorder=4
        )
        outline.set_clip_on(False)
        axes.add_patch(outline)
        axes.text(
            lefts[place] + 0.5,
            bottom + CELL_PT + PUBLISHED_PT / 2,
            str(picture.published[place]),
            ha="center",
            va="center_baseline",
            color=style.VERMILLION,
        )
    if differing:
        _name(axes, bottom + CELL_PT, "published", PUBLISHED_PT, style.VERMILLION)


def _colours(picture: _Picture) -> list[Any]:
    """Each element's colour, that of the thread that holds it."""
    scale = matplotlib.colormaps[SCALE]
    threads = [place // picture.elements for place in range(len(picture.published))]
    return [scale(PALEST * thread / max(threads[-1], 1)) for thread in threads]


def _name(axes: Axes, top: float, text: str, height: float = CELL_PT, colour: str = style.GREY) -> None:
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


def _say_why(axes: Axes, picture: _Picture, top: float, right: float, lines_pt: float, width_in: float) -> None:
    """In the output's place, that there is none, and why."""
    axes.add_patch(
        Rectangle(
            (0, top),
            right,
            CELL_PT,
            facecolor="white",
            edgecolor=style.PALE_GREY,
            hatch="/////",
            linewidth=0.5,
            zorder=2,
        )
    )
    cells = len(picture.published) + NAMES + GAPS
    width_pt = width_in * style.POINTS_PER_INCH * right / cells - 2 * style.MARGIN_PT
    lines = style.wrap(f"no output: {picture.remark}", width_pt, style.TEXT_PT)
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"{lines[MOST_LINES - 1][:-2]} …"]
    axes.text(
        right / 2, top - lines_pt / 2, "\n".join(lines), ha="center", va="center", color=style.GREY, linespacing=1.1
    )


def _verdict(picture: _Picture) -> tuple[str, str]:
    if picture.measured is None:
        return "not measured", style.GREY
    differing = len(picture.differing)
    if differing:
        return f"{differing} differ", style.VERMILLION
    return ("as published", style.GREY) if not picture.remark else (picture.remark, style.VERMILLION)


def _message(pictures: Sequence[_Picture]) -> str:
    measured = [picture for picture in pictures if picture.measured is not None]
    if not measured:
        return "No exchange has a measured output."
    same = [picture for picture in measured if not picture.differing]
    share = "All" if len(same) == len(measured) else f"{len(same)} of"
    text = f"{share} {len(measured)} measured outputs are as published"
    missing = len(pictures) - len(measured)
    return text + (f"; {missing} not measured." if missing else ".")


def _caption(study: Mapping[str, Any], device: Mapping[str, Any]) -> str:
    reference = study["reference"]
    return (
        f"{device_text(device)}. {reference['array_size']} elements of {reference['dtype']} in one group of lanes,"
        f" width {reference['array_size']}; before the exchange, element i has the value i. Colours: the thread that"
        " holds an element before the exchange; lines: where its value went. Threads of several elements are named."
    )
