"""A point: one value on each axis, one row of the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

# The value on an axis that leaves everything as the study has it: readers don't see it.
AS_GIVEN = "as_given"


class Point(Mapping[str, Any]):
    """One value on each axis of a study, in the order of its axes: one row of the results. Immutable and hashable.

    Points are equal if they have equal values on the same axes in the same order.
    """

    __slots__ = ("_places", "_values")  # There may be millions of points.

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._places = _places(tuple(values))
        self._values = tuple(values.values())

    def __getitem__(self, axis: str) -> Any:
        return self._values[self._places[axis]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and self._places is other._places and self._values == other._values

    def __hash__(self) -> int:
        return hash(self._values)

    def __repr__(self) -> str:
        return f"Point({dict(self)})"

    def __str__(self) -> str:
        return in_words(self)

    def at(self, **changes: Any) -> Point:
        """The point with other values on some of its axes. Raises KeyError for an axis that it does not have."""
        for axis in changes:
            self._places[axis]
        return Point({**self, **changes})


def in_words(values: Mapping[str, Any]) -> str:
    """A point for readers: "array size 1,000, block size 256, int32, sum".

    Numbers have their axis' name and come first; words stand alone. Empty values are left out.
    """
    texts = {axis: str(value) for axis, value in values.items() if value not in (None, "", AS_GIVEN)}
    words = [text for text in texts.values() if text[0].isalpha()]
    shown = {axis: f"{int(text):,}" if text.isdecimal() else text for axis, text in texts.items()}
    numbers = [f"{axis.replace('_', ' ')} {text}" for axis, text in shown.items() if not text[0].isalpha()]
    return ", ".join([*numbers, *words])


@cache
def _places(axes: tuple[str, ...]) -> Mapping[str, int]:
    """The index of each axis' value. All points of a sweep share this mapping."""
    return {axis: place for place, axis in enumerate(axes)}
