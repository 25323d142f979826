"""The glossary of docs/: its meanings at the heads of a page's tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from kernelsweep.home import HOME

GLOSSARY = HOME / "docs/glossary.md"

_ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
_HEADS = re.compile(r"<thead>.*?</thead>", re.DOTALL)
_HEAD = re.compile(r"<th\b([^>]*)>(.*?)</th>", re.DOTALL)
_TAG, _UNIT = re.compile(r"<[^>]+>"), re.compile(r"\s*\([^)]*\)$")


def meanings() -> dict[str, str]:
    """The meaning of each term; terms that share a row of the glossary share its meaning."""
    rows = _ROW.findall(GLOSSARY.read_text(encoding="utf-8"))
    return {term: meaning.replace("`", "") for terms, meaning in rows for term in terms.split(", ")}


def explained(page: str, known: Mapping[str, str]) -> str:
    """The page, in which the heads of tables have their meanings as titles; a head's unit does not matter."""

    def head(found: re.Match[str]) -> str:
        attributes, content = found.groups()
        text = _TAG.sub("", content).strip()
        meaning = known.get(text) or known.get(_UNIT.sub("", text))
        return f'<th{attributes} title="{escape(meaning)}">{content}</th>' if meaning else found[0]

    return _HEADS.sub(lambda heads: _HEAD.sub(head, heads[0]), page)
