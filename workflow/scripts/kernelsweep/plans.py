"""Launch plans: the launches by which the host drives a kernel to its result."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from kernelsweep.sweep import Point


@dataclass(frozen=True)
class Launch:
    """One launch of a one-dimensional grid.

    grid, block   numbers of blocks, and of threads a block
    shared_bytes  dynamic shared memory a block
    arguments     what to pass: "data", "partials" (addresses) or "array_size" (size_t)
    """

    grid: int
    block: int
    shared_bytes: int
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """The launches of one point in order, and how many results they leave in `partials` for the host to combine."""

    launches: tuple[Launch, ...]
    results: int


def block_partials(point: Point) -> Plan:
    """One launch, a block for every block_size * unroll elements, each block leaving one partial result."""
    grid = ceil(point.array_size / (point.block_size * point.unroll))
    return Plan((Launch(grid, point.block_size, 0, ("data", "partials", "array_size")),), results=grid)


PLANS = {"block_partials": block_partials}
