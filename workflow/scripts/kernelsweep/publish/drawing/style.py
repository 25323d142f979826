"""The look that all figures share: type, colours, markers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

import matplotlib
import seaborn
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler

from kernelsweep.publish.drawing.palette import GREY, INK, LINE_COLOURS

Parameters = ParamSpec("Parameters")

# Type in print must not be smaller than 7 pt.
TEXT_PT = 7.0
TITLE_PT = 8.5

# The family that comes with matplotlib: the same glyphs on every machine. Verdana has the same widths, so texts of an
# SVG file stay in their places where a viewer lacks the first.
FONT, ALIKE = "DejaVu Sans", ("Verdana", "sans-serif")
# seaborn's theme, with the sizes of print. Any: the stubs list the keys one by one.
RC: Any = {
    # seaborn's grids of panels are figures of pyplot, which would open a window.
    "backend": "agg",
    **seaborn.axes_style("ticks", {"axes.spines.top": False, "axes.spines.right": False}),
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "text.color"), INK),
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize"), TEXT_PT),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), TEXT_PT),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.6),
    **dict.fromkeys(("xtick.major.size", "ytick.major.size", "axes.labelpad"), 2.5),
    **dict.fromkeys(("xtick.major.pad", "ytick.major.pad"), 2.0),
    "axes.prop_cycle": cycler("color", LINE_COLOURS),
    "font.family": ["sans-serif"],
    "font.sans-serif": [FONT, *ALIKE],
    "hatch.linewidth": 0.4,
    "figure.dpi": 100.0,
    # Files: text as text in SVG, which can be found and read aloud; TrueType in PDF (journals refuse Type 3); ids from
    # a fixed salt.
    "svg.fonttype": "none",
    "svg.hashsalt": "kernelsweep",
    "pdf.fonttype": 42,
}

# No two lines have one colour; further ones are grey.
MOST_COLOURS = len(LINE_COLOURS)
# Those of a line by its number, beginning anew; dashes as seaborn takes them: lengths, or "" for a solid line.
MARKERS = ("o", "s", "^", "v", "D", "P", "X", "<", ">", "*", "h", "p", "d", "8")
DASHES: tuple[Any, ...] = ("", (4, 1.5), (1, 1.2), (5, 1.2, 1, 1.2))


def styled(draw: Callable[Parameters, Figure]) -> Callable[Parameters, Figure]:
    """Run a figure's `draw` under the common settings, independent of the caller's."""

    @wraps(draw)
    def styled_draw(*arguments: Parameters.args, **options: Parameters.kwargs) -> Figure:
        with matplotlib.rc_context(RC):
            return draw(*arguments, **options)

    return styled_draw


def colour(number: int) -> str:
    """The colour of a figure's line or point of that number; grey beyond MOST_COLOURS."""
    return LINE_COLOURS[number] if number < MOST_COLOURS else GREY
