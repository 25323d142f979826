"""The files that counting leaves: rows of metrics.csv, and rows of mistakes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kernelsweep.observe.counting.run import Counted
from kernelsweep.platforms.names import EMULATOR
from kernelsweep.results import COUNTED, FURTHER_POINT_COLUMNS, POINT_COLUMNS, Row
from kernelsweep.sweep.kernel_source import KernelSource
from kernelsweep.sweep.launch_plans import point_columns

# One row a point and mistake: race, uninitialised or out_of_bounds; or the status of a point that did not end well, or
# build_failed of a kernel. lines are file:line of the access, and of the other one of a race; count how often it
# happened there; expected what the kernel's header says of its undefined behaviour.
FINDING_COLUMNS = (
    "study",
    "kernel",
    "platform",
    *POINT_COLUMNS,
    "mistake",
    "lines",
    "count",
    "message",
    "expected",
    *FURTHER_POINT_COLUMNS,
)


def count_rows(study: str, kernel: KernelSource, counted: Iterable[Counted]) -> list[Row]:
    """A row for each metric of each point that ran to its end, be its result right or wrong."""
    return [
        {**_names(study, kernel, run), "metric": name, "unit": metric.unit, "value": metric.value, "source": COUNTED}
        for run in counted
        if run.outcome.status in ("ok", "wrong_result")
        for name, metric in run.metrics.items()
    ]


def finding_rows(study: str, kernel: KernelSource, runs: Sequence[Counted]) -> list[Row]:
    """A row for each mistake of each point."""
    expected = {"expected": kernel.undefined_behaviour or ""}
    ends = [
        {**_names(study, kernel, run), "mistake": run.outcome.status, "message": run.outcome.message, **expected}
        for run in runs
        if run.outcome.status != "ok"
    ]
    return ends + [
        {
            **_names(study, kernel, run),
            "mistake": finding.kind,
            "lines": " ".join(finding.lines),
            "count": finding.count,
            "message": finding.message,
            **expected,
        }
        for run in runs
        for finding in run.findings
    ]


def _names(study: str, kernel: KernelSource, run: Counted) -> dict[str, Any]:
    return {"study": study, "kernel": kernel.name, "platform": EMULATOR, **point_columns(run.point, kernel.plan)}
