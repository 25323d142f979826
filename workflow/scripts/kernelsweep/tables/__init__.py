"""A study's table, measured and published side by side: as raw numbers, and as Markdown and LaTeX for readers.

steps and exchanges say what is in the table of a study of that kind, as a data frame; steps_text says how a reader sees
it, and exchanges does so too; metrics adds hardware counters; points has what both say of a kernel's points, and layout
writes the formats.
"""

from kernelsweep.tables.exchanges import exchange_table, exchange_text
from kernelsweep.tables.layout import TableText, as_csv, as_latex, as_markdown
from kernelsweep.tables.metrics import metrics_text, with_metrics
from kernelsweep.tables.points import NOT_MEASURED, PUBLISHED_ONLY
from kernelsweep.tables.steps import TIME_COLUMNS, baseline_kernels, study_table
from kernelsweep.tables.steps_text import study_text

__all__ = [
    "NOT_MEASURED",
    "PUBLISHED_ONLY",
    "TIME_COLUMNS",
    "TableText",
    "as_csv",
    "as_latex",
    "as_markdown",
    "baseline_kernels",
    "exchange_table",
    "exchange_text",
    "metrics_text",
    "study_table",
    "study_text",
    "with_metrics",
]
