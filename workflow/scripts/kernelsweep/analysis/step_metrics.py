"""Rows of metrics.csv as tables and figures want them: each step's metrics at its reference point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas

from kernelsweep.analysis.published import PublishedMetrics
from kernelsweep.analysis.reference import at_reference, has_times, one_study
from kernelsweep.analysis.steps import Step, ladder_steps
from kernelsweep.errors import UserError
from kernelsweep.results import (
    ALL_POINT_COLUMNS,
    COUNTED,
    FURTHER_POINT_COLUMNS,
    FURTHER_POINT_INTEGERS,
    METRIC_COLUMNS,
    NCU,
    POINT_INTEGERS,
)

# What the contract doesn't ask of metrics.csv.
_OPTIONAL = (*FURTHER_POINT_COLUMNS, "message", "binary_sha256")

# The commands that collect metrics.
PROFILE_COMMAND = "uv run --extra gpu snakemake --cores 1 profile"
COUNT_COMMAND = "uv run snakemake --cores 2 count"

ANOTHER_BUILD = f"Profiled in another build than the one that was timed: `{PROFILE_COMMAND}` renews it."

# How a reader is told who counted.
SOURCES = {NCU: "Nsight Compute", COUNTED: "counted on the emulator"}


@dataclass(frozen=True)
class Metrics:
    """What is known of a study's metrics.

    rows         as load_metrics() gives them
    definitions  those of the configuration, by name
    published    what is published of them, or None
    """

    rows: pandas.DataFrame
    definitions: Mapping[str, Mapping[str, str]]
    published: PublishedMetrics | None


def load_metrics(paths: Sequence[Path]) -> pandas.DataFrame:
    """The rows of all `paths`, CSV with results.METRIC_COLUMNS; an empty value becomes NaN, an empty text "".

    Raises UserError when a column is missing or a number can't be read.
    """
    frames = [pandas.DataFrame(columns=list(METRIC_COLUMNS), dtype=str), *(_load(path) for path in paths)]
    rows = pandas.concat(frames, ignore_index=True)
    rows = rows.astype({"value": "float64"})
    rows = rows.astype(dict.fromkeys(POINT_INTEGERS, "int64") | dict.fromkeys(FURTHER_POINT_INTEGERS, "Int64"))
    return rows.sort_values(["study", "kernel", *ALL_POINT_COLUMNS, "metric"], ignore_index=True)


def _load(path: Path) -> pandas.DataFrame:
    rows = pandas.read_csv(path, dtype=str, keep_default_na=False)
    missing = [column for column in METRIC_COLUMNS if column not in (*rows.columns, *_OPTIONAL)]
    if missing:
        raise UserError(f"{path}: no column {', '.join(missing)}; expected {', '.join(METRIC_COLUMNS)}")
    for column in _OPTIONAL:
        if column not in rows:
            rows[column] = ""
    for column in (*POINT_INTEGERS, *FURTHER_POINT_INTEGERS, "value"):
        try:
            rows[column] = pandas.to_numeric(rows[column].replace("", None))
        except ValueError as error:
            raise UserError(f"{path}: column {column}: {error}") from error
    return rows[list(METRIC_COLUMNS)]


def step_metrics(
    study: Mapping[str, Any], metrics: Metrics, measurements: pandas.DataFrame, device: Mapping[str, Any]
) -> pandas.DataFrame:
    """One row a step of the ladder and metric, both in their order, at the study's reference point.

    Columns: step (its number from 0), kernel, unroll, metric, unit, value (NaN where there is none), source, message
    (why there is none), published (NaN where nothing is). A value of another build than the one that was timed has a
    message in its place. Empty where the study was not profiled.
    """
    rows = at_reference(study, metrics.rows)
    timed = at_reference(study, one_study(measurements))
    found = []
    for number, step in enumerate(ladder_steps(study, device)):
        of_step = step.rows(rows).drop_duplicates("metric").set_index("metric")
        binaries = set(step.rows(timed)["binary_sha256"].dropna()) - {""}
        for name, row in of_step.reindex([name for name in metrics.definitions if name in of_step.index]).iterrows():
            stale = bool(binaries) and row["binary_sha256"] not in {"", *binaries}
            found.append(
                {
                    "step": number,
                    "kernel": step.kernel,
                    "unroll": step.unroll,
                    "metric": name,
                    "unit": row["unit"],
                    "value": float("nan") if stale else row["value"],
                    "source": row["source"],
                    "message": ANOTHER_BUILD if stale else row["message"],
                    "published": _published(step, str(name), metrics.published),
                }
            )
    columns = ["step", "kernel", "unroll", "metric", "unit", "value", "source", "message", "published"]
    return pandas.DataFrame(found, columns=columns).astype({"value": "float64", "published": "float64"})


def _published(step: Step, metric: str, published: PublishedMetrics | None) -> float:
    value = published.value(step.kernel, step.unroll, metric) if published else None
    return float("nan") if value is None else value


def by_step(found: pandas.DataFrame, metric: str, column: str, steps: int) -> pandas.Series[float]:
    """One metric's `column`, value or published, for each of the ladder's steps."""
    return found[found["metric"] == metric].set_index("step")[column].reindex(range(steps)).astype("float64")


def title(metric: str) -> str:
    """A metric's name for readers: `global load efficiency`."""
    return metric.replace("_", " ").replace("dram", "DRAM")


def heading(metric: str, unit: str) -> str:
    """A metric's name for readers with its unit, where the name doesn't say that: `barrier stall (%)`."""
    words = metric.split("_")
    return title(metric) if {unit, unit.removesuffix("s")} & set(words) else f"{title(metric)} ({unit})"


def why_none(found: pandas.DataFrame, wanted: Sequence[str], device: Mapping[str, Any]) -> str:
    """Why there is nothing to draw of the metrics `wanted`, in words."""
    if found.empty and not has_times(device):
        return f"Nothing has been counted for this study ({COUNT_COMMAND})."
    if found.empty:
        return f"No hardware counters: this study has not been profiled ({PROFILE_COMMAND})."
    missing = [name for name in wanted if name not in set(found["metric"])]
    if missing:
        return f"Not collected: {', '.join(missing)} (profiling.metrics in config.yaml)."
    messages = [message for message in found.loc[found["metric"].isin(wanted), "message"] if message]
    return messages[0] if messages else "The counters have no values at the reference point."


def sources(found: pandas.DataFrame) -> str:
    """Who counted, in words."""
    return " and ".join(SOURCES.get(source, source) for source in sorted(set(found["source"])))
