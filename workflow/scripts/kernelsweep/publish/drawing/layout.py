"""How a figure is laid out: its texts, the room of its panels and its legend; and its files, the same from run to run.

There is one layout. A narrow figure has fewer panels side by side, and its legend below them.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.artist import Artist
from matplotlib.backends import backend_pdf, backend_svg  # noqa: F401 - else each process that draws imports them
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox

from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.figure_formats import OPTIONS, TITLE_AND_CAPTION

POINTS_PER_INCH = 72.0
RASTER_DPI = 300
# Between the figure's edge and its text, and between text and axes.
MARGIN_PT = 4.0
# The height of a figure's body that only says why it is empty.
EMPTY_BODY_IN = 1.2
# A legend stands beside the panels of a figure of at least this width, and below those of a narrower one.
LEAST_BESIDE_IN = 5.0
# A line's sample in a legend, and all that stands beside a label, in type sizes.
HANDLE_EM, BESIDE_LABEL_EM = 3.2, 5.6
# An axes' position, in fractions of the figure, is rounded to this many digits.
POSITION_DIGITS = 8
# The room of a letter, about.
LETTER_IN = 0.055

TEXTS = ("title", "message", "caption")


# The widths of figures in inches, and by their names in config.yaml's figure_widths.
TWO_COLUMNS = 7.16
WIDTHS = {"two_columns": TWO_COLUMNS, "one_column": 3.5}


@dataclass(frozen=True)
class Frame:
    """Everything of a figure but its body: width in inches, title, what it shows in a sentence, and a caption."""

    width: float
    title: str
    message: str
    caption: str


def columns(count: int, width: float, least_in: float) -> int:
    """How many of `count` panels stand side by side, each at least `least_in` inches wide, in equal rows."""
    most = max(1, min(count, int(width / least_in)))
    return math.ceil(count / math.ceil(count / most))


def save(figure: Figure, path: Path) -> None:
    """Write the figure as SVG, PNG or PDF, by the path's suffix; the same figure gives the same bytes.

    Raises ValueError for another suffix.
    """
    if path.suffix not in OPTIONS:
        raise ValueError(f"{path}: figures are saved as {', '.join(OPTIONS)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    texts, options = texts_of(figure), OPTIONS[path.suffix]
    words = (texts["title"], f"{texts['message']} {texts['caption']}".strip())
    metadata = options["metadata"] | dict(zip(TITLE_AND_CAPTION[path.suffix], words, strict=True))
    with matplotlib.rc_context(style.RC):
        _lay_out(figure)
        figure.savefig(path, dpi=RASTER_DPI, **options | {"metadata": metadata})


def as_png(figure: Figure, dpi: float) -> bytes:
    """The figure as a PNG, for a screen."""
    buffer = io.BytesIO()
    with matplotlib.rc_context(style.RC):
        _lay_out(figure)
        figure.savefig(buffer, dpi=dpi)
    return buffer.getvalue()


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


def new_figure(frame: Frame, body_in: float) -> Figure:
    """An empty figure, with a body `body_in` inches high for the axes."""
    return framed(Figure(), frame, body_in)


def framed(figure: Figure, frame: Frame, body_in: float) -> Figure:
    """A figure whose axes matplotlib's constrained layout lays out in a body `body_in` inches high.

    Its title, message and caption stand beside it, on the page and in a paper: `texts_of` has them.
    """
    figure.set_facecolor("white")
    for kind in TEXTS:
        figure.text(0.0, 0.0, getattr(frame, kind), label=kind, visible=False, parse_math=False)
    margin_in = MARGIN_PT / POINTS_PER_INCH
    figure.set_size_inches(frame.width, body_in + 2 * margin_in)
    figure.set_layout_engine("constrained", w_pad=margin_in, h_pad=margin_in)
    return figure


def add_legend(figure: Figure, handles: Sequence[Artist], title: str = "") -> None:
    """A legend beside the panels, or below them in a narrow figure. The figure grows for it."""
    is_beside = figure.get_figwidth() >= LEAST_BESIDE_IN
    lines = [line for handle in handles for line in str(handle.get_label()).split("\n")]
    column_in = max(map(len, lines), default=0) * LETTER_IN + BESIDE_LABEL_EM * style.TEXT_PT / POINTS_PER_INCH
    side_by_side = max(1, min(len(handles), int(figure.get_figwidth() / column_in)))
    legend = figure.legend(
        handles=handles,
        loc="outside right upper" if is_beside else "outside lower left",
        ncols=1 if is_beside else side_by_side,
        frameon=False,
        borderpad=0.0,
        borderaxespad=MARGIN_PT / style.TEXT_PT,
        handlelength=HANDLE_EM,
        title=title or None,
        title_fontsize=style.TEXT_PT,
        alignment="left",
    )
    height_in = legend.get_window_extent().height / figure.dpi + 2 * MARGIN_PT / POINTS_PER_INCH
    body_in = figure.get_figheight()
    figure.set_figheight(max(body_in, height_in) if is_beside else body_in + height_in)


def texts_of(figure: Figure) -> dict[str, str]:
    """The title, message and caption of a figure, for readers who can't see it; and why it is empty, if it is."""
    texts = {str(text.get_label()): text.get_text() for text in figure.texts}
    reason = str(figure.get_label())
    return {kind: texts[kind] for kind in TEXTS} | ({"missing": reason} if reason else {})


def add_to_caption(figure: Figure, sentence: str) -> None:
    """Let a sentence follow a figure's caption."""
    for text in figure.texts:
        if text.get_label() == "caption" and sentence:
            text.set_text(f"{text.get_text()} {sentence}")


def empty_figure(frame: Frame, reason: str) -> Figure:
    """A figure without data, which says why."""
    figure = new_figure(frame, EMPTY_BODY_IN)
    figure.set_label(reason)
    axes = figure.subplots()
    axes.set_axis_off()
    look: Any = {"size": style.TITLE_PT, "color": palette.GREY, "ha": "center", "va": "center", "parse_math": False}
    axes.text(0.5, 0.5, reason, transform=axes.transAxes, wrap=True, **look)
    return figure
