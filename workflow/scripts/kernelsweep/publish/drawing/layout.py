"""A figure with its texts: where its panels stand, in inches; and its files, the same from run to run."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas
from matplotlib.axes import Axes
from matplotlib.backends import backend_pdf, backend_svg  # noqa: F401 - else each process that draws imports them
from matplotlib.figure import Figure

from kernelsweep.errors import UserError
from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.figure_formats import OPTIONS, TITLE_AND_CAPTION
from kernelsweep.publish.tables.formats import escape

RASTER_DPI, SCREEN_DPI = 300, 100
# The height of a figure that only says why it is empty.
EMPTY_IN = 1.2

# The widths of figures in inches, and by their names in config.yaml's figure_widths.
TWO_COLUMNS = 7.16
WIDTHS = {"two_columns": TWO_COLUMNS, "one_column": 3.5}
# The page has each figure in this width as well, for phones.
PHONE = WIDTHS["one_column"]
# A narrower figure is one column's: it shows what matters most, and its caption says what it leaves out.
LEAST_WIDE_IN = 5.0


@dataclass(frozen=True, eq=False, repr=False)
class Drawing:
    """A figure, which a notebook shows, and what stands beside it on the page and in a paper.

    message  what it shows, in a sentence
    caption  how it is read
    source   where its numbers come from
    rows     what is drawn, a row per mark
    missing  why the picture is empty; "" where it isn't
    """

    figure: Figure
    title: str
    message: str
    caption: str
    source: str
    rows: pandas.DataFrame = field(default_factory=pandas.DataFrame)
    missing: str = ""

    @property
    def texts(self) -> dict[str, str]:
        """The texts, for readers who can't see the picture; `missing` only if it is empty."""
        texts = {name: getattr(self, name) for name in ("title", "message", "caption", "source", "missing")}
        return {name: text for name, text in texts.items() if text or name != "missing"}

    @style.styled
    def save(self, file: str | Path) -> None:
        """Write the figure as SVG, PNG or PDF, by the file's suffix; the same figure gives the same bytes.

        Raises UserError for another suffix.
        """
        path = Path(file)
        if path.suffix not in OPTIONS:
            raise UserError(f"{file} is no figure's file. Allowed: names that end with {', '.join(OPTIONS)}.")
        path.parent.mkdir(parents=True, exist_ok=True)
        options, texts = OPTIONS[path.suffix], (self.message, self.caption, self.source)
        words = (self.title, " ".join(filter(None, texts)))
        metadata = options["metadata"] | dict(zip(TITLE_AND_CAPTION[path.suffix], words, strict=True))
        self.figure.savefig(path, dpi=RASTER_DPI, **options | {"metadata": metadata})

    def __repr__(self) -> str:
        return " ".join(filter(None, (f"{self.title}.", self.message, self.caption)))

    def latex(self, picture: Path, name: str, view: str = "") -> str:
        """A `figure` environment, across both columns where the picture is that wide; where it is from is a remark.

        picture  the PDF, from the folder of the run
        name     of the label, behind `fig:`
        view     the explorer's address, if it is a view of that
        """
        environment = "figure" if is_narrow(self.figure.get_figwidth()) else "figure*"
        lines = [
            *(f"% {' '.join(remark.split())}" for remark in (self.source, view) if remark),
            rf"\begin{{{environment}}}",
            r"  \centering",
            rf"  \includegraphics{{{picture.as_posix()}}}",
            rf"  \caption{{{escape(repr(self))}}}",
            rf"  \label{{fig:{name}}}",
            rf"\end{{{environment}}}",
        ]
        return "\n".join(lines) + "\n"

    @style.styled
    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.figure.savefig(buffer, dpi=SCREEN_DPI)
        return buffer.getvalue()


@dataclass(frozen=True)
class Margins:
    """The room around a panel for what stands beside it, in inches."""

    left: float
    right: float
    bottom: float
    top: float = 0.08


def is_narrow(width: float) -> bool:
    """Whether a figure of a width in inches is for one column of a paper."""
    return width < LEAST_WIDE_IN


def columns(count: int, width: float, least_in: float) -> int:
    """How many of `count` panels stand side by side, each at least `least_in` inches wide, in equal rows."""
    most = max(1, min(count, int(width / least_in)))
    return math.ceil(count / math.ceil(count / most))


def panels(
    width: float,
    height: float,
    count: int,
    across: int,
    margins: Margins,
    side: float = 0.0,
    foot: float = 0.0,
    right: float = 0.0,
) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels in rows of `across`, each as high as `height` with its margins.

    width   of the figure; this and all others are inches
    side    the room on the left of all panels; and `foot` below them, and `right` on their right
    """
    total, each = math.ceil(count / across) * height + foot, (width - side - right) / across
    wide, high = each - margins.left - margins.right, height - margins.bottom - margins.top
    figure, axes = Figure(figsize=(width, total)), []
    for number in range(count):
        row, column = divmod(number, across)
        left, bottom = side + column * each + margins.left, total - (row + 1) * height + margins.bottom
        axes.append(figure.add_axes((left / width, bottom / total, wide / width, high / total)))
    return figure, axes


def size_in(axes: Axes) -> tuple[float, float]:
    """The width and the height of a panel, in inches."""
    place, paper = axes.get_position(), axes.figure.bbox
    return place.width * paper.width / axes.figure.dpi, place.height * paper.height / axes.figure.dpi


def fitting(places: Sequence[float], texts: Sequence[str]) -> list[int]:
    """The numbers of the labels that have room side by side, at places in inches."""
    shown: list[int] = []
    for number, text in enumerate(texts):
        half = style.text_in(text) / 2 + style.TEXT_PT / style.POINTS_PER_INCH / 2
        if not shown or places[number] - half >= places[shown[-1]] + style.text_in(texts[shown[-1]]) / 2:
            shown.append(number)
    return shown


def empty_drawing(width: float, title: str, message: str, caption: str, source: str, reason: str) -> Drawing:
    """A figure without data, which says why."""
    figure = Figure(figsize=(width, EMPTY_IN))
    figure.text(0.5, 0.5, reason, color=palette.GREY, ha="center", va="center", wrap=True)
    return Drawing(figure, title, message, caption, source, missing=reason)
