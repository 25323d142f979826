"""The texts of a drawn figure."""

from __future__ import annotations

from itertools import combinations

from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from kernelsweep.publish.drawing.layout import WIDTHS


def drawn_texts(figure: Figure) -> list[Text]:
    """The texts that the figure shows: not the labels of ticks beyond their axis, which matplotlib keeps as well."""
    hidden = set()
    for axis in [axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]:
        low, high = sorted(axis.get_view_interval())
        beyond = [tick for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high]
        hidden |= {label for tick in beyond for label in (tick.label1, tick.label2)}
    every = [text for text in figure.findobj(Text) if isinstance(text, Text)]
    return [text for text in every if text.get_visible() and text.get_text() and text not in hidden]


def check_texts(figure: Figure, least: int) -> None:
    assert figure.get_figwidth() in WIDTHS.values()
    figure.draw_without_rendering()
    shown = drawn_texts(figure)
    assert len(shown) > least
    # A pixel is 0.72 pt here: descenders may touch the line below, letters may not.
    boxes = [(text.get_text(), text.get_window_extent().padded(-1)) for text in shown]
    for text, box in boxes:
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, text
        assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1, text
    assert [(one, other) for (one, a), (other, b) in combinations(boxes, 2) if a.overlaps(b)] == []
    assert min(float(text.get_fontsize()) for text in shown) >= 7
    # Black and white are on cells, whose colours are chosen for them.
    colours = {to_hex(text.get_color()) for text in shown} - {"#000000", "#ffffff"}
    assert {colour for colour in colours if contrast(colour, "white") < 4.5} == set()


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio)."""

    def luminance(colour: str) -> float:
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)
