"""steps.md: for each step of a study's story, its words, time, counters that moved, and changed code."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernelsweep.base.cxx import cxx_code
from kernelsweep.base.templates import markdown
from kernelsweep.study.kernels.source import story

# The steps that are not folded.
_SHOWN = 3
# Unchanged lines around a change.
_CONTEXT = 2
# Code in backticks, which Markdown leaves alone; and what it would take for a mark elsewhere.
_CODE, _MARKS = re.compile(r"(`[^`]*`)"), re.compile(r"([\\*\[\]<]|(?<!\w)_|_(?!\w))")


@dataclass(frozen=True)
class KernelWords:
    """A kernel's leading comment as paragraphs, and its code without comments."""

    name: str
    paragraphs: Sequence[str]
    code: Sequence[str]

    def difference(self, base: KernelWords) -> list[str]:
        """The lines of a unified diff from another kernel's code, without file names; the kernels' names are alike."""
        theirs = [re.sub(rf"\b{base.name}\b", self.name, line) for line in base.code]
        lines = difflib.unified_diff(theirs, self.code, n=_CONTEXT, lineterm="")
        return [re.sub(r"^@@.*@@$", "@@", line) for line in list(lines)[2:]]


def read_words(name: str, text: str) -> KernelWords:
    """The words and the code of a kernel's source."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", story(text))]
    pairs = zip(text.splitlines(), cxx_code(text, keep_leading=False).splitlines(), strict=True)
    # A line that is a comment goes; one that separates code stays.
    code = [line.rstrip() for written, line in pairs if line.strip() or not written.strip()]
    first = next((number for number, line in enumerate(code) if line), 0)
    return KernelWords(name, [paragraph for paragraph in paragraphs if paragraph], code[first:])


def named_in(text: str) -> list[str]:
    """The kernels that the words of a source name, as in "as `unrolled`, but ...", in their order."""
    return list(dict.fromkeys(re.findall(r"`(\w+)`", story(text))))


def steps_text(story_data: Mapping[str, Any], sources: Mapping[str, str], pictures: str = "") -> str:
    """The page.

    story_data  what the study's data say of the steps (findings.py)
    sources     the text of each kernel's file, by its name
    pictures    the steps' pictures of accesses as SVG, whose marks the key explains
    """
    words = {name: read_words(name, text) for name, text in sources.items()}
    steps: list[dict[str, Any]] = []
    for step in story_data["steps"]:
        own, base = words[step["kernel"]], words.get(step["base"])
        is_first = step["kernel"] not in {earlier["kernel"] for earlier in steps}
        paragraphs = list(map(_markdown, own.paragraphs)) if is_first else []
        steps.append({**step, "paragraphs": paragraphs, "difference": own.difference(base) if base else []})
    # A single step would take no less room folded.
    first_folded = _SHOWN if len(steps) > _SHOWN + 1 else len(steps)
    values = {**story_data, "steps": steps, "first_folded": first_folded, "pictures": pictures}
    return markdown(__file__, **values).rstrip() + "\n"


def _markdown(paragraph: str) -> str:
    """A comment as Markdown, in which only backticks mean anything: `2 * a * b` has no emphasis."""
    parts = _CODE.split(paragraph)
    return "".join(part if number % 2 else _MARKS.sub(r"\\\1", part) for number, part in enumerate(parts))
