"""Words of docs/ on a page: the glossary's meanings at the heads of tables, and what "proven" means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from kernelsweep.home import HOME

GLOSSARY = HOME / "docs/glossary.md"
PROOFS = HOME / "docs/proofs.md"

_ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
_HEADS = re.compile(r"<thead>.*?</thead>", re.DOTALL)
_HEAD = re.compile(r"<th\b([^>]*)>(.*?)</th>", re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_TAG, _UNIT = re.compile(r"<[^>]+>"), re.compile(r"\s*\([^)]*\)$")


def meanings() -> dict[str, str]:
    """The meaning of each term; terms that share a row of the glossary share its meaning."""
    rows = _ROW.findall(GLOSSARY.read_text(encoding="utf-8"))
    return {term: meaning.replace("`", "") for terms, meaning in rows for term in terms.split(", ")}


def proven_means() -> list[str]:
    """What "proven" means, and what the checks do not find, as Markdown that unfolds."""
    text = PROOFS.read_text(encoding="utf-8")
    meaning, not_found = text.split("\n\n")[1], text.partition("## What is not found?\n")[2]
    shown = _LINK.sub(r"\1", f"{meaning}\n{not_found}").strip()
    return ["<details><summary>What proven means, and what is not found</summary>", "", shown, "", "</details>"]


def explained(page: str, known: Mapping[str, str]) -> str:
    """The page, in which the heads of tables have their meanings as titles; a head's unit does not matter."""

    def head(found: re.Match[str]) -> str:
        attributes, content = found.groups()
        text = _TAG.sub("", content).strip()
        meaning = known.get(text) or known.get(_UNIT.sub("", text))
        return f'<th{attributes} title="{escape(meaning)}">{content}</th>' if meaning else found[0]

    return _HEADS.sub(lambda heads: _HEAD.sub(head, heads[0]), page)
