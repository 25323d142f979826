"""Trace the accesses of a thread block's first warps."""

from __future__ import annotations

from dataclasses import dataclass

from kernelsweep.observe.accesses.selection import DRAWN_BLOCK
from kernelsweep.observe.counting.run import CountingRunner, TracedRequest
from kernelsweep.platforms.counting.library import LANES
from kernelsweep.sweep.point import Point

WARPS = DRAWN_BLOCK // LANES
# Requests of a warp. The longest step of the shipped ladders has 40; a loop over tiles has any number.
MOST_REQUESTS = 200


@dataclass(frozen=True)
class Trace:
    """The first requests of each of the first warps of block 0, in the point's first launch.

    is_cut  whether a warp made more
    """

    warps: list[list[TracedRequest]]
    is_cut: bool


def trace_block(runner: CountingRunner, point: Point, variant: str) -> Trace:
    """The accesses of block 0; fewer warps where it has fewer."""
    warps = [runner.trace(point, variant, 0, warp, MOST_REQUESTS + 1) for warp in range(WARPS)]
    count = min(WARPS, -(-runner.threads // LANES))
    return Trace([warp[:MOST_REQUESTS] for warp in warps[:count]], any(len(warp) > MOST_REQUESTS for warp in warps))
