"""The page that leads to all results: platforms, GPUs beside recordings, comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jinja2 import Environment, StrictUndefined

from kernelsweep.analysis.row_counts import RowCounts
from kernelsweep.publish.html_files import INDEX_TEMPLATE, STYLE
from kernelsweep.publish.page.embed import Link
from kernelsweep.publish.page.scripts import policy


@dataclass(frozen=True)
class PlatformEntry:
    """One platform's line.

    provenance  where its numbers come from
    files       its other results for readers
    studies     the pages of studies that it does not hold, since they were run by themselves
    """

    provenance: str
    counted: RowCounts
    page: Link
    files: Sequence[Link]
    studies: Sequence[Link] = ()


@dataclass(frozen=True)
class IndexPage:
    """All that the page shows.

    devices      sentences on GPUs beside recordings, or on why there are none
    comparisons  the headline of each comparison and history that was made, with its file
    further      the comparison of devices, where it was made
    """

    platforms: Sequence[PlatformEntry]
    devices: Sequence[str]
    further: Sequence[Link]
    comparisons: Sequence[tuple[str, Link]]


def render_index(index: IndexPage) -> str:
    """The page as HTML."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(INDEX_TEMPLATE.read_text(encoding="utf-8"))
    style = STYLE.read_text(encoding="utf-8")
    return template.render(index=index, style=style, policy=policy([]))
