"""A study's axes as readers meet them: what is computed, and how a kernel is built and launched to compute it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas

from kernelsweep.analysis.reference import at_place, timed
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import point_text, size_text
from kernelsweep.sweep.settings import StudySettings


def size_axes(study: StudySettings) -> list[str]:
    """The axes that say how large a study's problems are, and which."""
    return [axis for axis, kind in study.kinds.items() if kind == "size"]


def kernel_axes(study: StudySettings) -> list[str]:
    """The axes that say how a kernel is built or launched."""
    return [axis for axis, kind in study.kinds.items() if kind == "kernel"]


def place_axes(study: StudySettings) -> list[str]:
    """All other axes: kernels are compared at equal values of these."""
    return [axis for axis, kind in study.kinds.items() if kind != "kernel"]


def shown_place(data: StudyData) -> dict[str, Any]:
    """The values of place_axes() at which kernels are compared: the reference point's.

    Where the sweep has no points there, as after a choice of axes for one run, the largest values that it has.
    """
    reference = {axis: data.settings.reference[axis] for axis in place_axes(data.settings)}
    if not at_place(data.kernel_rows, reference).empty:
        return reference
    rows = data.kernel_rows
    swept = rows if (with_times := timed(rows, data.device)).empty else with_times
    last = swept.sort_values([*reference]).tail(1)[[*reference]].astype(object).to_dict("records")
    return {str(axis): value for axis, value in last[0].items()} if last else reference


def place_words(point: Mapping[str, Any], study: StudySettings) -> str:
    """A point's size: `2²⁴`, or `n=4096 k=512`."""
    axes = [axis for axis in size_axes(study) if axis in point]
    return size_text(point[axes[0]]) if axes == ["array_size"] else point_text({axis: point[axis] for axis in axes})


def varied(rows: pandas.DataFrame, axes: Sequence[str]) -> list[str]:
    """The axes among `axes` that have several values in `rows`."""
    return [axis for axis in axes if rows[axis].nunique() > 1]
