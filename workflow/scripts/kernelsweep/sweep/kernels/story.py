"""The words at the beginning of a kernel's file: what this step of the study's story changes, and why."""

from __future__ import annotations

import re

from kernelsweep.sweep.kernels.leading_comments import leading_comments

_LICENCE = re.compile(r"copyright|licen[cs]e|SPDX", re.IGNORECASE)


def story(text: str) -> str:
    """The paragraphs of a file's first comment, "" without one, or for a licence."""
    lines, _ = leading_comments(text)
    first = next((number for number, line in lines.items() if line), 0)
    words = []
    for number in range(first, max(lines, default=0) + 1):
        line = lines.get(number)
        if line is None:
            break
        words.append(line.rstrip())
    told = "\n".join(words).strip()
    return "" if _LICENCE.search(told) else told
