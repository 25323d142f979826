"""The exchange problem: what every thread holds goes to another lane of its warp, and nothing else may change.

The elements of an array are numbered: element i has the value i, up to the tile's length and then again from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelsweep.problems.lanes import source_elements
from kernelsweep.problems.problem import ALL_ONES, TILE_LENGTH, Judgement
from kernelsweep.sweep.points import Point, parse_arguments

# An output of up to this many elements, a warp's worth, is shown in full.
_SHOWN = 32
# Elements compared at once: few enough for the processor's cache, so that arrays of many gigabytes take seconds.
_COMPARED = 2**18


@dataclass(frozen=True)
class Exchange:
    """The exchange that a kernel does, on elements of one type; see problem.Problem."""

    kernel: str
    dtype: np.dtype[Any]
    tile: np.ndarray[Any, Any]
    poison = ALL_ONES  # No element is less than 0.

    def judge(self, point: Point, results: np.ndarray[Any, Any], depth: int) -> Judgement:
        """Every element must be exactly the one that CUDA's rules put in its place."""
        output = " ".join(str(value) for value in results.tolist()) if len(results) <= _SHOWN else ""
        span = point["block_size"] * point["unroll"]
        step = max(_COMPARED // span, 1) * span
        for start in range(0, len(results), step):
            found = results[start : start + step]
            expected = self._expected(point, start, len(found))
            wrong = np.flatnonzero(found != expected)
            if wrong.size:
                place = int(wrong[0])
                text = f"element {start + place}: expected {expected[place]}, found {found[place]}"
                return Judgement(text, output=output)
        return Judgement(None, output=output)

    def _expected(self, point: Point, start: int, count: int) -> np.ndarray[Any, Any]:
        """What belongs into `count` elements from `start` on, the first of a thread block."""
        span = point["block_size"] * point["unroll"]
        blocks = -(-count // span)
        sources = source_elements(
            self.kernel, point["width"] or 0, parse_arguments(point["arguments"]), point["block_size"], point["unroll"]
        )
        padded = _repeated(self.tile, start, blocks * span)
        padded[max(point["array_size"] - start, 0) :] = 0  # What threads past the array's end hold.
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
