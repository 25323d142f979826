"""The page's content, and its rendering as one HTML file: the same content gives the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from kernelsweep.publish.page.embed import Figure, Link
from kernelsweep.publish.page.facts import Facts

# The page's template, style and script lie beside this file.
SOURCES = Path(__file__).parent
TEMPLATE, STYLE, SCRIPT = "template.html", "style.css", "script.js"


@dataclass(frozen=True)
class Section:
    """A study, or a chapter that follows the studies.

    name         the anchor by which it is linked to
    description  a study's, as text
    points       a study's number of points by status
    html         its table or text
    files        links to its results for programs, its configuration and its kernels, by kind
    """

    name: str
    title: str
    html: str
    figures: Sequence[Figure]
    files: Mapping[str, Sequence[Link]]
    description: str = ""
    points: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Page:
    """All that the page shows.

    statuses       the statuses that occur among the points
    failed         the points that failed, by name, as HTML
    summary        every kernel's points, as HTML
    missing        why chapters are missing, as HTML
    configuration  the resolved one, as text
    """

    title: str
    facts: Facts
    statuses: Sequence[str]
    failed: str
    headline: Figure
    summary: str
    studies: Sequence[Section]
    chapters: Sequence[Section]
    missing: Sequence[str]
    environment: Facts
    environment_file: Link | None
    configuration: str


def render(page: Page) -> str:
    """The page as HTML."""
    template, style, script = ((SOURCES / name).read_text(encoding="utf-8") for name in (TEMPLATE, STYLE, SCRIPT))
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(template).render(page=page, style=style, script=script)
