"""What a run says at its end: the jobs that judge write it, and one job prints it (the rule `end`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Answer:
    """A run's last words.

    text    its answer
    errors  the sentences for which it fails; empty if all is well
    page    the page with the results, if there is one
    next    what its user may do next
    """

    text: str
    errors: Sequence[str] = ()
    page: str | None = None
    next: str = ""

    def write(self, file: str) -> None:
        """Write the answer's file."""
        Path(file).write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
