"""The cells of a heat map that hold the study's fastest configuration, and those that can't be told apart from it."""

from __future__ import annotations

from typing import Any

import pandas

from kernelsweep.analysis.study_data import StudyData
from kernelsweep.judge.best.best_words import fastest_text
from kernelsweep.judge.best.find import Configuration, best_at, fastest_of


def best_cells(rows: pandas.DataFrame, data: StudyData) -> tuple[list[Any], str]:
    """The index of the row of the fastest configuration and of its ties at the reference point, and a sentence on it.

    Kernels with undefined behaviour don't count.
    """
    fastest = fastest_of(best_at(data).values())
    if fastest is None:
        return [], "Only kernels with undefined behaviour have a time."
    every = [(fastest.kernel, fastest.configuration), *fastest.ties]
    found = [
        index
        for kernel, configuration in every
        for index, row in rows[rows["kernel"] == kernel].iterrows()
        if _is_of(row, configuration)
    ]
    return found, fastest_text(fastest, data.device)


def _is_of(row: pandas.Series[Any], configuration: Configuration) -> bool:
    """Whether a row has a configuration's values; a grid that the kernel's plan sets has none."""
    return all(value is None or row[axis] == value for axis, value in configuration.parameters.items())
