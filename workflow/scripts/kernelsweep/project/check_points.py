"""The points at which a kernel is checked of which nobody says others: round sizes, ragged ones, and some between."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from kernelsweep.errors import UserError
from kernelsweep.project.guess import SIDES_OF_BLOCK, Guess
from kernelsweep.project.host_code import names_of
from kernelsweep.study import expressions
from kernelsweep.study.kernels.launches import MOST_THREADS

# Sizes at which arrays are learnt: different ones, so that products tell them apart; then sizes that no block divides.
_ROUND = {1: ((512,), (256,)), 2: ((96, 128), (160, 64)), 3: ((32, 64, 96), (96, 32, 64))}
_ROUND_OF_MANY = ((4, 32, 64, 8, 2, 16, 6), (2, 80, 16, 12, 3, 5, 7))
_RAGGED = {1: ((1000,), (37,)), 2: ((75, 100), (33, 7)), 3: ((33, 50, 70), (17, 5, 9))}
_OF_PLANE = ({1: ((128,), (64,))}, {1: ((100,), (37,))})
_RAGGED_OF_MANY = ((3, 20, 33, 6, 2, 5), (5, 7, 9, 3, 1, 2))
_SLOWER = 4  # times as small are the sizes of a slow kernel
_MOST_SHARED = 227 * 1024  # bytes of a block on an H100
_LARGEST = 2**14  # of a size that the host's code asks for
# Leading dimensions: those of rows, of which a part is used.
_LEADING = re.compile(r"ld[a-z]?$|pitch", re.IGNORECASE)
_INTEGER = re.compile(r"(?<![\w.])\d+(?![\w.])")
# What sizes that need not be large have, one after another.
_SMALL = (2, 3, 1)


def round_points(guessed: Guess) -> list[dict[str, int]]:
    """Two points at which blocks divide the sizes. Raises UserError where the file makes no such launch.

    Their numbers of blocks differ where sizes say how many there are: else all arrays seem to have one size.
    """
    round_ones = _points(guessed, _ROUND, _ROUND_OF_MANY)
    for factor in (1, 2, 4, 8, 1):
        points = _allowed(guessed, [_larger(guessed, point, factor) for point in round_ones])
        first, last = ([value_at(side, point) for side in guessed.grid] for point in (points[0], points[-1]))
        if first != last or not {*names_of(" ".join(guessed.grid))} & {*guessed.sizes}:
            break
    return [points[0], points[-1]]


def ragged_points(guessed: Guess) -> list[dict[str, int]]:
    """Points at which no block divides the sizes, if the file makes such launches. Raises UserError."""
    return _allowed(guessed, _points(guessed, _RAGGED, _RAGGED_OF_MANY))


def default_points(guessed: Guess) -> list[dict[str, int]]:
    """The points at which a kernel is checked that nobody says others of: a round one, and ragged ones.

    Raises UserError where no sizes are found at which the file makes this launch.
    """
    points = [round_points(guessed)[0], *ragged_points(guessed)]
    unlike = list({tuple(point.items()): point for point in points}.values())
    sides = (*guessed.grid, *guessed.block)
    return [point for point in unlike if all(value_at(side, point) for side in sides)] or unlike


def multiples(point: Mapping[str, int], axes: Sequence[str], factor: int) -> dict[str, int]:
    """The point with sizes that are multiples of a factor, and of no larger power of two; powers of two for 0."""
    larger = {
        axis: factor * (-(-point[axis] // factor) | 1) if factor else 1 << (point[axis] - 1).bit_length()
        for axis in axes
    }
    return {**point, **larger}


def meets(guessed: Guess, point: Mapping[str, int]) -> bool:
    """Whether the file's host code launches the kernel at a point, as far as it says so."""
    return all(value_at(one, point) for one in guessed.restrictions)


def _points(
    guessed: Guess, of_few: Mapping[int, Sequence[Sequence[int]]], of_many: Sequence[Sequence[int]]
) -> list[dict[str, int]]:
    sizes = [name for name in guessed.sizes if name not in guessed.small]
    is_plane = len(sizes) == 1 and sum(side != "1" for side in guessed.block) > 1
    if is_plane:  # A thread may go through a row.
        of_few = _OF_PLANE[0] if of_few is _ROUND else _OF_PLANE[1]
    other = SIDES_OF_BLOCK[max(1, sum(side != "1" for side in guessed.block))]
    threads = math.prod(int(one) if one.isdigit() else other for one in guessed.block)
    found = []
    for number, row in enumerate(of_few.get(len(sizes), of_many) if sizes else [(), ()]):
        values = dict(zip(sizes, itertools.cycle(row), strict=False)) if row else {}
        if len(sizes) == 1 and of_few is _ROUND and (threads > 256 or guessed.is_slow):
            values = {name: value * threads // 256 for name, value in values.items()}
        elif guessed.is_slow:
            values = {name: -(-value // _SLOWER) for name, value in values.items()}
        if len(sizes) > 1 and of_few is _ROUND:
            for side, block in zip(guessed.grid, guessed.block, strict=False):
                named = {*names_of(side)} & {*sizes}
                if "/" in side and len(named) == 1 and block.isdigit():
                    # The second of two sizes below a block is two blocks.
                    more = {name: number * (values[name] < int(block)) for name in named}
                    values |= {name: (-(-values[name] // int(block)) + more[name]) * int(block) for name in named}
        values |= {name: max(values.values()) + 32 for name in sizes if _LEADING.match(name) and len(sizes) > 1}
        values |= {name: _SMALL[(number + place) % len(_SMALL)] for place, name in enumerate(guessed.small)}
        found.append(_with_blocks(guessed, values, other))
    return found


def _with_blocks(guessed: Guess, values: Mapping[str, int], other: int) -> dict[str, int]:
    """A point with these sizes, the rest `other`, or else one at which CUDA allows the grid and the block."""
    tried = []
    for rest, factor in itertools.product((other, 128, 32, 8, 2), (1, 2, 4, 8, 16)):
        tried.append(_larger(guessed, {name: values.get(name, rest) for name in guessed.axes}, factor))
        grid, block = ([value_at(side, tried[-1]) for side in sides] for sides in (guessed.grid, guessed.block))
        shared = value_at(guessed.shared, tried[-1])
        if all(side > 0 for side in (*grid, *block)) and math.prod(block) <= MOST_THREADS and shared <= _MOST_SHARED:
            return tried[-1]
    return tried[0]


def _larger(guessed: Guess, point: Mapping[str, int], factor: int) -> dict[str, int]:
    large = {name for name in guessed.sizes if name not in guessed.small}
    return {name: value * factor if name in large else value for name, value in point.items()}


def _allowed(guessed: Guess, points: Sequence[dict[str, int]]) -> list[dict[str, int]]:
    """For each point, the nearest at which the file launches the kernel; those without one are left out."""
    found = [near for point in points if (near := _nearest(guessed, point)) is not None]
    if not found:
        asked = " and ".join(guessed.restrictions)
        raise UserError(f"no sizes were found at which the file makes this launch: it asks for {asked}. Give --case.")
    return found


def _nearest(guessed: Guess, point: dict[str, int]) -> dict[str, int] | None:
    named = [axis for axis in guessed.axes if any(axis in names_of(one) for one in guessed.restrictions)]
    of_each = [[int(one) for one in _INTEGER.findall(text)] for text in guessed.restrictions]
    numbers = {number + more for of in of_each for number in of for more in (-1, 0, 1)}
    products = {math.prod(of) for of in of_each}

    def candidates(value: int) -> list[int]:
        multiples = (-(-value // factor) * factor for factor in (1, 4, 16, 32, 64, 256, 1024, *products) if factor)
        powers = (1 << (value - 1).bit_length() + more for more in (0, 1, 2))
        all_of = {one for one in (*multiples, *powers, *numbers, value + 1) if 0 < one <= _LARGEST}
        return sorted(all_of, key=lambda one: abs(math.log(one / value)))[:24]

    choices = itertools.islice(itertools.product(*(candidates(point[axis]) for axis in named)), 20_000)
    met = [one for values in choices if meets(guessed, one := {**point, **dict(zip(named, values, strict=True))})]
    return min(met, key=lambda one: sum(abs(math.log(one[axis] / point[axis])) for axis in named), default=None)


def value_at(text: str, point: Mapping[str, int]) -> int:
    """The value of an expression over a point's axes; -1 where it has none."""
    with suppress(UserError):  # The study that is made of it says why.
        return int(expressions.number(text, point))
    return -1
