"""Results in Markdown as parts of a page: links to headings and tables, tables that scroll, diffs that unfold."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kernelsweep.publish.page.embed import drawing, folded

# The HTML in our own Markdown. Anything else is text, such as <int> in a compiler's message.
_ALLOWED_HTML = re.compile(r'</?sup>|<a id="[\w-]+">|</a>')
# What unfolds, and what stands together, begins and ends with a line of its own.
_FOLD = re.compile(r'<details><summary>[^<>]*</summary>|</details>|<div(?: class="\w+")?>|</div>')
# The signs that a verdict begins with, and the classes of their colours.
_VERDICTS = {"✓": "good", "✗": "bad", "◐": "open", "?": "open"}
# Results are below headings of the second level.
_HIGHEST_HEADING, _LOWEST_HEADING = 3, 6
# The language of a fenced block that is a difference, whose title in Markdown follows. Short ones are open.
_DIFFERENCE, _SHORT = "diff", 16


def to_html(text: str, name: str, title: str, folder: Path, base: Path) -> str:
    """Markdown as HTML, without its first heading, since the page has its own.

    name    of this part of the page, with which the anchors of its headings and tables begin
    title   its title, which screen readers announce with its tables
    folder  the folder that links and pictures are relative to; links become relative to `base`, drawings are embedded
    """
    markdown = MarkdownIt("commonmark").enable("table").disable("html_block")
    tokens = markdown.parse(text)
    if tokens and tokens[0].type == "heading_open":
        tokens = tokens[3:]  # Its start, its text and its end.
    highest = min((_level(token) for token in tokens if token.type == "heading_open"), default=1)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(_HIGHEST_HEADING + _level(token) - highest, _LOWEST_HEADING)}"
        if token.type in ("td_open", "th_open") and str(token.attrs.pop("style", "")).endswith("right"):
            token.attrs["class"] = "r"
        for child in token.children or ():
            _adapt(child, folder, base)
        if token.type == "fence" and token.info.startswith(_DIFFERENCE):
            words = markdown.renderInline(token.info.removeprefix(_DIFFERENCE).strip())
            token.type, token.content = "html_block", _unfolding(token.content, words)
    _name_rows(tokens)
    tokens = _with_folds(tokens)
    return str(markdown.renderer.render(list(_with_anchors(tokens, name, title)), markdown.options, {}))


def _unfolding(lines: str, title: str) -> str:
    """A difference of two sources, which unfolds below its title; lines are marked for eyes and ears."""
    marks, code = {"+": "ins", "-": "del"}, []
    for line in lines.splitlines():
        mark, indented = marks.get(line[:1], "span"), len(line) - len(line[1:].lstrip()) + 4
        code.append(f'<{mark} style="--in:{indented}ch">{escape(line)}</{mark}>')
    is_open = " open" if len(code) <= _SHORT else ""
    return f'<details class="difference"{is_open}><summary>{title}</summary><pre>{"".join(code)}</pre></details>\n'


def _with_folds(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, in which a paragraph that begins or ends what unfolds is that."""
    folded = list(tokens)
    for place in range(len(folded) - 3, -1, -1):
        text = folded[place + 1].content
        if folded[place].type == "paragraph_open" and _FOLD.fullmatch(text):
            folded[place : place + 3] = [Token("html_block", "", 0, content=f"{text}\n")]
    return folded


def _level(heading: Token) -> int:
    return int(heading.tag[1:])


def _adapt(token: Token, folder: Path, base: Path) -> None:
    """One inline token, in place."""
    if token.type == "html_inline" and not _ALLOWED_HTML.fullmatch(token.content):
        token.type = "text"
    if token.type == "link_open":
        target = str(token.attrs["href"])
        is_file = "://" not in target and not target.startswith(("#", "mailto:"))
        token.attrs["href"] = os.path.relpath(folder / target, base) if is_file else target
    if token.type == "image" and (picture := folder / str(token.attrs["src"])).is_file():
        token.type, token.content = "html_inline", _inline(picture, token.content, base)


def _inline(picture: Path, words: str, base: Path) -> str:
    """A drawing in the text, in the page's colours; where there is little room, its right part stands below."""
    name = os.path.relpath(picture, base)
    svg = folded(drawing(picture, name), name)
    return f'<span class="drawing" role="img" aria-label="{escape(words)}" tabindex="0">{svg}</span>'


def _name_rows(tokens: Sequence[Token]) -> None:
    """Make each row's first cell its heading, in place: verdicts and failed cells in colours, names that may break."""
    for row, (token, cell) in enumerate(pairwise(tokens)):
        if token.type == "td_open" and cell.content.startswith("✗"):
            token.attrs["class"] = " ".join(dict.fromkeys([*str(token.attrs.get("class", "")).split(), "bad"]))
        if token.type == "tr_open" and cell.type == "td_open":
            text, end = tokens[row + 2 : row + 4]
            cell.tag = end.tag = "th"
            cell.attrs["scope"] = "row"
            if verdict := _VERDICTS.get(text.content.partition(" ")[0]):
                cell.attrs["class"] = verdict
            for child in text.children or ():
                if child.type == "code_inline":
                    child.type, child.content = "html_inline", f"<code>{breakable(child.content)}</code>"


def coded(text: str) -> str:
    """A text as HTML, with code for what is between backticks."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def breakable(name: str) -> str:
    """A kernel's name as HTML that may break after an underscore within it, and after its study."""
    return re.sub(r"((?<=[^\W_])_|/)(?=[^_])", r"\1<wbr>", escape(name))


def _with_anchors(tokens: Iterable[Token], name: str, title: str) -> Iterable[Token]:
    """The tokens with links to each heading and table; a table is in a box, which readers scroll with the keyboard.

    A table's caption is its title and the heading above it; it is read out, and names the box.
    """
    numbers: Counter[str] = Counter()
    anchor, caption, in_heading = "", title, False
    for token in tokens:
        if token.type in ("heading_open", "table_open"):
            numbers[token.type] += 1
            anchor = f"{name}-{token.type.removesuffix('_open')}-{numbers[token.type]}"
        words = f"Link to this {token.type.partition('_')[0]}"
        link = f'<a class="anchor" tabindex="-1" href="#{anchor}" aria-label="{words}">#</a>'
        if token.type == "heading_open":
            token.attrs["id"] = anchor
        if token.type == "heading_close":
            yield Token("html_block", "", 0, content=f" {link}")
        if token.type == "table_open":
            box = f'<div class="table" role="region" aria-labelledby="{anchor}-caption" tabindex="0">'
            yield Token("html_block", "", 0, content=f'<div class="linked" id="{anchor}">{link}{box}\n')
        yield token
        if token.type == "inline" and in_heading:
            caption = f"{title}: {token.content}"
        in_heading = token.type == "heading_open"
        if token.type == "table_open":
            yield Token("html_block", "", 0, content=f'<caption id="{anchor}-caption">{escape(caption)}</caption>')
        if token.type == "table_close":
            yield Token("html_block", "", 0, content="</div></div>\n")
