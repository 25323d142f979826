"""What a run says at its end: the jobs that judge write it, and one job prints it (the rule `end`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from kernelsweep.base.json_files import write_json


@dataclass(frozen=True)
class Answer:
    """A run's last words.

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
        write_json(file, asdict(self))
