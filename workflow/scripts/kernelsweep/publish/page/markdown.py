"""The other results' Markdown as parts of a page: headings below the page's own, tables that scroll by themselves."""

from __future__ import annotations

import os
from collections.abc import Iterable
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kernelsweep.publish.page.embed import data_uri

# All the HTML that our own Markdown has. Anything else of that look is text, such as the <int> of a compiler's message.
_ALLOWED_HTML = ("<sup>", "</sup>", "<sub>", "</sub>", "<br>")
_LOWEST_HEADING = 6


def to_html(text: str, title: str, level: int, folder: Path, base: Path) -> str:
    """Markdown as HTML, without the heading that it opens with, which the page gives itself.

    title   of this part of the page, by which its tables are named to those who don't see it
    level   of the highest heading that is left
    folder  what links and pictures are relative to; links will be relative to `base`, pictures become part of the page
    """
    markdown = MarkdownIt("commonmark").enable("table").disable("html_block")
    tokens = markdown.parse(text)
    highest = min((_level(token) for token in tokens if token.type == "heading_open"), default=1)
    if tokens and tokens[0].type == "heading_open":
        tokens = tokens[3:]  # It, its text, and its end.
        highest = min((_level(token) for token in tokens if token.type == "heading_open"), default=1)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(level + _level(token) - highest, _LOWEST_HEADING)}"
        for child in token.children or ():
            _adapt(child, folder, base)
    return str(markdown.renderer.render(list(_with_boxes(tokens, title)), markdown.options, {}))


def _level(heading: Token) -> int:
    return int(heading.tag[1:])


def _adapt(token: Token, folder: Path, base: Path) -> None:
    """One inline token, in place."""
    if token.type == "html_inline" and token.content not in _ALLOWED_HTML:
        token.type = "text"
    if token.type == "link_open" and _is_file(target := str(token.attrs["href"])):
        token.attrs["href"] = os.path.relpath(folder / target, base)
    if token.type == "image" and (picture := folder / str(token.attrs["src"])).is_file():
        token.attrs["src"] = data_uri(picture)


def _is_file(target: str) -> bool:
    return "://" not in target and not target.startswith(("#", "mailto:"))


def _with_boxes(tokens: Iterable[Token], title: str) -> Iterable[Token]:
    """The tokens with each table in a box of its own, which a reader can scroll by the keyboard as well."""
    label = escape(f"Table: {title}")
    for token in tokens:
        if token.type == "table_open":
            opening = f'<div class="table" role="region" aria-label="{label}" tabindex="0">\n'
            yield Token("html_block", "", 0, content=opening)
        yield token
        if token.type == "table_close":
            yield Token("html_block", "", 0, content="</div>\n")
