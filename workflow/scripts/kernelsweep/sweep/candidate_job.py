"""A job of a kernel that nobody trusts: where kernelsweep fails in it, the kernel is told not to be judged."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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

_COLUMNS = {
    "points": MEASUREMENT_COLUMNS,
    "samples": SAMPLE_COLUMNS,
    "builds": BUILD_COLUMNS,
    "proofs": PROOF_COLUMNS,
}


@contextmanager
def others_go_on(job: Any) -> Iterator[None]:
    """Write rows that say so where a candidate's job (the `snakemake` of its script) fails, and run it again next time.

    What a lost GPU or a full disk raises is raised, and so is all of another kernel's job.
    """
    try:
        yield
    except Exception as error:
        if not job.params.plan.is_candidate or is_of_gpu(error) or (isinstance(error, OSError) and error.errno in FULL):
            raise
        traceback.print_exc()
        known = {"study": job.wildcards.study, "kernel": job.wildcards.kernel}
        known |= {"message": f"could not be judged: {in_a_line(error)}", "reason": Reason.NOT_JUDGED}
        rows: dict[str, dict[str, Any]] = {
            "points": {"status": "skipped"},
            "proofs": {"finding": NOT_CHECKED, "points": 0},
        }
        for name, file in job.output.items():
            write_rows(file, _COLUMNS[name], [{**known, **rows[name]}] if name in rows else [])
        end_try(Path(job.params.plan.journal), job.params.plan.number, [Outcome("timed_out")])
