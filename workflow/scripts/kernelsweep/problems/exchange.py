"""The exchange problem: each thread's elements go to another lane of its warp, and nothing else may change.

Element i of an array has the value i; the values start again from 0 after the tile's length.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelsweep.problems.element_types import CXX_TYPES
from kernelsweep.problems.lanes import missing_lane, source_elements
from kernelsweep.problems.problem import (
    ALL_ONES,
    TILE_LENGTH,
    Axis,
    Elements,
    Judgement,
    OneArray,
    Point,
    Problem,
    input_bytes,
)

# Outputs of up to this many elements, one for each lane of a warp, are shown in full.
_SHOWN = 32
# Elements compared at once. They fit into the processor's cache, so that arrays of many gigabytes take seconds.
_COMPARED = 2**18
# Small arrays show every mistake at an edge, because edges lie between groups of lanes, not between thread blocks.
_LARGEST_AT_AN_EDGE = 1000

# The arguments of the exchanges, with their types as template parameters.
_ARGUMENTS: Mapping[str, str] = {
    "source_lane": "unsigned",
    "delta": "unsigned",
    "offset": "int",
    "lane_mask": "unsigned",
    "first": "unsigned",
    "second": "unsigned",
}


@dataclass(frozen=True)
class Exchange(OneArray):
    """A kernel's exchange of elements of one type; see problem.Instance."""

    kernel: str
    dtype: np.dtype[Any]
    tile: Elements
    poison = ALL_ONES  # No element is less than 0.

    def judge(self, point: Point, results: Mapping[str, Elements], depth: int) -> Judgement:
        """Compare each element of the one result with what CUDA's rules put in its place. They must be equal."""
        (values,) = results.values()
        output = " ".join(str(value) for value in values.tolist()) if len(values) <= _SHOWN else ""
        span = point["block_size"] * point["unroll"]
        step = max(_COMPARED // span, 1) * span
        for start in range(0, len(values), step):
            found = values[start : start + step]
            expected = self._expected(point, start, len(found))
            wrong = np.flatnonzero(found != expected)
            if wrong.size:
                place = int(wrong[0])
                text = f"element {start + place}: expected {expected[place]}, found {found[place]}"
                return Judgement(text, output=output)
        return Judgement(None, output=output)

    def _expected(self, point: Point, start: int, count: int) -> np.ndarray[Any, Any]:
        """The right values of `count` elements from `start` on, where a thread block begins."""
        span = point["block_size"] * point["unroll"]
        blocks = -(-count // span)
        sources = source_elements(
            self.kernel, point["width"], parse_arguments(point["arguments"]), point["block_size"], point["unroll"]
        )
        padded = _repeated(self.tile, start, blocks * span)
        padded[max(point["array_size"] - start, 0) :] = 0  # Threads past the array's end hold zeros.
        return np.take(padded.reshape(blocks, span), sources, axis=1).ravel()[:count]


def _repeated(tile: np.ndarray[Any, Any], start: int, count: int) -> np.ndarray[Any, Any]:
    """`count` elements of the endlessly repeated tile from `start` on."""
    begin = start % len(tile)
    parts = [tile[begin : begin + count]]
    missing = count - len(parts[0])
    parts += [tile] * (missing // len(tile)) + [tile[: missing % len(tile)]]
    return np.concatenate(parts)


def make_exchange(kernel: str, dtype: str, longest: int) -> Exchange:
    """The problem's input for arrays of up to `longest` elements."""
    element = np.dtype(dtype)
    return Exchange(kernel, element, np.arange(min(longest, TILE_LENGTH)).astype(element))


def parse_arguments(arguments: str) -> dict[str, int]:
    """An exchange's arguments by name: {"lane_mask": 1, "first": 0} for "lane_mask=1 first=0".

    Raises ValueError for a text of another form.
    """
    pairs = [word.split("=") for word in arguments.split()]
    return {name: int(value) for name, value in pairs}


def _template_values(point: Point) -> dict[str, Any]:
    of_axes = {axis: point[axis] for axis in ("block_size", "unroll", "width")}
    return {"Element": CXX_TYPES[point["dtype"]], **of_axes, **parse_arguments(point["arguments"])}


def _wrong_value(template_parameters: Collection[str], axis: str, value: Any) -> str | None:
    taken = [name for name in template_parameters if name in _ARGUMENTS]
    if axis != "arguments" or set(parse_arguments(value)) == set(taken):
        return None
    return f"It takes {' '.join(f'{name}=...' for name in taken) or 'none'}."


def _skip_reason(kernel: str, point: Point) -> str | None:
    return missing_lane(kernel, point["width"], parse_arguments(point["arguments"]), point["block_size"])


def _make_instance(kernel: str, point: Point, longest: int, seed: int) -> Exchange:
    return make_exchange(kernel, point["dtype"], longest)


def _shows_output(row: Point, reference: Point) -> bool:
    """Whether the row's array is one thread block, and its groups have the lanes of the reference point's array."""
    elements = row["block_size"] * row["unroll"]
    return bool(elements == row["array_size"] and row["width"] == reference["block_size"])


def _edge_sizes(swept: Sequence[int]) -> Sequence[int]:
    return sorted({size for size in swept if size <= _LARGEST_AT_AN_EDGE}, reverse=True)


EXCHANGE = Problem(
    name="exchange",
    axes={
        "dtype": Axis(has_texts=True),
        "operation": Axis(has_texts=True, values=("exchange",), is_fixed=True),
        "cache": Axis(has_texts=True, in_variant=False),
        "array_size": Axis(in_variant=False),
        "block_size": Axis(of_kernel=True),
        "unroll": Axis(of_kernel=True),
        "width": Axis(of_study=True),
        "arguments": Axis(has_texts=True, of_study=True),
    },
    template_parameters={
        "Element": "typename",
        "block_size": "unsigned",
        "unroll": "unsigned",
        "width": "unsigned",
        **_ARGUMENTS,
    },
    template_values=_template_values,
    plans=("one_to_one",),
    wrong_value=_wrong_value,
    skip_reason=_skip_reason,
    make_instance=_make_instance,
    instance_axes=("dtype",),
    work=input_bytes,
    races=False,
    draws_accesses=False,
    table="exchanges",
    shows_output=_shows_output,
    edge_sizes=_edge_sizes,
)
