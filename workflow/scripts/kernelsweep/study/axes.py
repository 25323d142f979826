"""Axis values: their notation in YAML, how overrides combine, and grid sizes on a device."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Any

from kernelsweep.study.problem.problem import Axis

# The values of every axis, in the order in which points are listed.
Axes = dict[str, list[Any]]

_OF_MULTIPROCESSORS = re.compile(r"(\d+)( threads)? \* multiprocessors")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD = re.compile(r"[^\s=,]+")
_OF_THREADS = re.compile(r"(\d+) threads")

LARGEST_SIZE = 2**32
CACHE_STATES = ("cold", "hot")
# CUDA's limit on the thread blocks of a launch. A launch that fits its grid to the array starts fewer.
LARGEST_GRID = 2**31 - 1


def parse_size(value: int | str) -> int:
    """A size as an integer. It is written 1000, "2^24", "2^24 + 1" or "2^24 - 1".

    Raises ValueError for any other text, and for a size outside 1 to 2^32.
    """
    size: Any = value
    if isinstance(value, str):
        match = re.fullmatch(r"\s*2\^(\d+)\s*(?:([+-])\s*(\d+))?\s*", value)
        if not match:
            raise ValueError("sizes such as 1000, 2^24 or 2^24 + 1")
        # 2^64 is too large already; larger powers may be too large to compute.
        size = 2 ** min(int(match[1]), 64) + int((match[2] or "") + (match[3] or "0"))
    if not 1 <= size <= LARGEST_SIZE:
        raise ValueError("sizes from 1 to 2^32")
    return int(size)


def read_values(axes: Mapping[str, Sequence[Any]], is_point: bool = False) -> dict[str, list[Any]]:
    """The values of axes with sizes such as 2^24 as numbers.

    is_point  whether each axis has one value, so that a message names the axis only

    Raises ValueError, whose text continues the axes' key, for a name that no expression can have, and for a value that
    an axis can't have.
    """
    read: dict[str, list[Any]] = {}
    for axis, values in axes.items():
        if not _NAME.fullmatch(axis) or keyword.iskeyword(axis):
            raise ValueError(f" has {axis!r}. Allowed: names of letters, digits and _, but no keyword of Python.")
        read[axis] = []
        for number, value in enumerate(values):
            try:
                read[axis].append(_read_value(axis, value))
            except ValueError as error:
                where = f".{axis}" if is_point else f".{axis}.{number}"
                raise ValueError(f"{where} is {value!r}. Allowed: {error}.") from error
    return read


def _read_value(axis: str, value: Any) -> Any:
    """A value of an axis, where a size is a number. Raises ValueError that says what is allowed."""
    if isinstance(value, str) and value.lstrip().startswith("2^"):
        return parse_size(value)
    if axis == "cache" and value not in CACHE_STATES:
        raise ValueError(", ".join(CACHE_STATES))
    if not isinstance(value, str):
        if abs(value) > LARGEST_SIZE or (axis == "grid_size" and value < 1):
            raise ValueError("numbers up to 2^32, and grids from 1 block up")
    elif axis == "grid_size":
        if not _OF_MULTIPROCESSORS.fullmatch(value):
            raise ValueError("a number, 2 * multiprocessors, or 2048 threads * multiprocessors")
    elif axis != "arguments" and not _WORD.fullmatch(value):
        raise ValueError("numbers, words without blanks, or sizes such as 2^24 + 1")
    return value


def resolve_axes(of_problem: Mapping[str, Axis], *layers: Mapping[str, Sequence[Any]]) -> Axes:
    """Combine the settings of a study's axes from the most general to the most specific.

    A later layer replaces whole axes. Axes of other studies and repeated values are left out.
    """
    merged: dict[str, Sequence[Any]] = dict.fromkeys(of_problem, ())
    for layer in layers:
        merged.update({name: layer[name] for name in of_problem if name in layer})
    return {name: list(dict.fromkeys(values)) for name, values in merged.items()}


def grid_on_device(grid_size: int | str, multiprocessors: int, block_size: int) -> int:
    """A value of the axis grid_size as a number of blocks.

    It is written 288, "2 * multiprocessors", or "2048 threads * multiprocessors" for enough blocks of these threads.
    """
    grid = _on_device(grid_size, multiprocessors)
    return grid if isinstance(grid, int) else grid_of_threads(grid, block_size)


def axes_on_device(axes: Axes, multiprocessors: int) -> Axes:
    """The axes on a device: every grid size is a number of blocks, or of threads such as "270336 threads".

    points.launched_points() divides a number of threads by the block size.
    """
    if "grid_size" not in axes:
        return axes
    grids = [None if grid is None else _on_device(grid, multiprocessors) for grid in axes["grid_size"]]
    return {**axes, "grid_size": list(dict.fromkeys(grids))}


def _on_device(grid_size: int | str, multiprocessors: int) -> int | str:
    if isinstance(grid_size, int):
        return grid_size
    match = _OF_MULTIPROCESSORS.fullmatch(grid_size)
    assert match, "values are checked when they are read"
    count = int(match[1]) * multiprocessors
    return f"{count} threads" if match[2] else count


def grid_of_threads(grid_size: Any, block_size: int) -> Any:
    """A grid such as "270336 threads" as a number of blocks, at least one; any other grid unchanged."""
    match = _OF_THREADS.fullmatch(grid_size) if isinstance(grid_size, str) else None
    return max(int(match[1]) // block_size, 1) if match else grid_size
