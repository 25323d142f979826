"""Figures inside the page: each as a picture, in words, and with links to its files."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from kernelsweep.publish.drawing.figure_formats import narrow_name
from kernelsweep.publish.drawing.palette import shapes_on_page, texts_on_page

_SUFFIXES = (".svg", ".png", ".pdf", ".tex")
# A printed page is 1.4 times as high as wide; words stand above and below a picture.
_TALL = 0.6


@dataclass(frozen=True)
class Link:
    """A link to a file, relative to the page."""

    target: str
    text: str


@dataclass(frozen=True)
class Figure:
    """A figure on the page.

    name     by which it is linked to
    title    its heading
    message  what it shows, in a sentence
    caption  where its numbers come from
    drawing  the picture as SVG, whose texts can be found and selected
    narrow   the same for a phone; "" if there is none
    narrow_caption  of this, where it differs
    """

    name: str
    title: str
    message: str
    caption: str
    drawing: str
    narrow: str
    files: Sequence[Link]
    narrow_caption: str = ""

    @property
    def is_tall(self) -> bool:
        """Whether the picture takes half a printed page."""
        box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', self.drawing)
        return box is not None and float(box[2]) > _TALL * float(box[1])


def embed(path: Path, title: str, base: Path, texts: Mapping[str, str]) -> Figure:
    """A figure as a part of the page in the folder `base`.

    path    the SVG file, with its siblings of other formats
    title   its heading
    texts   its message and captions, where they are known
    """
    siblings = [file for suffix in _SUFFIXES if (file := path.with_suffix(suffix)).is_file()]
    narrow = path.with_name(narrow_name(path.stem))
    caption = texts.get("caption", "")
    of_narrow = texts.get("narrow_caption", caption) if narrow.is_file() else caption
    return Figure(
        name=path.stem,
        title=title,
        message=texts.get("message", ""),
        caption=caption,
        drawing=drawing(path, link(path, base).target),
        narrow=drawing(narrow, link(narrow, base).target) if narrow.is_file() else "",
        files=[link(file, base, file.suffix[1:].upper()) for file in siblings],
        narrow_caption=of_narrow if of_narrow != caption else "",
    )


def link(path: Path, base: Path, text: str = "") -> Link:
    """A link from a page in the folder `base` to a file or folder, by default under its name from there."""
    target = Path(os.path.relpath(path, base)).as_posix()
    return Link(target, text or target)


def drawing(path: Path, name: str) -> str:
    """An SVG file as a part of the page, whose style and colours it has. Its ids begin with a name of its own."""
    text = path.read_text(encoding="utf-8")
    text = _SPARE.sub("", re.sub("[ \n]+", " ", text[text.index("<svg") :].strip())).replace("xlink:href", "href")
    text = _TAG.sub(lambda tag: _DECIMALS.sub("", tag[0]), text)
    text = re.sub(r' d="([^"]*)"', lambda path: f' d="{_shorter(path[1])}"', text)
    text = re.sub(r'style="[^"]*"', lambda style: style[0].replace(": ", ":").replace("; ", ";"), text)
    used = {*re.findall(r'(?:\bhref="#|url\(#)([^")]+)', text)}
    text = re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in used else "", text)
    text = re.sub(r"<g>(<(?:text|path|use)\b[^>]*(?:/>|>[^<]*</text>))</g>", r"\1", text)
    # What a drawing links to may also stand on the page, as a claim does.
    prefix, own = f"d{crc32(name.encode()):x}", {*re.findall(r' id="([^"]+)"', text)}
    text = re.sub(
        r'(\bid="|\bhref="#|url\(#)([^")]+)', lambda at: f"{at[1]}{f'{prefix}-' * (at[2] in own)}{at[2]}", text
    )
    return re.sub(r"<text\b[^>]*>|#[0-9a-f]{6}\b", _on_page, text)


def _shorter(path: str) -> str:
    """A path, with the steps of straight lines rather than their ends. Numbers have two decimals at most."""
    if re.search("[^MLz0-9. -]", path):
        return re.sub(r" ?([A-Za-z]) ", r"\1", path).strip()
    parts, at = [], (0, 0)
    for letter, *ends in re.findall(r"([MLz])(?: (\S+) (\S+))?", path):
        to = at if letter == "z" else (round(100 * float(ends[0])), round(100 * float(ends[1])))
        across, down = (_hundredths(end - start) for end, start in zip(to, at, strict=True))
        line = f"h{across}" if down == "0" else f"v{down}" if across == "0" else f"l{across} {down}"
        parts.append({"z": "z", "M": f"M{_hundredths(to[0])} {_hundredths(to[1])}"}.get(letter, line))
        at = to
    return "".join(parts).replace(" -", "-")


def _hundredths(number: int) -> str:
    return f"{number / 100:g}"


def with_classes(page: str) -> str:
    """A page whose figures' looks are classes of its style sheet: many marks share one."""
    names: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        looks = filter(None, (found[1] and f"clip-path:{found[1]}", found[2]))
        return f' class="{" ".join(names.setdefault(look, f"k{len(names)}") for look in looks)}"'

    page = _LOOKS.sub(named, page)
    return page.replace("</style>", "".join(f".{name}{{{look}}}" for look, name in names.items()) + "\n</style>", 1)


# A mark's or a text's look in a figure's SVG.
_LOOKS = re.compile(r'(?: clip-path="([^"]*)")? style="((?:fill|stroke|text-anchor)[^"]*)"')

# A drawing that can be folded: its size, where its rows end, where their names do, and where other parts begin.
_FOLDS = re.compile(r"viewBox='0 0 ([\d.]+) ([\d.]+)'[^>]* data-folds='([\d. ]+)'[^>]* font-size='(\d+)'[^>]*>")


def folded(svg: str, name: str) -> str:
    """A drawing, and behind it for narrow pages the same with its parts below each other, with the rows' names."""
    found = _FOLDS.search(svg)
    if not found or len(found[3].split()) < 3:  # Of an earlier version of ours, as before an edit.
        return svg
    identity, body = f"w{crc32(name.encode()):x}", svg[found.end() :].removesuffix("</svg>")
    width, height, end, names, *starts = map(float, [*found.groups()[:2], *found[3].split()])
    # The first part has what is below the rows, too.
    boxes = [(0.0, 0.0, starts[0], height, 0.0)]
    for start, stop in zip(starts, [*starts[1:], width], strict=True):
        below = boxes[-1][1] + boxes[-1][3]
        boxes += [(0, below, names, end, 0), (names, below, stop - start, end, start)]
    parts = [
        f'<svg x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" viewBox="{start:g} 0 {wide:g} {high:g}">'
        f'<use href="#{identity}"/></svg>'
        for x, y, wide, high, start in boxes
    ]
    wide, high = max(x + wide for x, _, wide, *_ in boxes), boxes[-1][1] + boxes[-1][3]
    whole = f'<svg viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" fill="currentColor" font-size="{found[4]}">'
    return f'{svg[: found.end()]}<g id="{identity}">{body}</g></svg>{whole}{"".join(parts)}</svg>'


# What a figure's SVG has and a page doesn't need: its style sheet has the type.
_SPARE = re.compile(
    r""" target="_blank"|<metadata>.*?</metadata>
    |<style.*?</style>|font-size: 7px; |font-family: [^;"]*; | transform="rotate\(-0 [^"]*"
    |(?<=>)\s(?=<)""".replace("\n    ", "")
)

# Nor is less than a hundredth of a point seen. A number between tags is a label.
_TAG, _DECIMALS = re.compile("<[^>]*>"), re.compile(r"(?<=\.\d\d)\d+")

_SHAPES, _TEXTS = shapes_on_page(), texts_on_page()


def _on_page(match: re.Match[str]) -> str:
    """A text's start, or a colour of anything else, in the page's colours."""
    part = match[0]
    if part.startswith("#"):
        return _SHAPES.get(part, part)
    return re.sub(r"#[0-9a-f]{6}\b", lambda colour: _TEXTS.get(colour[0], colour[0]), part)
