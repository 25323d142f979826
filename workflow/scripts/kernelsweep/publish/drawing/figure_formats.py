"""The files of a figure, by its name and width. Imports no matplotlib, since a run that is planned asks for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# matplotlib's options by format. A date would make the files of every run differ. PNGs are packed in two thirds of the
# usual time, and are 4% larger.
OPTIONS: dict[str, dict[str, Any]] = {
    ".svg": {"metadata": {"Date": None}},
    ".pdf": {"metadata": {"CreationDate": None}},
    ".png": {"metadata": {}, "pil_kwargs": {"compress_level": 3}},
}
# A file's title and caption go with it, under these names of its format.
TITLE_AND_CAPTION = {".svg": ("Title", "Description"), ".pdf": ("Title", "Subject"), ".png": ("Title", "Description")}
FORMATS = tuple(OPTIONS)

# The formats of a quick sweep's figures over two columns: what the page shows.
QUICK_FORMATS = (".svg",)


def file_names(name: str, width: str | float, formats: Iterable[str] = FORMATS) -> list[str]:
    """A figure's files at one of config.yaml's figure_widths: in every format at two columns, else a paper's PDF."""
    if not isinstance(width, str):
        width = f"{width:g}in"
    if width == "two_columns":
        return [f"{name}{suffix}" for suffix in formats]
    return [f"{name}_{width}.pdf"]


def narrow_name(name: str) -> str:
    """The file of a figure for a page on a phone."""
    return f"{name}_narrow.svg"
