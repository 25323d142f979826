"""The hardware metrics of a study's steps: as columns of table.csv, and as a table below the study's for readers."""

from __future__ import annotations

from collections.abc import Sequence

import pandas

from kernelsweep.analysis.published import Published
from kernelsweep.analysis.step_metrics import by_step, heading, sources, title, unit_of
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import reference_text
from kernelsweep.publish.tables.formats import EMPTY, Column, TableText
from kernelsweep.publish.tables.point_notes import numbered
from kernelsweep.results import COUNTED

TITLE = "Hardware counters"
TITLE_OF_COUNTS = "What the kernels do to memory"

# Enough digits to tell steps apart, without those in which a counter varies from run to run.
_DIGITS = 4
_PERCENT_DECIMALS = 2


def with_metrics(table: pandas.DataFrame, found: pandas.DataFrame, data: StudyData) -> pandas.DataFrame:
    """The table that study_table() made, with a column for each metric of the study and for its published values.

    found  as step_metrics.step_metrics() gives it

    Further columns: the metric's name with its unit, such as `global_load_efficiency (%)`, and the same with
    `published_` in front where it is published; NaN without a value, as in rows that are no steps. Unchanged where the
    study has not been profiled.
    """
    steps = len(data.settings["steps"])
    columns = {}
    for name in _shown(data, found):
        header = f"{name} ({unit_of(found, name)})"
        columns[header] = by_step(found, name, "value", steps)
        if found.loc[found["metric"] == name, "published"].notna().any():
            columns[f"published_{header}"] = by_step(found, name, "published", steps)
    return table.assign(**{header: values.reindex(range(len(table))) for header, values in columns.items()})


def metrics_text(found: pandas.DataFrame, data: StudyData) -> TableText | None:
    """The metrics for readers, with footnotes for missing values; None if the study has not been profiled."""
    shown = _shown(data, found)
    if not shown:
        return None
    steps = data.steps
    columns = []
    if any(step.unroll != 1 for step in steps):
        columns.append(Column("unroll", [str(step.unroll) for step in steps], names=True))
    for name in shown:
        columns += _columns(found, name, len(steps), data.published)
    told = found[found["metric"].isin(shown)]
    who = sources(told, data.device)
    marks, notes = numbered([_messages(told, number) for number in range(len(steps))])
    return TableText(
        title=TITLE_OF_COUNTS if set(told["source"]) == {COUNTED} else TITLE,
        provenance=f"{who[:1].upper()}{who[1:]}; reference point: {reference_text(data.settings)}.",
        kernels=[step.kernel for step in steps],
        marks=marks,
        columns=columns,
        notes=notes,
        explanation=_explanation(shown, data),
        main_rows=len(steps),
    )


def _shown(data: StudyData, found: pandas.DataFrame) -> list[str]:
    """The metrics that the study names and that were collected."""
    collected = set(found["metric"])
    return [name for name in data.settings["metrics"] if name in collected]


def _columns(found: pandas.DataFrame, name: str, steps: int, published: Published | None) -> list[Column]:
    """A metric's own column, and its published values: as they are, or where only ratios compare, as changes."""
    ours, unit = by_step(found, name, "value", steps), unit_of(found, name)
    columns = [Column(heading(name, unit), _cells(ours, unit))]
    theirs = by_step(found, name, "published", steps)
    if published is None or theirs.isna().all():
        return columns
    if published.only_ratios:
        return [
            *columns,
            Column(f"{title(name)} (over the step before)", _changes(ours), follows="the value over the step before's"),
            Column(
                f"{published.label} (over the step before)", _changes(theirs), follows=f"the same, {published.label}"
            ),
        ]
    return [*columns, Column(f"{published.label} ({unit})", _cells(theirs, unit), follows=published.label)]


def _cells(values: pandas.Series[float], unit: str) -> list[str]:
    """Numbers in one notation for a column: percentages as published, others with _DIGITS digits for the largest."""
    if values.isna().all():
        return [EMPTY] * len(values)
    decimals = _PERCENT_DECIMALS if unit == "%" else max(_DIGITS - len(f"{values.abs().max():.0f}"), 0)
    return [EMPTY if pandas.isna(value) else f"{value:,.{decimals}f}" for value in values]


def _changes(values: pandas.Series[float]) -> list[str]:
    """Each step's value over that of the step before, where that has one other than 0."""
    before = values.shift()
    return [
        EMPTY if pandas.isna(value) or pandas.isna(last) or last == 0 else f"{value / last:.2f}×"
        for value, last in zip(values, before, strict=True)
    ]


def _messages(found: pandas.DataFrame, step: int) -> list[str]:
    """Why metrics of a step have no value: each reason once, with the metrics that it holds for."""
    rows = found[(found["step"] == step) & (found["message"] != "")]
    reasons: dict[str, list[str]] = {}
    for message, name in zip(rows["message"], rows["metric"], strict=True):
        reasons.setdefault(message, []).append(name)
    every = found["metric"].nunique()
    return [
        message if len(names) == every else f"{', '.join(title(name) for name in names)}: {message}"
        for message, names in reasons.items()
    ]


def _explanation(shown: Sequence[str], data: StudyData) -> str:
    definitions, published = data.metrics.definitions, data.published
    texts = [f"{title(name)[:1].upper()}{title(name)[1:]}: {definitions[name]['meaning']}" for name in shown]
    rates = [title(name) for name in shown if definitions[name]["unit"] == "GB/s"]
    if rates and data.has_times:
        texts.append(
            f"The bandwidth above is the array's bytes over the time of unprofiled runs; {' and '.join(rates)} "
            f"{'are' if len(rates) > 1 else 'is'} the bytes that the hardware moved there over the profiled run's time."
        )
    texts.append("Collected in runs of their own, at the reference point; never in one that is timed.")
    if published is not None and published.metrics:
        texts.append(f"{published.label[:1].upper()}{published.label[1:]}: {published.device}.")
        if published.only_ratios:
            texts.append("On another kind of device only directions and ratios between steps compare.")
    return " ".join(texts)
