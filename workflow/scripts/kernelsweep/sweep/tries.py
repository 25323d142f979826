"""How often a kernel's job was run again for what its last run has left open, beside the kernel's journal.

Snakemake runs a job again if a parameter of it changes. The number of tries is such a parameter: one more than the last
job's, where that job left a failure that may pass, or visits that a verdict on an edit did not need.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from kernelsweep.base.json_files import read_record, write_json
from kernelsweep.device.outcome import Outcome, ended_early
from kernelsweep.errors import UserError


def next_try(journal: Path, decides: bool = False) -> int:
    """The number of the next run of a kernel's job, by the kernel's journal; 0 where none left anything open.

    decides  whether the next run is for a verdict, too
    """
    with suppress(UserError, KeyError):
        kept = read_record(journal.with_suffix(".tries.json"), dict[str, int])
        return int(kept["try"]) + bool(kept["runs_again"] or (kept.get("is_short") and not decides))
    return 0


def end_try(journal: Path, number: int, outcomes: Collection[Outcome], visits: int = 0) -> None:
    """Note that a kernel's job has ended, the number of its run, and what it left open.

    visits  as many as a right point has in full, where the run was for a verdict
    """
    runs_again = any(outcome.may_pass for outcome in outcomes)
    right = [outcome for outcome in outcomes if visits and outcome.status == "ok"]
    is_short = any(len(each.visits) < visits or any(map(ended_early, each.visits)) for each in right)
    if runs_again or is_short or number:
        kept = {"try": number, "runs_again": runs_again, "is_short": is_short}
        write_json(journal.with_suffix(".tries.json"), kept)
