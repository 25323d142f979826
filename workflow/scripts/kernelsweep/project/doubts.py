"""Which of a check's findings are mistakes in any case, and which may be one of the check's guesses.

A finding at sizes that no block divides is a mistake if the file's launch rounds its blocks up for them, and the kernel
has a guard. Else further runs tell at which sizes it is gone, such as multiples of 4: the kernel may ask for these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kernelsweep.errors import UserError
from kernelsweep.project.check_points import meets, multiples, round_points, value_at
from kernelsweep.project.checked import ANY_ARRAY, OF_ORDER, Key, Seen
from kernelsweep.project.guess import Guess
from kernelsweep.project.learnt_arrays import Holds
from kernelsweep.study.point import Point

_FACTORS = (2, 4, 8, 16, 32, 64, 128, 256)
# For the points of a kernel, and before that to learn what its arrays hold.
MOST_SECONDS = 20.0
# What an index may lead to, besides a race.
_OF_INDICES = ("out of bounds", "misaligned")
_LARGEST = 4096  # elements of a side of a grid that a block has


class TimeOver(UserError):
    """A kernel's seconds on the emulator are over."""

    def __init__(self, last: str) -> None:
        super().__init__(f"{MOST_SECONDS:.0f} s on the emulator did not show what arrays hold{last and ': '}{last}")


def doubts(
    outcomes: Seen,
    guessed: Guess,
    holds: Mapping[str, Holds],
    are_given: bool,
    run: Callable[[Point], Seen],
    with_zeros: Callable[[Point], Seen],
) -> dict[Key, str]:
    """The guess on which each finding depends, in words; none for those that are mistakes.

    are_given   whether the user says the points
    run         runs the kernel at a further point, once; raises TimeOver
    with_zeros  does so with arrays that hold zeros
    """
    told: dict[Key, str] = {}
    first = round_points(guessed)[0]

    def or_sizes(key: Key, points: Sequence[Mapping[str, int]], why: str) -> str:
        asked = "" if are_given or first in points else _asked(key, points[0], guessed, run)
        return "; ".join(filter(None, [asked, why]))

    def is_of_values(key: Key, point: Mapping[str, int]) -> bool:
        """Whether an array's values may decide: the same thread accesses another element where they are zeros."""
        try:
            other = with_zeros(Point(point)).findings.get(key)
        except TimeOver:
            return True
        return other is None or other.message != outcomes.findings[key].message

    unsure = [*guessed.doubts, *(one.doubt for one in guessed.parameters if one.doubt)]
    indices = {one.name for one in guessed.arrays if one.indexes and holds[one.name].updated}
    bytes_ = {one.name: holds[one.name].size for one in guessed.arrays if one.dtype == "uint8"}
    within = {one.name: one.within for one in guessed.arrays if one.within}
    of_bounds = {key for key, one in outcomes.findings.items() if one.kind == "out of bounds"}
    # Past the end of an array of unknown size may lie another one.
    are_past_ends = bool(of_bounds - {*outcomes.below}) and not all(of.known for of in holds.values())
    for key, one in outcomes.findings.items():
        points = [{axis: point[axis] for axis in guessed.axes} for point in outcomes.points[key]]
        is_everywhere = len(points) == len(outcomes.ran)
        array, is_of_bounds = outcomes.arrays[key], key in of_bounds
        # Of more bytes than there are values, some are equal, whatever they are.
        is_of_bytes = one.kind == "race" and array in holds and holds[array].size == "256"
        equal = {name for name, of in bytes_.items() if is_of_bytes and any(value_at(of, at) > 256 for at in points)}
        # What lies before an array's start does so whatever its size.
        by_size = is_of_bounds and (key not in outcomes.below or are_past_ends)
        if one.kind == OF_ORDER:
            told[key] = "whether the order may decide is for its author to say"
        elif unsure:
            told[key] = or_sizes(key, points, unsure[0])
        elif guessed.has_few_blocks and array in holds and one.kind != "race":
            told[key] = f"{guessed.launched} launches more blocks"
        elif key in outcomes.below and array in within:
            told[key] = f"the launch passes {within[array]}, which may lie within an array"
        elif by_size and not all(of.known for name, of in holds.items() if array in (name, ANY_ARRAY)):
            told[key] = "the sizes of arrays could not be learnt"
        elif by_size and array in holds and holds[array].larger:
            told[key] = f"{array} may have {holds[array].larger} elements"
        elif one.kind == "race" and array in holds and not holds[array].known and guessed.sizes and not are_given:
            told[key] = f"the size of {array} could not be learnt, so that sizes may be strides that ask for others"
        elif (others := indices - {array} - equal) and (
            array in holds if one.kind == "race" else one.kind in _OF_INDICES and is_of_values(key, points[0])
        ):
            told[key] = or_sizes(
                key, points, f"it may ask for other values in {' or '.join(sorted(others))}, which may be indices"
            )
        elif are_given or is_everywhere:
            continue
        elif first in points:
            told[key] = "it may ask for smaller sizes" if is_of_bounds and array not in holds else ""
        elif (asked := _asked(key, points[0], guessed, run)) is not None:
            told[key] = asked
        elif by_size and array in holds and not holds[array].given:
            told[key] = f"{array} may be larger"
        elif len(points) < len(outcomes.ran) - 1:
            told[key] = "it may ask for other sizes"
    return {key: why for key, why in told.items() if why}


def beyond(outcomes: Seen, holds: Mapping[str, Holds]) -> dict[Key, str]:
    """The accesses past the end of an array whose size is not known, each with the array.

    Those before the start of another one are among them if the same line goes past an end at the same point.
    """
    found = outcomes.findings
    past = {
        key: array
        for key, array in outcomes.arrays.items()
        if found[key].kind == "out of bounds"
        and key not in outcomes.below
        and array in holds
        and not holds[array].known
    }
    return past | {
        key: array
        for key in outcomes.below
        for other, array in past.items()
        if found[key].lines == found[other].lines and {*outcomes.points[key]} & {*outcomes.points[other]}
    }


def _asked(key: Key, point: Mapping[str, int], guessed: Guess, run: Callable[[Point], Seen]) -> str | None:
    """The sizes that a kernel may ask for, because a finding is gone there; "" where it is made for others, too.

    None where it is nowhere gone.
    """
    sizes = [axis for axis in guessed.sizes if axis not in guessed.small]
    steps = {axis: _step(guessed, point, axis) for axis in sizes}
    factors = sorted({*_FACTORS, *(step for _, step in steps.values() if step > 1)})

    def gone(axes: Sequence[str], factor: int) -> bool:
        other = multiples(point, axes, factor)
        outcomes = run(Point(other)) if meets(guessed, other) else None
        return bool(outcomes and outcomes.ran) and key not in (outcomes.findings if outcomes else ())

    try:
        factor = next((one for one in (*factors, 0) if gone(sizes, one)), None)
    except TimeOver:
        return f"{MOST_SECONDS:.0f} s were over before others showed which sizes it asks for"
    if factor is None:
        return None
    axes = next(([axis] for axis in sizes if gone([axis], factor)), sizes) if len(sizes) > 1 else sizes
    of = f" in {' and '.join(axes)}" if len(guessed.sizes) > 1 else ""
    # Whether the launch and the kernel are made for sizes that are no multiples of the factor.
    if factor and all(steps[axis][0] == 1 and factor >= steps[axis][1] and axis in guessed.guarded for axis in axes):
        return ""
    return f"it may ask for multiples of {factor}{of}" if factor else f"it may ask for powers of two{of}"


def _step(guessed: Guess, point: Mapping[str, int], axis: str) -> tuple[int, int]:
    """The smallest size that has a block, and how many more have the next; zeros for a size that the grid has not."""
    rises, before = [], [0] * len(guessed.grid)
    for size in range(1, _LARGEST):
        blocks = [value_at(side, {**point, axis: size}) for side in guessed.grid]
        if (size > 1 and blocks != before) or (size == 1 and all(blocks)):
            rises.append(size)
        before = blocks
        if len(rises) == 2:
            return rises[0], rises[1] - rises[0]
    return 0, 0
