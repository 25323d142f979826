"""Where each thread's value goes: a picture of the array before and after each published exchange."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.judge.data.words import device_text
from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.layout import TWO_COLUMNS, Drawing, columns, empty_drawing
from kernelsweep.publish.figure_files import FIGURES
from kernelsweep.publish.figures.lane_pictures import Picture, pictures_of

# The size of a picture, and the least width of a cell in print. A picture of more elements takes the whole width. The
# room beside it is a part of that, and that of the rows' names is in cells.
PICTURE_IN, HEIGHT_IN, CELL_LEAST_IN, MOST_CELLS, EDGE, NAMES = 3.3, 0.95, 0.15, 16, 0.008, 2.9
# The heights of the input and the output, each one cell high, and of what is above them.
UPPER, LOWER, THREADS, TOP = 2.5, 0.0, 3.8, 5.0
# Threads are coloured along a scale between these colours. Each is seen as a line on paper, and on a dark page.
SCALE = LinearSegmentedColormap.from_list("threads", palette.SCALE)


@style.styled
def draw(data: StudyData, width: float = TWO_COLUMNS) -> Drawing:
    """A picture for each published exchange: the elements before and after it, joined by lines, coloured by thread.

    Elements are numbered, so the values of the measured output show where each came from. A picture whose output is not
    as published, or that has none, says so.
    """
    heading, source, reference = FIGURES["lanes"].heading(data.title), device_text(data.device), data.settings.reference
    caption = (
        f"{data.device['name']}. Elements of {reference['dtype']} in one thread block, groups of"
        f" {reference['block_size']} lanes; before the exchange, element i has the value i. Colours: the thread that"
        " holds an element before the exchange; lines: where its value went."
    )
    if not (all_pictures := pictures_of(data)):
        texts = (heading, "No published exchange to draw.", caption, source)
        return empty_drawing(width, *texts, "The study names no published exchanges.")
    pictures = [picture for picture in all_pictures if (len(picture.published) + NAMES) * CELL_LEAST_IN <= width]
    caption += " Larger arrays are in the wider figure." * (len(pictures) < len(all_pictures))
    across = columns(len(pictures), width, PICTURE_IN)
    narrow = [picture for picture in pictures if len(picture.published) <= MOST_CELLS]
    rows = [narrow[start : start + across] for start in range(0, len(narrow), across)]
    rows += [[picture] for picture in pictures if picture not in narrow]
    same = sum(bool(picture.measured) and picture.measured == picture.published for picture in pictures)
    message = f"{same} of {len(pictures)} outputs are as published."
    figure, high = Figure(figsize=(width, HEIGHT_IN * len(rows))), 1 / len(rows)
    for number, row in enumerate(rows):
        for place, picture in enumerate(row):
            wide, bottom = 1 / (across if picture in narrow else 1), 1 - (number + 0.95) * high
            axes = figure.add_axes((place * wide + EDGE, bottom, wide - 2 * EDGE, 0.9 * high))
            axes.set_axis_off()
            axes.set(xlim=(-NAMES, picture.left(len(picture.published) - 1) + 1), ylim=(LOWER, TOP + 1))
            _draw_picture(axes, picture)
    return Drawing(figure, heading, message, caption, source, pandas.DataFrame(map(asdict, pictures)))


def _draw_picture(axes: Axes, picture: Picture) -> None:
    count, per_thread = len(picture.published), picture.elements
    colours = [SCALE(place // per_thread / max((count - 1) // per_thread, 1)) for place in range(count)]
    axes.text(-NAMES, TOP, picture.name)
    mark: Any = {"ha": "right", "color": palette.VERMILLION}
    axes.text(picture.left(count - 1) + 1, TOP if picture.measured else LOWER, picture.remark, **mark)
    for first in range(0, count if per_thread > 1 else 0, per_thread):
        middle = picture.left(first) + per_thread / 2
        axes.text(middle, THREADS, f"thread {first // per_thread}", ha="center", color=palette.GREY)
    for name, bottom, values in (("input", UPPER, range(count)), ("output", LOWER, picture.measured)):
        axes.text(-NAMES, bottom + 0.5, name, va="center_baseline", color=palette.GREY)
        lefts = [picture.left(place) for place in range(len(values))]
        is_known = [0 <= value < count for value in values]
        filled = [colours[value] if known else palette.GREY for value, known in zip(values, is_known, strict=True)]
        axes.bar(lefts, 1, 1, bottom, align="edge", color=filled, edgecolor="white", linewidth=0.6)
        for left, value, known, colour in zip(lefts, values, is_known, filled, strict=True):
            axes.text(left + 0.5, bottom + 0.5, str(value), ha="center", va="center_baseline", color=palette.WHITE)
            if name == "output" and known:
                ends = [picture.left(value) + 0.5, left + 0.5]
                axes.plot(ends, [UPPER, LOWER + 1], color=colour, linewidth=0.8, zorder=0.5)
