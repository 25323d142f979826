"""What all figures share: sizes, type, colours, header and caption, and files that are the same from run to run.

Figures are designed at the width they are printed at in a two-column paper, where type must not be below 7 pt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.textpath
import pandas
import seaborn  # type: ignore[import-untyped]
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from kernelsweep.published import Published

Draw = Callable[[Mapping[str, Any], pandas.DataFrame, Mapping[str, Any], Published | None], Figure]

ONE_COLUMN_IN = 3.5
TWO_COLUMN_IN = 7.16
POINTS_PER_INCH = 72.0
RASTER_DPI = 300

TEXT_PT = 7.0
TITLE_PT = 8.5
LINE_SPACING = 1.25
# Between the figure's edge and its text, and between text and axes.
MARGIN_PT = 4.0
LEGEND_PT = MARGIN_PT + TEXT_PT * LINE_SPACING

FONT = "DejaVu Sans"
# Any: the stubs list the keys one by one, and seaborn, which gives some of them, has none.
RC: Any = {
    **seaborn.axes_style("ticks"),
    "font.family": "sans-serif",
    # The one family bundled with matplotlib: the same glyphs on every machine.
    "font.sans-serif": [FONT],
    "font.size": TEXT_PT,
    "axes.titlesize": TEXT_PT,
    "axes.labelsize": TEXT_PT,
    "xtick.labelsize": TEXT_PT,
    "ytick.labelsize": TEXT_PT,
    "legend.fontsize": TEXT_PT,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.pad": 2.0,
    "ytick.major.pad": 2.0,
    "axes.labelpad": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.4,
    "figure.dpi": 100.0,
    # Files: glyphs as paths in SVG, as TrueType in PDF (journals refuse Type 3), ids from a fixed salt.
    "svg.fonttype": "path",
    "svg.hashsalt": "kernelsweep",
    "pdf.fonttype": 42,
}

# Okabe and Ito's colours, without the yellow that vanishes on paper.
BLUE, VERMILLION, GREEN, PURPLE, SKY, ORANGE, BLACK = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#E69F00",
    "#000000",
)
LINE_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, BLACK, SKY, ORANGE)
GREY, PALE_GREY, GRID_GREY = "#6b6b6b", "#d9d9d9", "#e4e4e4"

UNDEFINED_MARK = " †"
UNDEFINED_NOTE = "† Undefined behaviour in CUDA: never a baseline."

# One letter a status: the word does not fit a heat map's cell at 7 pt.
STATUS_LETTERS = {
    "wrong_result": "W",
    "build_failed": "B",
    "launch_failed": "L",
    "timed_out": "T",
    "out_of_memory": "M",
    "skipped": "S",
}

# The files' dates would make every run's differ.
NO_DATES: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
    ".png": {},
}


def styled(draw: Draw) -> Draw:
    """Run a figure's `draw` under the common settings, whatever the caller's are."""

    @wraps(draw)
    def styled_draw(
        study: Mapping[str, Any],
        measurements: pandas.DataFrame,
        device: Mapping[str, Any],
        published: Published | None,
    ) -> Figure:
        with matplotlib.rc_context(RC):
            return draw(study, measurements, device, published)

    return styled_draw


def save(figure: Figure, path: Path) -> None:
    """Write the figure as SVG, PNG or PDF, by the path's suffix; the same figure gives the same bytes.

    Raises ValueError for another suffix.
    """
    if path.suffix not in NO_DATES:
        raise ValueError(f"{path}: figures are saved as {', '.join(NO_DATES)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(RC):
        figure.savefig(path, metadata=NO_DATES[path.suffix], dpi=RASTER_DPI)


def new_figure(
    width_in: float, body_in: float, title: str, message: str, caption: str, with_legend: bool = False
) -> Figure:
    """An empty figure: a title and message, a body of `width_in` by `body_in` inches for the axes, a caption.

    The texts are wrapped to the width, and the figure grows with them, so that they never meet the axes. The axes are
    laid out by matplotlib's constrained layout inside the body. `with_legend` leaves a line for `legend_above`.
    """
    room_pt = width_in * POINTS_PER_INCH - 2 * MARGIN_PT
    blocks = [
        (wrap(title, room_pt, TITLE_PT, bold=True), TITLE_PT, "bold", BLACK),
        (wrap(message, room_pt, TEXT_PT), TEXT_PT, "normal", BLACK),
        (wrap(caption, room_pt, TEXT_PT), TEXT_PT, "normal", GREY),
    ]
    heights_pt = [len(lines) * size * LINE_SPACING for lines, size, _, _ in blocks]
    head_pt = MARGIN_PT + heights_pt[0] + heights_pt[1] + (LEGEND_PT if with_legend else MARGIN_PT)
    foot_pt = MARGIN_PT + heights_pt[2] + MARGIN_PT
    total_pt = head_pt + body_in * POINTS_PER_INCH + foot_pt
    figure = Figure(figsize=(width_in, total_pt / POINTS_PER_INCH), facecolor="white")
    tops_pt = [total_pt - MARGIN_PT, total_pt - MARGIN_PT - heights_pt[0], MARGIN_PT + heights_pt[2]]
    for (lines, size, weight, colour), top_pt in zip(blocks, tops_pt, strict=True):
        for index, line in enumerate(lines):
            figure.text(
                MARGIN_PT / (width_in * POINTS_PER_INCH),
                (top_pt - index * size * LINE_SPACING) / total_pt,
                line,
                size=size,
                weight=weight,
                color=colour,
                va="top",
                parse_math=False,
            )
    figure.set_layout_engine(
        "constrained",
        rect=(0.0, foot_pt / total_pt, 1.0, body_in * POINTS_PER_INCH / total_pt),
        w_pad=MARGIN_PT / POINTS_PER_INCH,
        h_pad=MARGIN_PT / POINTS_PER_INCH,
    )
    return figure


def legend_above(figure: Figure, handles: Sequence[Artist], **options: Any) -> None:
    """A legend of one line, just above the body of a figure made `with_legend`."""
    engine = figure.get_layout_engine()
    assert engine is not None, "new_figure sets one"
    _, bottom, _, height = engine.get()["rect"]
    figure.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(MARGIN_PT / POINTS_PER_INCH / figure.get_figwidth(), bottom + height),
        ncols=len(handles),
        frameon=False,
        borderpad=0.0,
        borderaxespad=0.0,
        columnspacing=1.6,
        **options,
    )


def text_width_pt(text: str, size_pt: float, bold: bool = False) -> float:
    """The width of one line of text, in points."""
    font = FontProperties(family=FONT, size=size_pt, weight="bold" if bold else "normal")
    width, _, _ = matplotlib.textpath.TextToPath().get_text_width_height_descent(text, font, ismath=False)
    return float(width)


def wrap(text: str, width_pt: float, size_pt: float, bold: bool = False) -> list[str]:
    """`text` in lines no wider than `width_pt`, broken at blanks; a longer word gets a line of its own."""
    lines: list[str] = []
    for word in text.split():
        if lines and text_width_pt(f"{lines[-1]} {word}", size_pt, bold) <= width_pt:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def say_missing(axes: Axes, reason: str) -> None:
    """Empty axes that state what is missing, instead of a picture of nothing."""
    axes.set_axis_off()
    width_pt = axes.get_window_extent().width / axes.figure.dpi * POINTS_PER_INCH
    axes.text(
        0.5,
        0.5,
        "\n".join(wrap(reason, 0.8 * width_pt, TITLE_PT)),
        size=TITLE_PT,
        color=GREY,
        ha="center",
        va="center",
        transform=axes.transAxes,
        parse_math=False,
    )


def status_key(statuses: Sequence[str]) -> str:
    """The letters of the given statuses explained: "L launch failed, W wrong result"; "" when there is none."""
    return ", ".join(
        f"{letter} {status.replace('_', ' ')}" for status, letter in STATUS_LETTERS.items() if status in statuses
    )
