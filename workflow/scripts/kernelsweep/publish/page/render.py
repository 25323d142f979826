"""The page's content, and how it becomes one HTML file: the same content gives the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from kernelsweep.publish.page.embed import Figure, Link
from kernelsweep.publish.page.facts import Facts

# What the page is made of, beside this file.
SOURCES = Path(__file__).parent
TEMPLATE, STYLE, SCRIPT = "template.html", "style.css", "script.js"


@dataclass(frozen=True)
class Section:
    """A study, or a chapter that follows the studies.

    name         the anchor by which it is linked to
    description  of a study, as text
    points       of a study: how many came out how
    html         its table or text
    files        the same for programs, its configuration and its kernels, under what they are
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

    statuses       that occur among the points
    failed         the points that failed by name, or that none did, as HTML
    summary        every kernel's points, as HTML
    missing        what the page says of chapters that aren't there, as HTML
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
