"""The look that all figures share: type, colours, markers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib
from fontTools.subset import Options
from matplotlib import font_manager
from matplotlib.textpath import text_to_path

from kernelsweep.errors import UserError
from kernelsweep.publish.drawing.palette import INK, WHITE

Parameters = ParamSpec("Parameters")
Drawn = TypeVar("Drawn")

# Type in print must not be smaller than 7 pt.
TEXT_PT, LINE_SPACING = 7.0, 1.25
POINTS_PER_INCH = 72.0
LINE_IN = TEXT_PT * LINE_SPACING / POINTS_PER_INCH

# By their names in config.yaml, families of type; the last one has the glyphs that others lack.
FONTS = {"sans": ["sans-serif"], "serif": ["serif", "sans-serif"]}
# Sizes of print. Any: the stubs list the keys one by one.
RC: Any = {
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "text.color"), INK),
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize"), TEXT_PT),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), TEXT_PT),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.6),
    **dict.fromkeys(("xtick.major.size", "ytick.major.size", "axes.labelpad"), 2.5),
    **dict.fromkeys(("xtick.major.pad", "ytick.major.pad"), 2.0),
    **dict.fromkeys(("xtick.minor.size", "ytick.minor.size"), 0.0),
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titlepad": 4.0,
    "figure.facecolor": WHITE,
    # Both come with matplotlib: the same glyphs on every machine. Verdana has DejaVu's widths, so texts of an SVG file
    # stay in their places where a viewer lacks the first. STIX looks like Times.
    "font.family": FONTS["sans"],
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "font.serif": ["STIXGeneral", "Times New Roman", "serif"],
    "hatch.linewidth": 0.4,
    "figure.dpi": 100.0,
    "text.parse_math": False,
    # Files: text as text in SVG, which can be found and read aloud; TrueType in PDF (journals refuse Type 3); ids from
    # a fixed salt.
    "svg.fonttype": "none",
    "svg.hashsalt": "kernelsweep",
    "pdf.fonttype": 42,
}

# An embedded font needs no tables of layout, which take most of the time in which it is cut down to a figure's letters.
Options._drop_tables_default = [*Options._drop_tables_default, "GSUB", "GPOS", "GDEF"]

# Those of a line by its number.
MARKERS = ("o", "s", "^", "v", "D", "P", "X")


def use_font(font: str) -> None:
    """Set the type of all figures that are drawn from now on: of FONTS, or a TrueType or OpenType file.

    Raises UserError for a file that isn't there, or is no font.
    """
    if font not in FONTS:
        try:
            font_manager.fontManager.addfont(font)
            name = font_manager.FontProperties(fname=font).get_name()
        except (OSError, RuntimeError) as error:
            raise UserError(
                f"font is {font!r}, which is no font file: {error}. Allowed: sans, serif, a file."
            ) from None
        FONTS[font] = [name, *FONTS["sans"]]
    RC["font.family"] = FONTS[font]


def styled(draw: Callable[Parameters, Drawn]) -> Callable[Parameters, Drawn]:
    """Run a function that draws under the common settings, independent of the caller's."""

    @wraps(draw)
    def styled_draw(*arguments: Parameters.args, **options: Parameters.kwargs) -> Drawn:
        with matplotlib.rc_context(RC):
            return draw(*arguments, **options)

    return styled_draw


def text_in(*texts: str) -> float:
    """The width of the widest line of some texts, in inches."""
    font = font_manager.FontProperties(size=TEXT_PT)
    lines = [line for text in texts for line in text.split("\n")]
    widths = [text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in lines if line]
    return max(widths, default=0.0) / POINTS_PER_INCH
