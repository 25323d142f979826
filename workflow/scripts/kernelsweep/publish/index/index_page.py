"""The page that leads to all results: platforms, GPUs beside recordings, comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jinja2 import Environment, StrictUndefined

from kernelsweep.publish.html_files import INDEX_TEMPLATE, STYLE, policy
from kernelsweep.publish.page.embed import Link


@dataclass(frozen=True)
class Entry:
    """A line of the table: a platform, or below it a study that is not as the platform's page has it.

    page      its page, if there is one
    is_right  whether all is right; None where that is not known
    points    how its points came out, in words
    counted   when that was counted, in words
    remark    where its numbers come from, or why a study has its own line
    files     its other results for readers
    """

    name: str
    page: Link | None
    is_right: bool | None
    points: str
    counted: str
    remark: str
    files: Sequence[Link] = ()
    is_study: bool = False


@dataclass(frozen=True)
class Comparison:
    """A comparison or a history that was made, by its headline.

    is_older  whether points were measured since
    """

    headline: str
    file: Link
    made: str
    is_older: bool


@dataclass(frozen=True)
class IndexPage:
    """All that the page shows.

    devices  sentences on GPUs beside recordings, or on why there are none
    further  the comparison of devices, where it was made
    """

    entries: Sequence[Entry]
    devices: Sequence[str]
    further: Sequence[Link]
    comparisons: Sequence[Comparison]


def render_index(index: IndexPage) -> str:
    """The page as HTML."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(INDEX_TEMPLATE.read_text(encoding="utf-8"))
    style = STYLE.read_text(encoding="utf-8")
    return template.render(index=index, style=style, policy=policy([]))
