"""A study's table, measured and published side by side: as raw numbers, and as Markdown and LaTeX for readers.

steps       the table of a reduction study, as a data frame; steps_text: as a reader sees it
exchanges   both for a study of exchanges
counters    hardware counters added to a table
points      texts about a kernel's points, for both kinds of table
layout      the formats
"""

from kernelsweep.publish.tables.counters import metrics_text, with_metrics
from kernelsweep.publish.tables.exchanges import exchange_table, exchange_text
from kernelsweep.publish.tables.layout import TableText, as_csv, as_latex, as_markdown
from kernelsweep.publish.tables.points import NOT_MEASURED, PUBLISHED_ONLY
from kernelsweep.publish.tables.steps import TIME_COLUMNS, baseline_kernels, study_table
from kernelsweep.publish.tables.steps_text import study_text

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
