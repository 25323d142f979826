"""A job of a kernel that nobody trusts: where kernelsweep fails in it, the kernel is told not to be judged."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kernelsweep.base.control_groups import group_of_job
from kernelsweep.base.sandbox import limits_of_job
from kernelsweep.device.outcome import Outcome
from kernelsweep.errors import FULL, in_a_line, is_of_gpu
from kernelsweep.reasons import Reason
from kernelsweep.results import (
    BUILD_COLUMNS,
    MEASUREMENT_COLUMNS,
    NOT_CHECKED,
    PROOF_COLUMNS,
    SAMPLE_COLUMNS,
    write_rows,
)
from kernelsweep.sweep.tries import end_try

_COLUMNS = {"points": MEASUREMENT_COLUMNS, "samples": SAMPLE_COLUMNS, "builds": BUILD_COLUMNS, "proofs": PROOF_COLUMNS}
# How long a job itself may work on a candidate, on a processor: apart from compilers and workers, and from waiting.
_MOST_SECONDS = 600
# What ends a job for its candidate's sake, by the exit status.
_KILLED = {
    -signal.SIGKILL: "signal 9, as where memory runs out,",
    -signal.SIGSEGV: "signal 11, as where its code is nested too deeply,",
    -signal.SIGPROF: f"the limit of {_MOST_SECONDS} s on a processor",
}


@contextmanager
def others_go_on(job: Any) -> Iterator[None]:
    """Write rows that say so where a candidate's job (the `snakemake` of its script) fails, and run it again next time.

    What a lost GPU or a full disk raises is raised, and so is all of another kernel's job.
    """
    try:
        if job.params.plan.is_candidate:  # In a fork, as of a worker, there is no such timer.
            signal.setitimer(signal.ITIMER_PROF, _MOST_SECONDS)
        with group_of_job(limits_of_job()):
            yield
    except Exception as error:
        if not job.params.plan.is_candidate or is_of_gpu(error) or (isinstance(error, OSError) and error.errno in FULL):
            raise
        traceback.print_exc()
        _write_rows(job, in_a_line(error))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def went_on_without(job: Any, status: int) -> bool:
    """Whether the others go on though a job's process has ended with this exit status: a candidate's, which was killed.

    job  as Snakemake describes it to its script
    """
    plan = getattr(job.params, "plan", None)
    if status not in _KILLED or not getattr(plan, "is_candidate", False):
        return False
    _write_rows(job, f"{_KILLED[status]} ended its job")
    return True


def _write_rows(job: Any, why: str) -> None:
    """Write the rows of a candidate that could not be judged."""
    known = {"study": job.wildcards.study, "kernel": job.wildcards.kernel}
    known |= {"message": f"could not be judged: {why}", "reason": Reason.NOT_JUDGED}
    rows: dict[str, dict[str, Any]] = {"points": {"status": "skipped"}, "proofs": {"finding": NOT_CHECKED, "points": 0}}
    for name, file in job.output.items():
        write_rows(file, _COLUMNS[name], [{**known, **rows[name]}] if name in rows else [])
    end_try(Path(job.params.plan.journal), job.params.plan.number, [Outcome("timed_out")])
