"""The table of any study: of its steps with their hardware counters, of exchanges, or of configurations.

Where kernels were proven, each has one column more, which says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas

from kernelsweep.analysis.step_metrics import step_metrics
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.judge.best.find import best_at
from kernelsweep.publish.tables.configurations import configuration_table, configuration_text
from kernelsweep.publish.tables.counters import metrics_text, with_metrics
from kernelsweep.publish.tables.exchanges import exchange_table, exchange_text
from kernelsweep.publish.tables.formats import EMPTY, Column, TableText
from kernelsweep.publish.tables.ladder_table import study_table
from kernelsweep.publish.tables.ladder_text import study_text


def table_of(data: StudyData) -> tuple[pandas.DataFrame, TableText]:
    """A study's table for programs, and the same for readers."""
    table, text = _TABLES[_kind(data)](data)
    return _with_proofs(table, text, data) if data.proofs else (table, text)


def rows_of_steps(data: StudyData) -> pandas.DataFrame:
    """The rows that a ladder draws: each step at the reference point, or each kernel's fastest configuration there.

    Columns, besides others: kernel, status, flags; with times also time_us, time_low_us, time_high_us, speedup.
    """
    return _ROWS_OF_STEPS[_kind(data)](data)


def _steps(data: StudyData) -> tuple[pandas.DataFrame, TableText]:
    table = study_table(data)
    found = step_metrics(data)
    text = replace(study_text(table, data), below=metrics_text(found, data))
    return with_metrics(table, found, data), text


def _exchanges(data: StudyData) -> tuple[pandas.DataFrame, TableText]:
    table = exchange_table(data)
    return table, exchange_text(table, data)


def _configurations(data: StudyData) -> tuple[pandas.DataFrame, TableText]:
    found = best_at(data)
    table = configuration_table(found, data)
    return table, configuration_text(table, found, data)


def _with_proofs(table: pandas.DataFrame, text: TableText, data: StudyData) -> tuple[pandas.DataFrame, TableText]:
    """A study's table with the column `proven`, which is empty for libraries and other rows that are no kernels."""
    words = [data.proofs[kernel].in_words if kernel in data.proofs else "" for kernel in table["kernel"]]
    column = Column("proven", [cell or EMPTY for cell in words], right=False, apart=True)
    explanation = f"{text.explanation} Proven: the checks of its use of memory and of its results, and their points."
    return table.assign(proven=words), replace(text, columns=[*text.columns, column], explanation=explanation)


def _kind(data: StudyData) -> str:
    if data.compares_outputs:
        return "exchanges"
    return "steps" if data.settings["steps"] else "configurations"


_TABLES = {"steps": _steps, "exchanges": _exchanges, "configurations": _configurations}
_ROWS_OF_STEPS: dict[str, Callable[[StudyData], pandas.DataFrame]] = {
    "steps": study_table,
    "exchanges": study_table,
    "configurations": lambda data: configuration_table(best_at(data), data),
}
