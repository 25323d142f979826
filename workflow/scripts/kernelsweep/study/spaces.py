"""Spaces of axes with restrictions: their valid combinations, found without trying each combination.

Axes are joined one after another, as a database joins tables. Once a restriction's axes are there, it is computed once
for each combination of their values that is left, and what does not meet it goes. So 10^6 valid combinations of 10^7
take a second.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kernelsweep.errors import UserError
from kernelsweep.study.expressions import expression
from kernelsweep.study.point import Point

Numbers = np.ndarray[Any, np.dtype[np.int64]]

# More valid combinations than this need more memory than most machines have.
MOST_COMBINATIONS = 10_000_000

# The combinations that are joined at once.
_AT_ONCE = 2**20


@dataclass(frozen=True, eq=False)
class ValidPoints(Sequence[Point]):
    """Points with the same axes, each made when it is asked for: there may be millions. One takes two bytes an axis.

    values  of each axis, without duplicates
    places  the place of each point's value among these, shape (axes, points)
    """

    values: Mapping[str, Sequence[Any]]
    places: np.ndarray[Any, np.dtype[np.signedinteger[Any]]]

    @property
    def axes(self) -> list[str]:
        """The points' axes."""
        return list(self.values)

    def __len__(self) -> int:
        return int(self.places.shape[1])

    def __getitem__(self, number: int) -> Point:  # type: ignore[override]
        places = self.places[:, number].tolist()
        return Point({axis: of[place] for (axis, of), place in zip(self.values.items(), places, strict=True)})

    def __iter__(self) -> Iterator[Point]:
        columns = zip(self.values.values(), self.places, strict=True)
        rows = zip(*([of[place] for place in column.tolist()] for of, column in columns), strict=True)
        return (Point(dict(zip(self.values, row, strict=True))) for row in rows)

    def at(self, numbers: Numbers, axes: Iterable[str] | None = None) -> ValidPoints:
        """Some of the points, with all axes or some."""
        kept = list(self.values if axes is None else axes)
        columns = self.places[[list(self.values).index(axis) for axis in kept]]
        return ValidPoints({axis: self.values[axis] for axis in kept}, columns[:, numbers])

    def keys(self, axes: Iterable[str]) -> Numbers:
        """A number for each point, shape (points,): equal ones where the values on these axes are equal."""
        kept = list(axes)
        if not kept:
            return np.zeros(len(self), np.int64)
        columns = [self.places[list(self.values).index(axis)] for axis in kept]
        return _keys(columns, [len(self.values[axis]) for axis in kept])

    def sizes(self, axes: Iterable[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The product of each point's numbers on these axes, shape (points,)."""
        columns = [np.array(self.values[axis], float)[self.places[[*self.values].index(axis)]] for axis in axes]
        found: np.ndarray[Any, np.dtype[np.float64]] = np.prod([np.ones(len(self)), *columns], axis=0)
        return found

    def firsts(self, axes: Iterable[str]) -> Numbers:
        """The number of the first point with each combination of values on these axes, in order."""
        return np.sort(np.unique(self.keys(axes), return_index=True)[1])

    def groups(self, axes: Iterable[str]) -> list[Numbers]:
        """The numbers of points with equal values on these axes, in groups, as they first appear."""
        _, inverse, counts = np.unique(self.keys(axes), return_inverse=True, return_counts=True)
        alike = np.split(np.argsort(inverse, kind="stable"), np.cumsum(counts)[:-1])
        return sorted((group for group in alike if len(group)), key=lambda group: int(group[0]))


def valid_points(
    sweeps: Iterable[Mapping[str, Sequence[Any]]], restrictions: Sequence[str], tied: Sequence[Sequence[str]] = ()
) -> ValidPoints:
    """The points of each sweep that meet every restriction, without duplicates; the last axis varies fastest.

    sweeps  the values of each axis, of the same axes
    tied    groups of axes that vary together: the first values of all belong together, then the second values, ...

    An axis without values is one that the study doesn't vary, and has the value None. Raises UserError for a
    restriction that can't be computed, and for more than MOST_COMBINATIONS.
    """
    conditions, groups = tuple(restrictions), tuple(map(tuple, tied))
    several = [
        _solved(tuple((axis, tuple(values)) for axis, values in axes.items()), conditions, groups) for axes in sweeps
    ]
    if len(several) == 1:
        return several[0]
    values = {axis: list(dict.fromkeys(v for one in several for v in one.values[axis])) for axis in several[0].values}
    moved = []
    for one in several:
        columns = [
            _places(of, one.values[axis], np.int32)[column]
            for (axis, of), column in zip(values.items(), one.places, strict=True)
        ]
        moved.append(np.stack(columns))
    places = np.concatenate(moved, axis=1)
    _, first = np.unique(_keys([*places], [len(of) for of in values.values()]), return_index=True)
    return ValidPoints(values, places[:, np.sort(first)])


# A plan asks for the same space several times.
@cache
def _solved(
    space: tuple[tuple[str, tuple[Any, ...]], ...], restrictions: tuple[str, ...], tied: tuple[tuple[str, ...], ...]
) -> ValidPoints:
    axes = dict(space)
    variables = _variables(axes, tied)
    conditions = []
    for restriction in restrictions:
        names = expression(restriction).names
        if names <= set(axes):  # Else it names an axis of other studies, which a restriction for all studies may do.
            conditions.append(_Condition(restriction, [group for group in variables if names & set(group)]))
    found, count = [], 0
    for part in _joined([], 1, list(variables), variables, conditions):
        found.append(part)
        count += len(part[0])
        if count > MOST_COMBINATIONS:
            raise UserError(
                f"the axes {', '.join(axes)} have more than {MOST_COMBINATIONS:,} valid combinations. Take values away."
            )
    if not count:
        found = [[np.zeros(0, np.int16) for _ in variables]]
    rows = dict(zip(variables, (np.concatenate(of) for of in zip(*found, strict=True)), strict=True))
    del found
    # From a group's row to the place of each axis' value, which another row may have, too.
    values = {axis: list(dict.fromkeys(of)) for axis, of in axes.items()}
    places = np.empty((len(axes), count), _type_of(max(map(len, axes.values()), default=0)))
    for number, (axis, of) in enumerate(axes.items()):
        group = next(group for group in variables if axis in group)
        np.take(_places(values[axis], of, places.dtype), rows[group], out=places[number])
    if any(len(values[axis]) < len(of) for axis, of in axes.items()):
        keys = _keys([*places], [len(of) for of in values.values()])
        places = places[:, np.unique(keys, return_index=True)[1]]
    return ValidPoints(values, places)


_Group = tuple[str, ...]
_Column = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]


@dataclass(frozen=True)
class _Condition:
    """A restriction, and the groups of axes that it names."""

    text: str
    groups: Sequence[_Group]

    def holds(
        self, rows: Sequence[_Column], order: Sequence[_Group], variables: Mapping[_Group, Sequence[tuple[Any, ...]]]
    ) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Whether it holds for each row: the rows of the groups in `order` that are joined so far."""
        named = [rows[order.index(group)] for group in self.groups]
        keys = _keys(named, [len(variables[group]) for group in self.groups])
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        condition = expression(self.text)
        answers = np.zeros(len(first), np.bool_)
        for place, numbers in enumerate(zip(*(column[first].tolist() for column in named), strict=True)):
            values: dict[str, Any] = {}
            for group, number in zip(self.groups, numbers, strict=True):
                values.update(zip(group, variables[group][number], strict=True))
            answers[place] = bool(condition(values))
        return answers[inverse]


def _joined(
    rows: Sequence[_Column],
    count: int,
    order: Sequence[_Group],
    variables: Mapping[_Group, Sequence[tuple[Any, ...]]],
    conditions: Sequence[_Condition],
) -> Iterator[Sequence[_Column]]:
    """The rows that meet all conditions, extended by the groups that they lack, some at a time.

    rows   a column for each of the first groups in `order`
    count  of the rows
    """
    if len(rows) == len(order):
        yield rows
        return
    group, there = order[len(rows)], set(order[: len(rows) + 1])
    of_group = len(variables[group])
    complete = [one for one in conditions if group in one.groups and set(one.groups) <= there]
    step = max(1, _AT_ONCE // max(of_group, 1))
    for start in range(0, count, step):
        stop = min(start + step, count)
        part = [np.repeat(column[start:stop], of_group) for column in rows]
        part.append(np.tile(np.arange(of_group, dtype=_type_of(of_group)), stop - start))
        for condition in complete:
            holds = condition.holds(part, order, variables)
            part = [column[holds] for column in part]
        yield from _joined(part, len(part[0]), order, variables, conditions)


def _places(of: Sequence[Any], values: Iterable[Any], dtype: Any) -> _Column:
    """The place of each value among others, which have no duplicates. An axis may have a million."""
    place_of = {value: place for place, value in enumerate(of)}
    return np.array([place_of[value] for value in values], dtype)


def _type_of(count: int) -> type[np.signedinteger[Any]]:
    """The type of places among `count` values."""
    return np.int16 if count < 2**15 else np.int32


def _keys(columns: Sequence[_Column], sizes: Sequence[int]) -> Numbers:
    """A number for each row of one column or more, in the order of the rows: equal ones for equal rows.

    sizes  each place of a column is below the column's
    """
    if math.prod(sizes) < 2**62:
        keys = np.zeros(len(columns[0]), np.int64)
        for column, size in zip(columns, sizes, strict=True):
            keys *= size
            keys += column
        return keys
    inverse: Numbers = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1]
    return inverse.reshape(-1)


def _variables(
    axes: Mapping[str, Sequence[Any]], tied: Sequence[Sequence[str]]
) -> dict[tuple[str, ...], list[tuple[Any, ...]]]:
    """The variables of a space: groups of axes with the rows of values that they take together."""
    group_of = {axis: tuple(group) for group in tied if {*group} <= {*axes} for axis in group}
    groups = dict.fromkeys(group_of.get(axis, (axis,)) for axis in axes)
    return {group: tied_rows(axes, group) for group in groups}


def tied_rows(axes: Mapping[str, Sequence[Any]], group: Sequence[str]) -> list[tuple[Any, ...]]:
    """The values that a group of axes takes together. Raises UserError where one has more values than another."""
    lengths = {axis: len(axes[axis]) for axis in group}
    if len({*lengths.values()}) > 1:
        found = ", ".join(f"{axis} {length}" for axis, length in lengths.items())
        raise UserError(f"{', '.join(group)} are tied, so each needs as many values as the others. Found: {found}.")
    return list(zip(*(axes[axis] for axis in group), strict=True))
