"""How often a kernel's job was run again for failures that may have passed, beside the kernel's journal.

Snakemake runs a job again if a parameter of it changes. The number of tries is such a parameter: one more than the last
job's, where that job left a failure that may pass.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from kernelsweep.measure.outcome import Outcome


def next_try(journal: Path) -> int:
    """The number of the next run of a kernel's job, by the kernel's journal; 0 where no failure could pass so far."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(_beside(journal).read_text(encoding="utf-8"))
        return int(kept["try"]) + bool(kept["runs_again"])
    return 0


def end_try(journal: Path, number: int, outcomes: Iterable[Outcome]) -> None:
    """Note that a kernel's job has ended, the number of its run, and whether a failure of it may pass."""
    runs_again = any(outcome.may_pass for outcome in outcomes)
    if runs_again or number:
        _beside(journal).write_text(json.dumps({"try": number, "runs_again": runs_again}) + "\n", encoding="utf-8")


def _beside(journal: Path) -> Path:
    return journal.with_suffix(".tries.json")
