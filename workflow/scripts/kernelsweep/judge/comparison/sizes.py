"""The size of a compared point's problem: its values on the axes that say how large the problem is, and which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernelsweep.analysis.words import point_text, size_text
from kernelsweep.results import number_or_text, with_parameters

ARRAY_SIZE = "array_size"


@dataclass(frozen=True)
class Size:
    """A size: a value on each axis of size, by the axis' name. Sizes are ordered by axes, then by values."""

    values: tuple[tuple[str, int | float | str], ...]

    @property
    def text(self) -> str:
        """The size in words: `2²⁴` for an array, `n=4096 dtype=float32` for axes of a study's own."""
        of_axis = dict(self.values)
        if [*of_axis] == [ARRAY_SIZE]:
            return size_text(int(of_axis[ARRAY_SIZE]))
        return point_text(of_axis) or "its only size"

    @property
    def key(self) -> str:
        """The size in comparison.json: `16777216` for an array, `n=4096 dtype=float32` for other axes."""
        of_axis = dict(self.values)
        if [*of_axis] == [ARRAY_SIZE]:
            return str(of_axis[ARRAY_SIZE])
        return " ".join(f"{axis}={value}" for axis, value in of_axis.items())

    def __lt__(self, other: Size) -> bool:
        return self._order() < other._order()

    def _order(self) -> list[tuple[str, bool, Any]]:
        return [(axis, isinstance(value, str), value) for axis, value in self.values]


def size_of(row: Mapping[str, Any], axes: Sequence[str]) -> Size:
    """The size of a row of measurements.csv, whose study has these axes of size."""
    values = with_parameters(row)
    return Size(tuple((axis, number_or_text(str(values.get(axis) or ""))) for axis in axes))
