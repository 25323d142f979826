"""The figures' colours, on paper and on a dark page.

A line's name has its colour, whose contrast to white and to the dark page is at least 4.5, as WCAG 2.2 asks for small
text (https://www.w3.org/TR/WCAG22/#contrast-minimum). Imports no matplotlib, since the page asks for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, cycle

# Text and frames; notes and limits; leaders and connectors; grids. White is the paper.
INK, GREY, LEADER_GREY, GRID_GREY, WHITE = "#262626", "#6B6B6B", "#D0D0D0", "#E4E4E4", "#FFFFFF"
_DARK_NEUTRAL = {INK: "#E3E6EA", GREY: "#A2A9B0"}


def _between(ends: Sequence[str], place: float) -> str:
    """The colour at a place from 0 to 1 between colours that are equally far apart."""
    part, share = divmod(place * (len(ends) - 1), 1)
    low, high = (bytes.fromhex(ends[min(int(part) + step, len(ends) - 1)][1:]) for step in (0, 1))
    mixed = (round(one + share * (other - one)) for one, other in zip(low, high, strict=True))
    return f"#{bytes(mixed).hex().upper()}"


# Of kernels, in their order, before INK and GREY; by each, its colour on a dark page. SVG files don't name black, so it
# is none of them.
_DARK = {
    "#0072B2": "#4AA3DF",
    "#C24E00": "#F0792F",
    "#007F5B": "#2BB98C",
    "#B5478F": "#E07FBE",
    "#8A6900": "#CDA22F",
    "#7459C6": "#A48BEB",
    "#0A7B91": "#3DB8CC",
    "#C62F3B": "#F0716F",
    "#4F7D14": "#86BD45",
    "#6F4A3A": "#C79A84",
}
# Those of further kernels are darker; of still further ones, as before.
_DARK |= {_between((line, "#000000"), 0.45): _between((dark, "#FFFFFF"), 0.5) for line, dark in [*_DARK.items()]}
LINE_COLOURS = tuple(_DARK)
BLUE, VERMILLION, GREEN, MAGENTA, OCHRE, *_ = LINE_COLOURS

# The ends of a scale and the colours between. All are as light as each other, and white text is read on each.
SCALE = ("#7A63B8", "#1A78AE", "#00805C", "#7D7400", "#BC5600", "#AD558A")

# From slow to fast, and from a small size to a large one: on paper and on a dark page, the ends of equal parts.
_MAP = (("#FFFFE0", "#C7E9B4", "#6CC5BF", "#3AA3C6"), ("#1D2328", "#20404A", "#1F5C70", "#1B7594"))
_SIZES = (("#148276", "#2F5F8F", "#3F0F5C"), ("#3A93A8", "#5DC863", "#FDE725"))
MAP_COLOURS, SIZE_COLOURS = 30, 7

# The greys of cells without a number: of those that failed, and of those that are not in the sweep.
PALE_GREY, NOT_SWEPT = "#D9D9D9", "#F1F1F1"

_CELLS = {PALE_GREY: "#4A5057", NOT_SWEPT: "#22272C"}
_NEUTRAL = {INK: "var(--ink)", GREY: "var(--quiet)", LEADER_GREY: "var(--line)", GRID_GREY: "var(--line)"}


def kernel_colours(
    names: Iterable[str], last: Collection[str], others: Iterable[str], chosen: Mapping[str, str]
) -> dict[str, str]:
    """The colour of each kernel in all figures and on the page: of the next in order, unless the study's file has it.

    names   of kernels, then of the study's libraries
    last    those that come behind these, as limits and kernels of undefined behaviour
    others  that were measured as well, which come behind all
    """
    ordered = dict.fromkeys([*sorted(names, key=lambda name: name in last), *sorted(last), *others])
    return {**dict(zip(ordered, chain(LINE_COLOURS, cycle(_DARK_NEUTRAL)), strict=False)), **chosen}


def map_colours() -> list[tuple[str, str]]:
    """A heat map's colours from slow to fast, each on paper and on a dark page."""
    return _ramp(_MAP, MAP_COLOURS)


def size_colour(number: int, count: int) -> str:
    """The colour of a value by its number among several in order, such as sizes."""
    return _ramp(_SIZES, SIZE_COLOURS)[round(number * (SIZE_COLOURS - 1) / max(count - 1, 1))][0]


def _ramp(ends: Sequence[Sequence[str]], count: int) -> list[tuple[str, str]]:
    paper, dark = ([_between(side, place / (count - 1)) for place in range(count)] for side in ends)
    return list(zip(paper, dark, strict=True))


def map_shades() -> list[str]:
    """The same in CSS."""
    return [_css(*pair) for pair in map_colours()]


def on_page(colour: str) -> str:
    """A line's colour in CSS, on paper and on a dark page."""
    return _css(colour, (_DARK | _DARK_NEUTRAL).get(colour, colour))


def _css(paper: str, dark: str) -> str:
    return f"light-dark({paper}, {dark})"


def shapes_on_page() -> dict[str, str]:
    """The page's colours for the lines and areas of a figure, by theirs in lower case; other colours stay."""
    pairs = [*map_colours(), *_ramp(_SIZES, SIZE_COLOURS), *_CELLS.items(), *_DARK.items()]
    shown = {paper: _css(paper, dark) for paper, dark in pairs}
    return {colour.lower(): name for colour, name in (_NEUTRAL | {WHITE: "var(--paper)"} | shown).items()}


def texts_on_page() -> dict[str, str]:
    """The page's colours of a picture's texts. White is on coloured cells, and stays."""
    return {colour: name for colour, name in shapes_on_page().items() if colour != WHITE.lower()}
