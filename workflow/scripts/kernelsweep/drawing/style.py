"""The look that all figures share: type, colours, markers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

import matplotlib
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

from kernelsweep.drawing.palette import INK, LINE_COLOURS
from kernelsweep.errors import UserError, nearest

Parameters = ParamSpec("Parameters")

# Type in print must not be smaller than 7 pt.
TEXT_PT = 7.0
TITLE_PT = 8.5

# The family that comes with matplotlib: the same glyphs on every machine. Verdana has the same widths, so texts of an
# SVG file stay in their places where a viewer lacks the first.
FONT, ALIKE = "DejaVu Sans", ("Verdana", "sans-serif")
# Any: the stubs list the keys one by one.
RC: Any = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "axes.axisbelow": True,
    "lines.solid_capstyle": "round",
    "patch.edgecolor": "white",
    "patch.force_edgecolor": True,
    "font.family": ["sans-serif"],
    "font.sans-serif": [FONT, *ALIKE],
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
    # Files: text as text in SVG, which can be found and read aloud; TrueType in PDF (journals refuse Type 3); ids from
    # a fixed salt.
    "svg.fonttype": "none",
    "svg.hashsalt": "kernelsweep",
    "pdf.fonttype": 42,
}

MARKERS = ("o", "s", "^", "v", "D", "P", "X", "<", ">", "*", "h", "p", "d", "8")
# With seven colours, four dashes: no two of 28 steps share both.
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1.2, 1, 1.2)))


def use_font(family: str) -> None:
    """Draw this process's figures in a font family; glyphs that it lacks come from the usual one.

    Raises UserError where it is not installed.
    """
    known = fontManager.get_font_names()
    if family not in known:
        raise UserError(
            f"figure_font: this machine has no font {family!r}{nearest(family, known) or ';'} `fc-list : family` lists"
            " the installed ones."
        )
    RC["font.family"] = ["sans-serif"] if family == FONT else [family, "sans-serif"]


def styled(draw: Callable[Parameters, Figure]) -> Callable[Parameters, Figure]:
    """Run a figure's `draw` under the common settings, independent of the caller's."""

    @wraps(draw)
    def styled_draw(*arguments: Parameters.args, **options: Parameters.kwargs) -> Figure:
        with matplotlib.rc_context(RC):
            return draw(*arguments, **options)

    return styled_draw


def line_look(index: int) -> dict[str, Any]:
    """The colour, dashes and marker of a figure's line of that number."""
    return {
        "color": LINE_COLOURS[index % len(LINE_COLOURS)],
        "linestyle": DASHES[index % len(DASHES)],
        "marker": MARKERS[index % len(MARKERS)],
    }
