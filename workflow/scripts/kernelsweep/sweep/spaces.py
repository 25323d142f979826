"""Spaces of axes with restrictions: their valid combinations, found without trying each combination.

python-constraint2 solves them. A restriction cuts a whole branch of the search as soon as all of its axes have values,
so a space of 10^7 combinations with 10^5 valid ones takes seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from constraint import FunctionConstraint, OptimizedBacktrackingSolver, Problem

from kernelsweep.sweep.expressions import expression


def valid_combinations(
    axes: Mapping[str, Sequence[Any]], restrictions: Sequence[str], tied: Sequence[Sequence[str]] = ()
) -> Sequence[tuple[Any, ...]]:
    """The combinations of axis values that meet every restriction, each in the axes' order; the last varies fastest.

    tied  groups of axes that vary together: the first values of all belong together, then the second values, ...

    An axis without values is one that the study doesn't vary, and has the value None. Raises UserError for a
    restriction that can't be computed.
    """
    return _solved(
        tuple((axis, tuple(values)) for axis, values in axes.items()), tuple(restrictions), tuple(map(tuple, tied))
    )


# A plan asks for the same space several times.
@cache
def _solved(
    space: tuple[tuple[str, tuple[Any, ...]], ...], restrictions: tuple[str, ...], tied: tuple[tuple[str, ...], ...]
) -> Sequence[tuple[Any, ...]]:
    axes = dict(space)
    variables = _variables(axes, tied)
    if not all(variables.values()):
        return ()
    problem = Problem(OptimizedBacktrackingSolver())
    for group, rows in variables.items():
        problem.addVariable(group, list(range(len(rows))))
    for restriction in restrictions:
        names = expression(restriction).names
        if not names <= set(axes):  # An axis of other studies, which a restriction for all studies has.
            continue
        groups = [group for group in variables if names & set(group)]
        problem.addConstraint(FunctionConstraint(_meets(restriction, groups, variables)), groups)
    found = sorted(problem.getSolutionsOrderedList(list(variables)))
    # The place of each axis' value: the number of its variable, and the index in the variable's row.
    places = {axis: (number, group.index(axis)) for number, group in enumerate(variables) for axis in group}
    in_order = [places[axis] for axis in axes]
    values: list[list[tuple[Any, ...]]] = list(variables.values())
    return tuple(tuple(values[number][chosen[number]][within] for number, within in in_order) for chosen in found)


def combination_count(axes: Mapping[str, Sequence[Any]], tied: Sequence[Sequence[str]] = ()) -> int:
    """The number of combinations before restrictions."""
    return math.prod(len(rows) for rows in _variables(axes, tied).values())


def _variables(
    axes: Mapping[str, Sequence[Any]], tied: Sequence[Sequence[str]]
) -> dict[tuple[str, ...], list[tuple[Any, ...]]]:
    """The variables of a space: groups of axes with the rows of values that they take together."""
    group_of = {axis: tuple(group) for group in tied for axis in group}
    groups = dict.fromkeys(group_of.get(axis, (axis,)) for axis in axes)
    return {group: list(zip(*(axes[axis] for axis in group), strict=True)) for group in groups}


def _meets(
    restriction: str, groups: Sequence[tuple[str, ...]], variables: Mapping[tuple[str, ...], Sequence[tuple[Any, ...]]]
) -> Callable[..., bool]:
    """Whether a restriction holds for the chosen rows of its groups, as a function of the rows' numbers."""
    condition = expression(restriction)

    def values(numbers: Sequence[int]) -> Iterator[tuple[str, Any]]:
        for group, number in zip(groups, numbers, strict=True):
            yield from zip(group, variables[group][number], strict=True)

    return lambda *numbers: bool(condition(dict(values(numbers))))
