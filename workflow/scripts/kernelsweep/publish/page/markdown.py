"""Results in Markdown as parts of a page: headings below the page's own, tables that scroll, diffs that unfold."""

from __future__ import annotations

import os
from collections.abc import Iterable
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kernelsweep.publish.page.embed import data_uri

# The HTML in our own Markdown. Anything else is text, such as <int> in a compiler's message.
_ALLOWED_HTML = ("<sup>", "</sup>", "<sub>", "</sub>", "<br>")
_LOWEST_HEADING = 6
# The language of a fenced block that is a difference; the name of what it is against follows.
_DIFFERENCE = "diff"


def to_html(text: str, title: str, level: int, folder: Path, base: Path) -> str:
    """Markdown as HTML, without its first heading, since the page has its own.

    title   the title of this part of the page, which screen readers announce with its tables
    level   the level of the highest remaining heading
    folder  the folder that links and pictures are relative to; links become relative to `base`, pictures are embedded
    """
    markdown = MarkdownIt("commonmark").enable("table").disable("html_block")
    tokens = markdown.parse(text)
    highest = min((_level(token) for token in tokens if token.type == "heading_open"), default=1)
    if tokens and tokens[0].type == "heading_open":
        tokens = tokens[3:]  # Its start, its text and its end.
        highest = min((_level(token) for token in tokens if token.type == "heading_open"), default=1)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(level + _level(token) - highest, _LOWEST_HEADING)}"
        for child in token.children or ():
            _adapt(child, folder, base)
        if token.type == "fence" and token.info.startswith(_DIFFERENCE):
            token.type, token.content = "html_block", _unfolding(token.content, token.info.removeprefix(_DIFFERENCE))
    return str(markdown.renderer.render(list(_with_boxes(tokens, title)), markdown.options, {}))


def comment_html(text: str) -> str:
    """The paragraphs of a comment as HTML. Only code in backticks is Markdown: `2 * a * b` has no emphasis."""
    return str(MarkdownIt("zero").enable("backticks").render(text))


def _unfolding(lines: str, base: str) -> str:
    """A difference of two sources, which unfolds; added and removed lines are marked for eyes and ears."""
    marks = {"+": "ins", "-": "del"}
    code = [
        f"<{mark}>{escape(line)}</{mark}>" if (mark := marks.get(line[:1])) else escape(line)
        for line in lines.splitlines()
    ]
    summary = f"<summary>The code, against <code>{escape(base.strip())}</code></summary>"
    return f'<details class="difference">{summary}<pre>{chr(10).join(code)}</pre></details>\n'


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
    """The tokens with each table in a box of its own, which readers can scroll with the keyboard."""
    label = escape(f"Table: {title}")
    for token in tokens:
        if token.type == "table_open":
            opening = f'<div class="table" role="region" aria-label="{label}" tabindex="0">\n'
            yield Token("html_block", "", 0, content=opening)
        yield token
        if token.type == "table_close":
            yield Token("html_block", "", 0, content="</div>\n")
