"""The figures' colours, on paper and on a dark page.

A line has a contrast of at least 3 to white and to the dark page, and small text one of at least 4.5, as WCAG 2.2 asks
(https://www.w3.org/TR/WCAG22/#contrast-minimum). Imports no matplotlib, since the page asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence

# Text and frames; notes and limits; leaders and connectors; grids. White is the paper.
INK, GREY, LEADER_GREY, GRID_GREY, WHITE = "#262626", "#6B6B6B", "#D0D0D0", "#E4E4E4", "#FFFFFF"

# Okabe and Ito's colours; the last two are darker than theirs, which vanish on paper. Ink is in place of their black:
# SVG files don't name black, so it would stay on a dark page.
BLUE, VERMILLION, GREEN, PURPLE, SKY, ORANGE = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#3F8FC9", "#B87F00"
LINE_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, INK, SKY, ORANGE)

# The ends of a scale and the colours between. All are as light as each other, and white text is read on each.
SCALE = ("#7A63B8", "#1A78AE", "#00805C", "#7D7400", "#BC5600", "#AD558A")

# A heat map's colours from slow to fast, on paper and on a dark page, where ink is light: the ends of equal parts.
_MAP = (("#FFFFE0", "#C7E9B4", "#6CC5BF", "#3AA3C6"), ("#1D2328", "#20404A", "#1F5C70", "#1B7594"))
MAP_COLOURS = 30

# The greys of cells without a number: of those that failed, and of those that are not in the sweep.
PALE_GREY, NOT_SWEPT = "#D9D9D9", "#F1F1F1"

_TEXT = {
    VERMILLION: "#B85000",
    GREEN: "#007A59",
    PURPLE: "#A65E8A",
    SKY: "#2476AE",
    ORANGE: "#8A6100",
}
# By the colour of a text on paper, that of the text and of its line on a dark page.
_LIGHT = {
    "#B85000": VERMILLION,
    "#007A59": GREEN,
    "#A65E8A": PURPLE,
    "#2476AE": "#56B4E9",
    "#8A6100": "#E69F00",
    BLUE: "#4AA3DF",
}

_CELLS = {PALE_GREY: "#4A5057", NOT_SWEPT: "#22272C"}
_NEUTRAL = {INK: "var(--ink)", GREY: "var(--quiet)", LEADER_GREY: "var(--line)", GRID_GREY: "var(--line)"}


def map_colours() -> list[tuple[str, str]]:
    """A heat map's colours from slow to fast, each on paper and on a dark page."""
    paper, dark = ([_between(ends, place / (MAP_COLOURS - 1)) for place in range(MAP_COLOURS)] for ends in _MAP)
    return list(zip(paper, dark, strict=True))


def _between(ends: Sequence[str], place: float) -> str:
    """The colour at a place from 0 to 1 between colours that are equally far apart."""
    part, share = divmod(place * (len(ends) - 1), 1)
    low, high = (bytes.fromhex(ends[min(int(part) + step, len(ends) - 1)][1:]) for step in (0, 1))
    mixed = (round(one + share * (other - one)) for one, other in zip(low, high, strict=True))
    return f"#{bytes(mixed).hex()}"


def text_in(colour: str) -> str:
    """The colour of small text that belongs to a line of a colour."""
    return _TEXT.get(colour, colour)


def shapes_on_page() -> dict[str, str]:
    """The page's colours for the lines and areas of a figure, by theirs in lower case; other colours stay."""
    lines = [(line, _LIGHT[text_in(line)]) for line in LINE_COLOURS if text_in(line) in _LIGHT]
    shown = {light: f"light-dark({light}, {dark})" for light, dark in [*map_colours(), *_CELLS.items(), *lines]}
    neutral = _NEUTRAL | {WHITE: "var(--paper)"} | shown
    return {colour.lower(): name for colour, name in neutral.items()}


def texts_on_page() -> dict[str, str]:
    """The page's colours of a picture's texts. Black and white are on coloured cells, and stay."""
    shown = {dark: f"light-dark({dark}, {light})" for dark, light in _LIGHT.items()}
    return {colour.lower(): name for colour, name in (_NEUTRAL | shown).items()}
