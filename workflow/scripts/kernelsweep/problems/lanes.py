"""The lane from which each lane receives its value in the exchanges: CUDA's rules for __shfl_*_sync.

Source: CUDA C++ Programming Guide, "Warp Shuffle Functions". A warp's lanes form groups of `width` neighbours. A lane
that would read from outside its group keeps its own value, but for an exclusive or, which may reach into an earlier
group.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

LANES = 32

# The kernels whose exchange is __shfl_xor_sync.
_SWAPS = ("butterfly_swap", "butterfly_swap_twice")
_BUTTERFLIES = ("butterfly", "butterfly_array", *_SWAPS)

Indices = np.ndarray[Any, np.dtype[np.intp]]


def source_lanes(exchange: str, width: int, arguments: Mapping[str, int]) -> Indices:
    """The lane from which each lane of a warp receives its value, shape (32,).

    exchange   the kernel's name
    width      2, 4, 8, 16 or 32
    arguments  source_lane, delta, offset or lane_mask, depending on the exchange
    """
    lanes = np.arange(LANES)
    in_group = lanes % width
    start = lanes - in_group
    if exchange == "broadcast":
        return start + arguments["source_lane"] % width
    if exchange == "rotate":
        return start + (in_group + arguments["offset"]) % width
    if exchange == "shift_up":
        return np.where(in_group >= arguments["delta"], lanes - arguments["delta"], lanes)
    if exchange == "shift_down":
        return np.where(in_group + arguments["delta"] < width, lanes + arguments["delta"], lanes)
    if exchange in _BUTTERFLIES:
        partners = lanes ^ arguments["lane_mask"]
        return np.where(partners < start + width, partners, lanes)
    raise ValueError(f"{exchange!r} is no exchange; known are broadcast, rotate, shift_up, shift_down, butterfly*")


def missing_lane(exchange: str, width: int, arguments: Mapping[str, int], block_size: int) -> str | None:
    """The reason why an exchange can't run in blocks of `block_size` threads, a missing lane; or None."""
    sources = source_lanes(exchange, width, arguments)
    threads = block_size % LANES
    for lane in range(threads):
        if sources[lane] >= threads:
            return f"lane {lane} would read lane {sources[lane]}, but the last warp has only {threads} threads"
    return None


def source_elements(
    exchange: str, width: int, arguments: Mapping[str, int], block_size: int, elements_a_thread: int
) -> Indices:
    """The input element that each output element of a thread block is, shape (block_size * elements_a_thread,).

    Thread t holds the elements from t * elements_a_thread on.
    """
    threads = np.arange(block_size)
    lanes = threads % LANES
    sources = threads - lanes + source_lanes(exchange, width, arguments)[lanes]
    own: Indices = threads[:, None] * elements_a_thread + np.arange(elements_a_thread)
    if exchange not in _SWAPS:
        moved: Indices = own[sources]
        return moved.ravel()
    lower = lanes < (lanes ^ arguments["lane_mask"])
    exchanged = np.where(lower, arguments["first"], arguments["second"])
    given = own[sources, exchanged[sources]]
    own[threads, exchanged] = given
    return own.ravel()
