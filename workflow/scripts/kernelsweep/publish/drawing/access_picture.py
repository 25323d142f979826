"""A picture of accesses, which is SVG, as a figure that can be saved as PDF."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.layout import TWO_COLUMNS, Drawing

SVG = "{http://www.w3.org/2000/svg}"
# The boxes of a path, as observe/accesses/picture.py writes them: left, top, width and height.
BOX = re.compile(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z")
# How far a text's middle is above its line, in the picture's units.
MIDDLE = 4.2


@style.styled
def read_picture(file: Path) -> Drawing:
    """The picture in an SVG file of a study's accesses, as wide as two columns, with its type in the figures' size."""
    picture = ElementTree.fromstring(file.read_text(encoding="utf-8"))
    width, height = (float(picture.get(side, "1")) for side in ("width", "height"))
    figure = Figure(figsize=(TWO_COLUMNS, TWO_COLUMNS * height / width))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set(xlim=(0, width), ylim=(height, 0))
    _draw(axes, picture, {"fill": palette.INK, "opacity": "1"})
    title, _, caption = picture.findtext(f"{SVG}title", "").partition(": ")
    key = "A colour is a warp; lanes that wait are grey. Bold: fewer sectors, or turns of the banks, would do."
    return Drawing(figure, title, f"{caption[:1].upper()}{caption[1:]}. {key}", "", "The emulator.")


def _draw(axes: Axes, parent: ElementTree.Element, look: dict[str, str]) -> None:
    for element in parent:
        own = look | {name: element.attrib[name] for name in look if name in element.attrib}
        paint: Any = {"color": own["fill"], "alpha": float(own["opacity"])}
        if element.tag == f"{SVG}text":
            at = (float(element.attrib["x"]), float(element.attrib["y"]) - MIDDLE)
            weight = element.get("font-weight", "normal")
            axes.text(*at, element.text or "", va="center_baseline", weight=weight, **paint)
        elif element.tag == f"{SVG}path":
            boxes = [tuple(map(float, box)) for box in BOX.findall(element.attrib["d"])]
            corners = [[(x, y), (x + w, y), (x + w, y + h), (x, y + h)] for x, y, w, h in boxes]
            axes.add_collection(PolyCollection(corners, linewidths=0, **paint))
        _draw(axes, element, own)
