"""What all figures share: sizes, type, colours, header and caption, and files that are the same from run to run.

Figures are designed at the width they are printed at in a two-column paper, where type must not be below 7 pt: that of
both columns, or that of one, for which panels stand one above the other and names below them.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib
import matplotlib.textpath
import seaborn  # type: ignore[import-untyped]
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox

from kernelsweep.analysis.words import size_text

Parameters = ParamSpec("Parameters")

ONE_COLUMN_IN = 3.5
TWO_COLUMN_IN = 7.16
NARROW_BELOW_IN = 5.0
POINTS_PER_INCH = 72.0
RASTER_DPI = 300

TEXT_PT = 7.0
TITLE_PT = 8.5
LINE_SPACING = 1.25
# Between the figure's edge and its text, and between text and axes.
MARGIN_PT = 4.0
LEGEND_LINE_PT = TEXT_PT * LINE_SPACING

# Of a legend below a narrow figure's panels: a line of it; a line's sample and the gaps beside a label, in type sizes.
BELOW_LINE_PT = 9.6
HANDLE_EM, LEGEND_GAPS_EM = 3.2, 2.2
# What a y axis takes, below which the legend has nothing.
AXIS_PT = 40.0
# The share of a narrow figure's width that wrapped text may take: on a screen, letters are set on whole pixels, which
# makes some lines longer by up to 3%.
NARROW_ROOM = 0.96

# Of an axes' position, as shares of the figure.
POSITION_DIGITS = 8

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
MARKERS = ("o", "s", "^", "v", "D", "P", "X", "<", ">", "*", "h", "p", "d", "8")
# With seven colours, four dashes: no two of 28 steps share both.
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1.2, 1, 1.2)))

GREY, PALE_GREY, GRID_GREY = "#6b6b6b", "#d9d9d9", "#e4e4e4"

# Sizes are ticked up to this many; beyond it every second or third one, so that the labels do not meet.
MOST_TICKS = 10

# The files' dates would make every run's differ.
NO_DATES: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
    ".png": {},
}

FORMATS = tuple(NO_DATES)
# The widths that config.yaml's figure_widths names.
TWO_COLUMNS = "two_columns"
WIDTHS_IN = {TWO_COLUMNS: TWO_COLUMN_IN, "one_column": ONE_COLUMN_IN}


def styled(draw: Callable[Parameters, Figure]) -> Callable[Parameters, Figure]:
    """Run a figure's `draw` under the common settings, whatever the caller's are."""

    @wraps(draw)
    def styled_draw(*arguments: Parameters.args, **options: Parameters.kwargs) -> Figure:
        with matplotlib.rc_context(RC):
            return draw(*arguments, **options)

    return styled_draw


def file_names(name: str, width: str) -> list[str]:
    """The files of a figure at one of `WIDTHS_IN`: in every format at two columns, a paper's PDF at the other."""
    return [f"{name}{suffix}" for suffix in FORMATS] if width == TWO_COLUMNS else [f"{name}_{width}.pdf"]


def save(figure: Figure, path: Path) -> None:
    """Write the figure as SVG, PNG or PDF, by the path's suffix; the same figure gives the same bytes.

    Raises ValueError for another suffix.
    """
    if path.suffix not in NO_DATES:
        raise ValueError(f"{path}: figures are saved as {', '.join(NO_DATES)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(RC):
        _lay_out(figure)
        figure.savefig(path, metadata=NO_DATES[path.suffix], dpi=RASTER_DPI)


def _lay_out(figure: Figure) -> None:
    """Place the axes once for all formats, to so many digits.

    The solver behind the constrained layout gives other last digits from run to run. They are far too small to see, but
    an SVG file's ids are hashes of them.
    """
    engine = figure.get_layout_engine()
    if not isinstance(engine, ConstrainedLayoutEngine):
        return
    screen_dpi = figure.get_dpi()
    figure.set_dpi(RASTER_DPI)
    # The layout alone: draw_without_rendering() would go through all artists once more, for nothing.
    engine.execute(figure)
    # None, not "none": with any engine, even one that does nothing, savefig draws the figure twice.
    figure.set_layout_engine(None)
    for axes in figure.axes:
        axes.set_position(Bbox(axes.get_position(original=True).get_points().round(POSITION_DIGITS)))
    figure.set_dpi(screen_dpi)


def new_figure(width_in: float, body_in: float, title: str, message: str, caption: str, with_legend: int = 0) -> Figure:
    """An empty figure: a title and message, a body of `width_in` by `body_in` inches for the axes, a caption.

    The texts are wrapped to the width, and the figure grows with them, so that they never meet the axes. The axes are
    laid out by matplotlib's constrained layout inside the body. `with_legend` leaves so many lines for `legend_above`.
    """
    room_pt = width_in * POINTS_PER_INCH - 2 * MARGIN_PT
    if is_narrow(width_in):
        room_pt *= NARROW_ROOM
    blocks = [
        ("title", wrap(title, room_pt, TITLE_PT, bold=True), TITLE_PT, "bold", BLACK),
        ("message", wrap(message, room_pt, TEXT_PT), TEXT_PT, "normal", BLACK),
        ("caption", wrap(caption, room_pt, TEXT_PT), TEXT_PT, "normal", GREY),
    ]
    heights_pt = [len(lines) * size * LINE_SPACING for _, lines, size, _, _ in blocks]
    head_pt = MARGIN_PT + heights_pt[0] + heights_pt[1] + (MARGIN_PT + with_legend * LEGEND_LINE_PT)
    foot_pt = MARGIN_PT + heights_pt[2] + MARGIN_PT
    total_pt = head_pt + body_in * POINTS_PER_INCH + foot_pt
    figure = Figure(figsize=(width_in, total_pt / POINTS_PER_INCH), facecolor="white")
    tops_pt = [total_pt - MARGIN_PT, total_pt - MARGIN_PT - heights_pt[0], MARGIN_PT + heights_pt[2]]
    for (kind, lines, size, weight, colour), top_pt in zip(blocks, tops_pt, strict=True):
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
                label=kind,
            )
    figure.set_layout_engine(
        "constrained",
        rect=(0.0, foot_pt / total_pt, 1.0, body_in * POINTS_PER_INCH / total_pt),
        w_pad=MARGIN_PT / POINTS_PER_INCH,
        h_pad=MARGIN_PT / POINTS_PER_INCH,
    )
    return figure


def texts(figure: Figure) -> dict[str, str]:
    """The title, message and caption that `new_figure` gave a figure, for readers who can't see it."""
    kinds = ("title", "message", "caption")
    return {kind: " ".join(text.get_text() for text in figure.texts if text.get_label() == kind) for kind in kinds}


def is_narrow(width_in: float) -> bool:
    """Whether a figure is too narrow for panels side by side and names beside them."""
    return width_in < NARROW_BELOW_IN


def legend_above(figure: Figure, handles: Sequence[Artist], lines: int = 1, **options: Any) -> None:
    """A legend of so many lines, just above the body of a figure made `with_legend` of as many."""
    engine = figure.get_layout_engine()
    assert engine is not None, "new_figure sets one"
    _, bottom, _, height = engine.get()["rect"]
    figure.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(MARGIN_PT / POINTS_PER_INCH / figure.get_figwidth(), bottom + height),
        ncols=math.ceil(len(handles) / lines),
        frameon=False,
        borderpad=0.0,
        borderaxespad=0.0,
        columnspacing=1.6,
        labelspacing=LINE_SPACING - 1,
        **options,
    )


def legend_below_in(labels: Sequence[str], width_in: float, title: str = "") -> float:
    """The height of the axes that `legend_below` needs for these labels, in inches."""
    lines = math.ceil(sum(label.count("\n") + 1 for label in labels) / _legend_columns(labels, width_in)) + bool(title)
    return (lines * BELOW_LINE_PT + 3 * MARGIN_PT) / POINTS_PER_INCH


def legend_below(axes: Axes, handles: Sequence[Artist], width_in: float, title: str = "") -> None:
    """A legend in axes of its own, the lowest of a narrow figure, in as many columns as its labels have room for."""
    axes.set_axis_off()
    axes.legend(
        handles=handles,
        loc="upper left",
        ncols=_legend_columns([str(handle.get_label()) for handle in handles], width_in),
        borderaxespad=0.0,
        frameon=False,
        handlelength=HANDLE_EM,
        labelspacing=BELOW_LINE_PT / TEXT_PT - 1,
        borderpad=0.0,
        title=title or None,
        title_fontsize=TEXT_PT,
        alignment="left",
    )


def _legend_columns(labels: Sequence[str], width_in: float) -> int:
    lines = [line for label in labels for line in label.split("\n")]
    column_pt = max(text_width_pt(line, TEXT_PT) for line in lines) + (HANDLE_EM + LEGEND_GAPS_EM) * TEXT_PT
    return max(1, min(len(labels), int((width_in * POINTS_PER_INCH - AXIS_PT) / column_pt)))


def text_width_pt(text: str, size_pt: float, bold: bool = False) -> float:
    """The width of one line of text, in points."""
    font = FontProperties(family=FONT, size=size_pt, weight="bold" if bold else "normal")
    width, _, _ = matplotlib.textpath.TextToPath().get_text_width_height_descent(text, font, ismath=False)
    return float(width)


def wrap(text: str, width_pt: float, size_pt: float, bold: bool = False) -> list[str]:
    """`text` in lines no wider than `width_pt`, broken at plain blanks; a longer word gets a line of its own."""
    words = [word for word in text.split(" ") if word]
    lines: list[str] = []
    while words:
        # Measuring takes long, and each further word makes a line wider.
        fitting = bisect_right(
            range(1, len(words) + 1),
            width_pt,
            key=lambda count: text_width_pt(" ".join(words[:count]), size_pt, bold),
        )
        count = max(1, fitting)
        lines.append(" ".join(words[:count]))
        words = words[count:]
    return lines


def size_axis(axes: Axes, sizes: Sequence[int]) -> None:
    """A logarithmic x axis of array sizes, ticked at as many of `sizes` as its labels have room for."""
    axes.set_xscale("log", base=2)
    # Powers of two, and only those others that are far enough from them: 2²⁰+3 would have its label on that of 2²⁰.
    powers = [size for size in sizes if size.bit_count() == 1]
    ticks = powers[:: math.ceil(len(powers) / MOST_TICKS) or 1]
    distance = math.log2(max(sizes) / min(sizes)) / MOST_TICKS
    for size in sizes:
        if all(abs(math.log2(size / tick)) > distance for tick in (*powers, *ticks)):
            ticks.append(size)
    axes.set_xticks(ticks, [size_text(size) for size in ticks])
    axes.minorticks_off()
    axes.set_xlabel("array size (elements)")


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
