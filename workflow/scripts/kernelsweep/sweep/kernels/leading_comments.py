"""The comments at the beginning of a C++ file, and the story that the first of them tells."""

from __future__ import annotations

import re

# Text that may precede a file's code: blanks, preprocessor directives, and comments of both kinds.
_BEFORE_CODE = re.compile(r"\s+|#(?:\\\n|.)*|//(?P<line>.*)|/\*(?P<block>(?s:.*?))\*/")
_LICENCE = re.compile(r"copyright|licen[cs]e|SPDX", re.IGNORECASE)


def leading_comments(text: str) -> dict[int, str | None]:
    """The lines before a file's code by number from 1.

    A comment's line is its text without the comment's marks; a blank line is None. Preprocessor directives are left
    out.
    """
    lines: dict[int, str | None] = {}
    place, number = 0, 1
    while match := _BEFORE_CODE.match(text, place):
        place = match.end()
        if match["line"] is not None:
            lines[number] = re.sub(r"^[/!]* ?", "", match["line"])
        elif match["block"] is not None:
            opening, *others = match["block"].split("\n")
            lines[number] = re.sub(r"^[*!]* ?", "", opening)
            lines |= {number + n: re.sub(r"^\s*\*+ ?", "", line) for n, line in enumerate(others, 1)}
        number += match[0].count("\n")
    for number, line in enumerate(text[:place].split("\n"), 1):
        if not line.strip():
            lines.setdefault(number, None)
    return dict(sorted(lines.items()))


def story(text: str) -> str:
    """The paragraphs of a file's first comment, "" without one, or for a licence.

    A kernel's file begins with what this step of the study's story changes, and why.
    """
    lines = leading_comments(text)
    first = next((number for number, line in lines.items() if line), 0)
    words = []
    for number in range(first, max(lines, default=0) + 1):
        line = lines.get(number)
        if line is None:
            break
        words.append(line.rstrip())
    told = "\n".join(words).strip()
    return "" if _LICENCE.search(told) else told
