"""What a kernel's file says about it, and its code without that."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from kernelsweep.code_hash import cxx_code
from kernelsweep.sweep.kernels.leading_comments import leading_comments, story

# Unchanged lines around a change.
_CONTEXT = 2


@dataclass(frozen=True)
class KernelWords:
    """A kernel's leading comment as paragraphs, and its code without comments."""

    name: str
    paragraphs: Sequence[str]
    code: Sequence[str]

    def base(self, earlier: Sequence[str]) -> str | None:
        """The earlier kernel that its words name first, as in "as `unrolled`, but ..."; None without one."""
        named = re.findall(r"`(\w+)`", " ".join(self.paragraphs))
        return next((name for name in named if name in earlier), None)

    def difference(self, base: KernelWords) -> list[str]:
        """The lines of a unified diff from another kernel's code, without file names; the kernels' names are alike."""
        theirs = [re.sub(rf"\b{base.name}\b", self.name, line) for line in base.code]
        lines = difflib.unified_diff(theirs, self.code, n=_CONTEXT, lineterm="")
        return [re.sub(r"^@@.*@@$", "@@", line) for line in list(lines)[2:]]


def read_words(name: str, text: str) -> KernelWords:
    """The words and the code of a kernel's source."""
    comments, _ = leading_comments(text)
    paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", story(text))]
    pairs = zip(text.splitlines(), cxx_code(text).splitlines(), strict=True)
    of_code = [pair for number, pair in enumerate(pairs, 1) if comments.get(number) is None]
    # A line that is a comment goes; one that separates code stays.
    code = [line.rstrip() for written, line in of_code if line.strip() or not written.strip()]
    first = next((number for number, line in enumerate(code) if line), 0)
    return KernelWords(name, [paragraph for paragraph in paragraphs if paragraph], code[first:])
