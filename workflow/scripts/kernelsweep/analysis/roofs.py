"""The kinds of arithmetic that a study's work has, each with a roof of its own."""

from __future__ import annotations

from typing import Any

from kernelsweep.analysis.places import kernel_axes
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.problems.problem_file import problem_of


def arithmetic_of(values: dict[str, Any], data: StudyData) -> str | None:
    """The kind of arithmetic at a point, from a row with its axes; None where the problem's work names none."""
    work = problem_of(data.settings.problem).work(values)
    return str(work["arithmetic"]) if "arithmetic" in work else None


def arithmetic_kinds(data: StudyData) -> list[str]:
    """The kinds at the reference point's size, over all values of the kernels' axes, sorted."""
    axes = [axis for axis in kernel_axes(data.settings) if axis in data.kernel_rows]
    reference = data.settings.reference
    every = data.kernel_rows[axes].drop_duplicates().to_dict("records")
    kinds = {arithmetic_of({**reference, **{str(axis): value for axis, value in row.items()}}, data) for row in every}
    return sorted(kind for kind in kinds if kind)
