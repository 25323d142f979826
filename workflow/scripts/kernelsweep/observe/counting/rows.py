"""The result rows of counting: metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernelsweep.observe.counting.quantities import UNIT_OF_METRIC
from kernelsweep.observe.counting.run import CountedPoint
from kernelsweep.results import COUNTED, Row
from kernelsweep.sweep.kernels.build_targets import EMULATOR
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.points import launched_columns


def count_rows(study: str, kernel: KernelSource, counted: Iterable[CountedPoint]) -> list[Row]:
    """A row for each metric of each point that ran to its end, with a right or a wrong result; else empty rows."""
    rows = []
    for run in counted:
        known = {**_names(study, kernel, run), "source": COUNTED}
        if run.outcome.status in ("ok", "wrong_result"):
            rows += [
                {**known, "metric": name, "unit": metric.unit, "value": metric.value}
                for name, metric in run.metrics.items()
            ]
        else:
            message = f"Not counted: {run.outcome.status}: {' '.join(run.outcome.message.split())}"
            rows += [
                {**known, "metric": name, "unit": unit, "message": message} for name, unit in UNIT_OF_METRIC.items()
            ]
    return rows


def _names(study: str, kernel: KernelSource, run: CountedPoint) -> dict[str, Any]:
    return {"study": study, "kernel": kernel.name, "platform": EMULATOR, **launched_columns(kernel, run.point)}
