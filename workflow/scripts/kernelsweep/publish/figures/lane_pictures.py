"""The published exchanges of a study, each with what our kernel left: the pictures of the figure `lanes`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas

from kernelsweep.judge.data.published import OUTPUT
from kernelsweep.judge.data.reference import with_shown_output
from kernelsweep.judge.data.study_data import StudyData

# In cells, the gap between threads that hold several elements.
GAP = 0.5


@dataclass(frozen=True)
class Picture:
    """One published exchange, and what our kernel left.

    published  the elements that the publication has after the exchange
    measured   those that the kernel left, empty where there is no output
    remark     in what these are not as published, or why there is no output; "" where all is as published
    elements   the number that each thread holds
    """

    name: str
    published: Sequence[int]
    measured: Sequence[int]
    remark: str
    elements: int

    def left(self, place: int) -> float:
        """The left edge of a cell, with gaps between threads that hold several elements."""
        return place + GAP * (place // self.elements) * (self.elements > 1)


def pictures_of(data: StudyData) -> list[Picture]:
    """The pictures of a study's exchanges, in the order of the publication."""
    rows = with_shown_output(data.settings, data.measurements)
    elements = {str(one.name): int(one.axes.get("unroll", [1])[0]) for one in data.settings.kernels}
    usual = data.settings.reference["array_size"]
    return [
        _picture(one.kernel, one.parameters, one.value, rows, elements.get(one.kernel, 1), usual)
        for one in data.published
        if one.quantity == OUTPUT
    ]


def _picture(kernel: str, text: str, published: str, rows: pandas.DataFrame, elements: int, usual: int) -> Picture:
    expected, arguments = _values(published), sorted(text.split())
    name = f"{kernel}: {text}".replace("-", "−") + f", {len(expected)} lanes" * (len(expected) != usual)
    points = rows[(rows["kernel"] == kernel) & (rows["array_size"] == len(expected)) & (rows["unroll"] == elements)]
    points = points[[sorted(str(words).split()) == arguments for words in points["arguments"]]]
    if points.empty:
        return Picture(name, expected, [], "no such point in this sweep", elements)
    point = points.iloc[0]
    measured = _values(point["output"]) if pandas.notna(point["output"]) else []
    if len(measured) != len(expected):
        status = "" if point["status"] == "ok" else str(point["status"]).replace("_", " ")
        return Picture(name, expected, [], status or "no output was recorded", elements)
    differing = sum(one != other for one, other in zip(expected, measured, strict=True))
    return Picture(name, expected, measured, f"{differing} differ" if differing else "", elements)


def _values(output: str) -> list[int]:
    """The elements of an output; floating-point elements are whole numbers as well."""
    return [int(float(value)) for value in output.split()]
