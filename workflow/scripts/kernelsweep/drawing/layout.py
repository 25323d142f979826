"""How a figure is laid out at a width: its texts, panels and legends; and its files, the same from run to run.

Figures are designed at the width at which a two-column paper prints them, over both columns or over one. Over one
column, panels stand one above the other and names below them. Figures ask this module for panels and legends, and give
sizes that depend on the width as mappings by width.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.textpath
from fontTools import subset
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox

from kernelsweep.analysis.words import size_text
from kernelsweep.drawing import palette, style
from kernelsweep.drawing.figure_formats import OPTIONS

POINTS_PER_INCH = 72.0
RASTER_DPI = 300

LINE_SPACING = 1.25
# Between the figure's edge and its text, and between text and axes.
MARGIN_PT = 4.0
LEGEND_LINE_PT = style.TEXT_PT * LINE_SPACING

# A legend below a narrow figure's panels: the height of a line; a line's sample and the gaps beside a label, in type
# sizes.
BELOW_LINE_PT = 9.6
HANDLE_EM, LEGEND_GAPS_EM = 3.2, 2.2
# The width of a y axis, which such a legend leaves free.
AXIS_PT = 40.0
# The share of a narrow figure's width that wrapped text may take: on a screen, letters are set on whole pixels, which
# makes some lines longer by up to 3%.
NARROW_ROOM = 0.96
# The height of a figure's body that only says why it is empty.
EMPTY_BODY_IN = 1.2

# An axes' position, in fractions of the figure, is rounded to this many digits.
POSITION_DIGITS = 8

# A font's tables for kerning, ligatures and formulas. No viewer of a PDF reads them, and to reduce them to a figure's
# glyphs takes a third of a figure's time.
TYPESETTING_TABLES = ("GDEF", "GPOS", "GSUB", "MATH", "kern")

# Sizes are ticked up to this many; beyond it every second or third one, so that the labels do not meet.
MOST_TICKS = 10


# The texts that are drawn in a figure, by config.yaml's figure_text.
TEXTS = {"all": ("title", "message", "caption"), "title": ("title",), "none": ()}


@dataclass(frozen=True)
class Width:
    """A width of figures.

    stacks  whether panels stand one above the other, and names below them
    texts   which of the title, message and caption are drawn
    """

    inches: float
    stacks: bool
    texts: Sequence[str] = field(default=TEXTS["all"], compare=False)

    @property
    def points(self) -> float:
        """The width in points."""
        return self.inches * POINTS_PER_INCH


TWO_COLUMNS = Width(7.16, stacks=False)
ONE_COLUMN = Width(3.5, stacks=True)
# By their names in config.yaml's figure_widths.
WIDTHS = {"two_columns": TWO_COLUMNS, "one_column": ONE_COLUMN}


def chosen_widths(widths: Sequence[str], text: str, font: str) -> dict[str, Width]:
    """The widths by name, for config.yaml's figure_widths, figure_text and figure_font, which this process then uses.

    Raises UserError where the font is not installed.
    """
    style.use_font(font)
    return {name: replace(WIDTHS[name], texts=TEXTS[text]) for name in widths}


@dataclass(frozen=True)
class Frame:
    """Everything of a figure but its body: its width, its title, what it shows in a sentence, and a caption."""

    width: Width
    title: str
    message: str
    caption: str


@dataclass(frozen=True)
class Legend:
    """A legend of panels: its labels and title; `spacing`, in type sizes, separates lines that stand beside panels."""

    labels: Sequence[str]
    title: str = ""
    spacing: float = 0.5


def save(figure: Figure, path: Path) -> None:
    """Write the figure as SVG, PNG or PDF, by the path's suffix; the same figure gives the same bytes.

    Raises ValueError for another suffix.
    """
    if path.suffix not in OPTIONS:
        raise ValueError(f"{path}: figures are saved as {', '.join(OPTIONS)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(style.RC), _fonts_for_viewers():
        _lay_out(figure)
        figure.savefig(path, dpi=RASTER_DPI, **OPTIONS[path.suffix])


@contextmanager
def _fonts_for_viewers() -> Iterator[None]:
    """Leave `TYPESETTING_TABLES` out of the fonts in PDFs; matplotlib has no setting for it."""
    load_font = subset.load_font

    def load_for_viewers(*arguments: Any, **options: Any) -> Any:
        font = load_font(*arguments, **options)
        for table in TYPESETTING_TABLES:
            if table in font:
                del font[table]
        return font

    subset.load_font = load_for_viewers
    try:
        yield
    finally:
        subset.load_font = load_font


def _lay_out(figure: Figure) -> None:
    """Place the axes once for all formats, at rounded positions.

    The solver behind the constrained layout gives other last digits from run to run. They are far too small to see, but
    an SVG file's ids are hashes of them.
    """
    engine = figure.get_layout_engine()
    if not isinstance(engine, ConstrainedLayoutEngine):
        return
    screen_dpi = figure.get_dpi()
    figure.set_dpi(RASTER_DPI)
    # Only the layout: draw_without_rendering() would visit all artists once more.
    engine.execute(figure)
    # None, not "none": with any engine, even one that does nothing, savefig draws the figure twice.
    figure.set_layout_engine(None)
    for axes in figure.axes:
        axes.set_position(Bbox(axes.get_position(original=True).get_points().round(POSITION_DIGITS)))
    figure.set_dpi(screen_dpi)


def new_figure(frame: Frame, body_in: float, with_legend: int = 0) -> Figure:
    """An empty figure: title and message, a body `body_in` inches high for the axes, the caption.

    The texts are wrapped to the width, and the figure grows with them, so that they never meet the axes. The axes are
    laid out by matplotlib's constrained layout inside the body. `with_legend` lines are left for `legend_above`. Texts
    that the width leaves out take no room and are invisible; `texts_of` has them all the same.
    """
    width = frame.width
    room_pt = width.points - 2 * MARGIN_PT
    if width.stacks:
        room_pt *= NARROW_ROOM
    blocks = [
        ("title", wrap(frame.title, room_pt, style.TITLE_PT, bold=True), style.TITLE_PT, "bold", palette.INK),
        ("message", wrap(frame.message, room_pt, style.TEXT_PT), style.TEXT_PT, "normal", palette.INK),
        ("caption", wrap(frame.caption, room_pt, style.TEXT_PT), style.TEXT_PT, "normal", palette.GREY),
    ]
    heights_pt = [len(lines) * size * LINE_SPACING * (kind in width.texts) for kind, lines, size, _, _ in blocks]
    head_pt = MARGIN_PT + heights_pt[0] + heights_pt[1] + (MARGIN_PT + with_legend * LEGEND_LINE_PT)
    foot_pt = MARGIN_PT + heights_pt[2] + MARGIN_PT
    total_pt = head_pt + body_in * POINTS_PER_INCH + foot_pt
    figure = Figure(figsize=(width.inches, total_pt / POINTS_PER_INCH), facecolor="white")
    tops_pt = [total_pt - MARGIN_PT, total_pt - MARGIN_PT - heights_pt[0], MARGIN_PT + heights_pt[2]]
    for (kind, lines, size, weight, colour), top_pt in zip(blocks, tops_pt, strict=True):
        for index, line in enumerate(lines):
            figure.text(
                MARGIN_PT / width.points,
                (top_pt - index * size * LINE_SPACING) / total_pt,
                line,
                size=size,
                weight=weight,
                color=colour,
                va="top",
                parse_math=False,
                label=kind,
                visible=kind in width.texts,
            )
    figure.set_layout_engine(
        "constrained",
        rect=(0.0, foot_pt / total_pt, 1.0, body_in * POINTS_PER_INCH / total_pt),
        w_pad=MARGIN_PT / POINTS_PER_INCH,
        h_pad=MARGIN_PT / POINTS_PER_INCH,
    )
    return figure


def texts_of(figure: Figure) -> dict[str, str]:
    """The title, message and caption of a figure, for readers who can't see it; and why it is empty, if it is."""
    kinds = ("title", "message", "caption")
    texts = {kind: " ".join(text.get_text() for text in figure.texts if text.get_label() == kind) for kind in kinds}
    reason = str(figure.get_label())
    return texts | ({"missing": reason} if reason else {})


def empty_figure(frame: Frame, reason: str) -> Figure:
    """A figure without data, which says why."""
    figure = new_figure(frame, EMPTY_BODY_IN)
    say_missing(figure.subplots(), reason)
    figure.set_label(reason)
    return figure


def say_missing(axes: Axes, reason: str) -> None:
    """Empty axes that state what is missing, instead of a picture of nothing."""
    axes.set_axis_off()
    width_pt = axes.get_window_extent().width / axes.figure.dpi * POINTS_PER_INCH
    axes.text(
        0.5,
        0.5,
        "\n".join(wrap(reason, 0.8 * width_pt, style.TITLE_PT)),
        size=style.TITLE_PT,
        color=palette.GREY,
        ha="center",
        va="center",
        transform=axes.transAxes,
        parse_math=False,
    )


@dataclass(frozen=True)
class Panels:
    """The panels of a figure and their legend.

    grid    by part and panel: a panel may have several parts, one above the other
    left    the numbers of the panels without another one on their left, which label the y axis
    bottom  the numbers of the panels without another one below, which label the x axis
    below   axes below the panels for the legend; None where it stands beside the last panel
    """

    figure: Figure
    legend: Legend
    grid: Sequence[Sequence[Axes]]
    left: Sequence[int]
    bottom: Sequence[int]
    below: Axes | None

    def label_x_at_the_bottom(self) -> None:
        """Remove the label of the x axis from panels that have another one below."""
        for number, axes in enumerate(self.grid[-1]):
            if number not in self.bottom:
                axes.set_xlabel("")

    def draw_legend(self, handles: Sequence[Artist]) -> None:
        """Draw the legend in its place, with the look of the `handles`."""
        if self.below:
            legend_below(self.figure, self.below, handles, self.legend.title)
            return
        self.grid[0][-1].legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(1.02, 1.0),
            borderaxespad=0.0,
            frameon=False,
            handlelength=HANDLE_EM,
            labelspacing=self.legend.spacing,
            borderpad=0.1,
            title=self.legend.title,
            title_fontsize=style.TEXT_PT,
            alignment="left",
        )


def panels_in_a_row(
    frame: Frame, legend: Legend, count: int, heights_in: Sequence[float], share_y: bool = False
) -> Panels:
    """`count` panels side by side with the legend beside them; or one above the other with the legend below.

    heights_in  the heights of a panel's parts, inches; the parts share their x axis
    """
    if not frame.width.stacks:
        figure = new_figure(frame, sum(heights_in))
        grid = figure.subplots(
            len(heights_in),
            count,
            sharex="col",
            sharey="row" if share_y else False,
            squeeze=False,
            height_ratios=heights_in,
        )
        return Panels(figure, legend, list(grid), left=[0], bottom=range(count), below=None)
    every_in = [*list(heights_in) * count, legend_below_in(legend, frame.width)]
    figure = new_figure(frame, sum(every_in))
    *axes, below = figure.subplots(len(every_in), 1, height_ratios=every_in)
    parts = len(heights_in)
    stacked = [axes[part::parts] for part in range(parts)]
    for upper, lower in zip(stacked[0], stacked[-1], strict=True):
        if upper is not lower:
            upper.sharex(lower)
            upper.tick_params(labelbottom=False)
    if share_y:
        for part in stacked:
            for panel in part[1:]:
                panel.sharey(part[0])
    return Panels(figure, legend, stacked, left=range(count), bottom=[count - 1], below=below)


def panels_above_a_legend(frame: Frame, legend: Legend, count: int, most_columns: int, panel_in: float) -> Panels:
    """`count` panels, each `panel_in` inches high, at most `most_columns` side by side, and the legend below all."""
    columns = 1 if frame.width.stacks else min(most_columns, count)
    heights_in = [*[panel_in] * math.ceil(count / columns), legend_below_in(legend, frame.width)]
    figure = new_figure(frame, sum(heights_in))
    grid = figure.add_gridspec(len(heights_in), columns, height_ratios=heights_in)
    panels = [figure.add_subplot(grid[number // columns, number % columns]) for number in range(count)]
    below = figure.add_subplot(grid[-1, :])
    return Panels(figure, legend, [panels], range(0, count, columns), range(count - columns, count), below)


def legend_above(figure: Figure, handles: Sequence[Artist], lines: int = 1, **options: Any) -> None:
    """A legend just above the body of a figure; `lines` is the figure's `with_legend`."""
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


def legend_below_in(legend: Legend, width: Width) -> float:
    """The height in inches of the axes that `legend_below` needs."""
    columns = _legend_columns(legend.labels, width.points)
    lines = math.ceil(sum(label.count("\n") + 1 for label in legend.labels) / columns) + bool(legend.title)
    margins = 4 if width.stacks else 3  # A narrow figure's legend is longer, and its caption comes right below.
    return (lines * BELOW_LINE_PT + margins * MARGIN_PT) / POINTS_PER_INCH


def legend_below(figure: Figure, axes: Axes, handles: Sequence[Artist], title: str = "") -> None:
    """A legend that fills axes of its own in a figure, in as many columns as its labels have room for."""
    axes.set_axis_off()
    width_pt = figure.get_figwidth() * POINTS_PER_INCH
    axes.legend(
        handles=handles,
        loc="upper left",
        ncols=_legend_columns([str(handle.get_label()) for handle in handles], width_pt),
        borderaxespad=0.0,
        frameon=False,
        handlelength=HANDLE_EM,
        labelspacing=BELOW_LINE_PT / style.TEXT_PT - 1,
        borderpad=0.0,
        title=title or None,
        title_fontsize=style.TEXT_PT,
        alignment="left",
    )


def _legend_columns(labels: Sequence[str], width_pt: float) -> int:
    lines = [line for label in labels for line in label.split("\n")]
    column_pt = max(text_width_pt(line) for line in lines) + (HANDLE_EM + LEGEND_GAPS_EM) * style.TEXT_PT
    return max(1, min(len(labels), int((width_pt - AXIS_PT) / column_pt)))


@cache
def text_width_pt(text: str, size_pt: float = style.TEXT_PT, bold: bool = False) -> float:
    """The width of one line of text, in points."""
    font = FontProperties(family=style.RC["font.family"], size=size_pt, weight="bold" if bold else "normal")
    width, _, _ = matplotlib.textpath.TextToPath().get_text_width_height_descent(text, font, ismath=False)
    return float(width)


def wrap(text: str, width_pt: float, size_pt: float = style.TEXT_PT, bold: bool = False) -> list[str]:
    """`text` in lines no wider than `width_pt`, broken at plain blanks; a longer word gets a line of its own."""
    words = [word for word in text.split(" ") if word]
    lines: list[str] = []
    while words:
        # A binary search, since measuring takes long and each further word makes a line wider.
        fitting = bisect_right(
            range(1, len(words) + 1),
            width_pt,
            key=lambda count: text_width_pt(" ".join(words[:count]), size_pt, bold),
        )
        count = max(1, fitting)
        lines.append(" ".join(words[:count]))
        words = words[count:]
    return lines


def size_axis(axes: Axes, sizes: Sequence[int], text: Callable[[int], str] = size_text) -> None:
    """A logarithmic x axis of numbers, ticked at as many of `sizes` as its labels have room for."""
    axes.set_xscale("log", base=2)
    # Powers of two, and other sizes only if they are far enough from them: the labels of 2²⁰ and 2²⁰+3 would meet.
    powers = [size for size in sizes if size == 2 ** round(math.log2(size))]
    ticks = powers[:: math.ceil(len(powers) / MOST_TICKS) or 1]
    distance = math.log2(max(sizes) / min(sizes)) / MOST_TICKS
    for size in sizes:
        if all(abs(math.log2(size / tick)) > distance for tick in (*powers, *ticks)):
            ticks.append(size)
    axes.set_xticks(ticks, [text(size) for size in ticks])
    axes.minorticks_off()
    axes.set_xlabel("array size (elements)")
