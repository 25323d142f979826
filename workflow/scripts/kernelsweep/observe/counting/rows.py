"""The result rows of counting: metrics, and mistakes in the use of memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kernelsweep.observe.counting.run import CountedPoint
from kernelsweep.results import COUNTED, FURTHER_POINT_COLUMNS, POINT_COLUMNS, Row
from kernelsweep.sweep.kernels.build_targets import EMULATOR
from kernelsweep.sweep.kernels.planner import launched_columns
from kernelsweep.sweep.kernels.source import KernelSource

# One row a point and mistake.
#   mistake   race, uninitialised or out_of_bounds; or the status of a point that failed; or build_failed of a kernel
#   lines     file:line of the access, and of the other access of a race
#   count     the number of instances at these lines
#   expected  the undefined behaviour that the kernel's header declares
MISTAKE_COLUMNS = (
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


def count_rows(study: str, kernel: KernelSource, counted: Iterable[CountedPoint]) -> list[Row]:
    """A row for each metric of each point that ran to its end, with a right or a wrong result."""
    return [
        {**_names(study, kernel, run), "metric": name, "unit": metric.unit, "value": metric.value, "source": COUNTED}
        for run in counted
        if run.outcome.status in ("ok", "wrong_result")
        for name, metric in run.metrics.items()
    ]


def mistake_rows(study: str, kernel: KernelSource, runs: Sequence[CountedPoint]) -> list[Row]:
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
            "mistake": mistake.kind,
            "lines": " ".join(mistake.lines),
            "count": mistake.count,
            "message": mistake.message,
            **expected,
        }
        for run in runs
        for mistake in run.mistakes
    ]


def _names(study: str, kernel: KernelSource, run: CountedPoint) -> dict[str, Any]:
    return {"study": study, "kernel": kernel.name, "platform": EMULATOR, **launched_columns(kernel, run.point)}
