"""The metrics of each step of a study's ladder at its reference point, and texts about metrics for readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pandas

from kernelsweep.judge.data.reference import at_reference
from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.observe.profiling.ncu import PROFILE_COMMAND
from kernelsweep.results import COUNTED, NCU

ANOTHER_BUILD = f"Profiled in another build than the one that was timed: `{PROFILE_COMMAND}` renews it."

# Values below this share of a metric's largest count as that share. Beside a kernel with bank conflicts, what the
# hardware counts in one without them is noise.
LEAST_SHARE = 0.02

# The values of the column source, for readers.
SOURCES = {NCU: "Nsight Compute", COUNTED: "counted on the emulator"}

_COLUMNS = ("step", "kernel", "metric", "unit", "value", "source", "message")


@cache
def step_metrics(data: StudyData) -> pandas.DataFrame:
    """One row for each step of the story and metric, both in their order.

    A step is one of the study's `steps` at the reference point, or without them a kernel at its profiled point.

    Columns: step (its number from 0), kernel, metric, unit, value (NaN without one), source, message (why
    there is no value). A value of another build than the one that was timed is replaced
    by a message. Empty if the study was not profiled.
    """
    tables = []
    for number, (kernel, rows, measured) in enumerate(_entries(data)):
        binaries = set(measured["binary_sha256"].dropna()) - {""}
        of_step = rows.drop_duplicates("metric").set_index("metric")
        of_step = of_step.loc[[name for name in data.metrics.definitions if name in of_step.index]].reset_index()
        stale = ~of_step["binary_sha256"].isin({"", *binaries}) & bool(binaries)
        of_step = of_step.assign(step=number, kernel=kernel, value=of_step["value"].mask(stale))
        tables.append(of_step.assign(message=of_step["message"].mask(stale, ANOTHER_BUILD)))
    return pandas.concat(tables, ignore_index=True)[list(_COLUMNS)]


def _entries(data: StudyData) -> Iterator[tuple[str, pandas.DataFrame, pandas.DataFrame]]:
    """The kernel of each step, its rows of metrics, and its measurements there."""
    if data.steps:
        rows, measured = at_reference(data.settings, data.metrics.rows), data.at_reference()
        for step in data.steps:
            yield step.kernel, step.rows(rows), step.rows(measured)
        return
    for kernel in data.kernel_names:
        rows = data.metrics.rows[data.metrics.rows["kernel"] == kernel]
        measured = data.kernel_rows[data.kernel_rows["kernel"] == kernel]
        yield kernel, rows, measured[measured["parameters"].isin(set(rows["parameters"]))]


def shown_metrics(data: StudyData, metrics: pandas.DataFrame) -> list[str]:
    """The metrics that the study names and that were collected."""
    collected = set(metrics["metric"])
    return [name for name in data.settings.metrics if name in collected]


def by_step(metrics: pandas.DataFrame, metric: str, steps: int) -> pandas.Series[float]:
    """One metric's value for each of the ladder's steps."""
    return metrics[metrics["metric"] == metric].set_index("step")["value"].reindex(range(steps)).astype("float64")


def unit_of(metrics: pandas.DataFrame, metric: str) -> str:
    """The unit of a metric that was collected."""
    return str(metrics.loc[metrics["metric"] == metric, "unit"].iloc[0])


def title(metric: str) -> str:
    """A metric's name for readers: `global load efficiency`."""
    return metric.replace("_", " ").replace("dram", "DRAM").replace(" l1 ", " L1 ")


def heading(metric: str, unit: str) -> str:
    """A metric's name for readers, with its unit if the name doesn't contain that: `barrier stall (%)`.

    What is counted stands in the plural: `bank conflicts`.
    """
    one = unit.removesuffix("s")
    if metric.endswith(f"_{one}"):
        return title(metric.removesuffix(one) + unit)
    return title(metric) if {unit, one} & set(metric.split("_")) else f"{title(metric)} ({unit})"


def sources(metrics: pandas.DataFrame, device: Mapping[str, Any]) -> str:
    """The tools that counted, for readers; with the day of a recording's counters if that was another run's."""
    days = {NCU: f", {device['profiled']}"} if "profiled" in device else {}
    return " and ".join(SOURCES.get(source, source) + days.get(source, "") for source in sorted(set(metrics["source"])))
