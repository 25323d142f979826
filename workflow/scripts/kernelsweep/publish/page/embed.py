"""Figures for the page: each as a picture inside it, in words, and with links to its files, its data and its script."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FIGURES_FOLDER = Path("workflow/scripts/kernelsweep/publish/figures")

# The scripts of the figures that are not of a study.
_OTHER_SCRIPTS = {"ratios": Path("workflow/scripts/kernelsweep/judge/comparison/ratios.py")}

# What each figure shows, as its heading; others are called by their module's name.
TITLES = {
    "ladder": "Time, step by step",
    "bandwidth": "Bandwidth against array size",
    "block_unroll": "Block size by unroll factor",
    "block_grid": "Block size by number of blocks",
    "operations": "By operation and type",
    "error": "Floating-point error against array size",
    "lanes": "Which lane's value lands where",
    "metrics": "Hardware counters, step by step",
    "roofline": "Roofline",
    "load_efficiency": "Load efficiency against time",
    "rivals": "Against a library's reduction",
    "correctness": "Points right, by kernel and array size",
    "ratios": "New times over old ones",
}

_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}
_SUFFIXES = (".svg", ".png", ".pdf")

# A figure of thousands of points is shown as PNG, which is then smaller, and there at once.
_LARGEST_SVG_BYTES = 1_000_000


@dataclass(frozen=True)
class Link:
    """A link to a file, relative to the page."""

    target: str
    text: str


@dataclass(frozen=True)
class Figure:
    """One figure; width and height in CSS pixels, as the SVG has them.

    title    its heading
    message  what is seen in it, in a sentence
    caption  where its numbers come from
    """

    title: str
    message: str
    caption: str
    source: str
    width: float
    height: float
    files: Sequence[Link]
    data: Sequence[Link]
    script: Link

    @property
    def alternative(self) -> str:
        """What the picture says, for readers who can't see it."""
        return f"{self.title}. {self.message}".strip()


def figure(path: Path, words: Mapping[str, str], data: Sequence[Path], base: Path) -> Figure:
    """The figure `path`, an SVG file with its siblings.

    words  its message and caption, where they are known
    data   the files or folders that it was drawn from
    base   the page's folder
    """
    width, height = _size(path)
    name = path.stem
    others = [path.with_suffix(suffix) for suffix in _SUFFIXES]
    return Figure(
        title=TITLES.get(name, name.replace("_", " ").capitalize()),
        message=words.get("message", ""),
        caption=words.get("caption", ""),
        source=data_uri(path if path.stat().st_size <= _LARGEST_SVG_BYTES else path.with_suffix(".png")),
        width=width,
        height=height,
        files=[link(file, base, file.suffix[1:].upper()) for file in others if file.is_file()],
        data=[link(file, base) for file in data],
        script=link(_OTHER_SCRIPTS.get(name, FIGURES_FOLDER / f"{name}.py"), base, f"{name}.py"),
    )


def link(path: Path, base: Path, text: str = "") -> Link:
    """A link from a page in the folder `base` to a file or folder, by default under its name from there."""
    target = Path(os.path.relpath(path, base)).as_posix()
    return Link(target, text or target)


def data_uri(path: Path) -> str:
    """A picture as an address that holds all of it."""
    return f"data:{_TYPES[path.suffix]};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _size(path: Path) -> tuple[float, float]:
    """An SVG file's width and height, so that the page doesn't jump while it is read."""
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', path.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{path}: no viewBox that begins at 0 0")
    return float(found[1]), float(found[2])
