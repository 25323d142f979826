"""Launch plans: the launches that take a kernel from its input to its result.

A kernel's header names its plan. Each plan's docstring begins with the kernel's arguments in their order: an array is
passed as its address, a number as a size_t. Arrays that the problem doesn't know, such as partial results, are the
plan's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil, prod
from typing import Any

import numpy as np

from kernelsweep.problems.problem import DATA, Array
from kernelsweep.sweep.point import Point

# The bytes of the vector that a thread loads at once, in kernels of the FITTED_PLANS.
VECTOR_BYTES = 16

# The blocks of a thread block cluster, in kernels of the plan single_launch_of_clusters.
_CLUSTER_SIZE = 8


# Sizes in x, y and z, plain integers.
Size = tuple[int, int, int]


@dataclass(frozen=True)
class Launch:
    """One launch.

    grid, block   numbers of blocks, and of threads a block, in x, y and z
    arguments     names of arrays, which stand for their addresses, or of the problem's scalars; and NumPy scalars,
                  which are passed at their own width
    variant       the C++ name of what is launched; None for the point's variant
    shared_bytes  the dynamic shared memory of a block; None for what the kernel's header says
    """

    grid: Size
    block: Size
    arguments: tuple[str | np.generic, ...]
    variant: str | None = None
    shared_bytes: int | None = None

    @property
    def blocks(self) -> int:
        """The number of blocks of the grid."""
        return prod(self.grid)

    @property
    def threads(self) -> int:
        """The number of threads of a block."""
        return prod(self.block)


@dataclass(frozen=True)
class Plan:
    """The launches of one point in their order, and the arrays that they use.

    arrays     the plan's own arrays by name, besides the problem's
    results    the number of elements, from an array's start, that the host combines or compares, by the array's name;
               empty: all elements of the arrays that the problem marks as results
    constants  the problem's arrays that are copied to constant memory, to the variables of the same names
    """

    launches: tuple[Launch, ...]
    arrays: Mapping[str, Array] = field(default_factory=dict)
    results: Mapping[str, int] = field(default_factory=dict)
    constants: tuple[str, ...] = ()


def _launch(grid: int, block: int, *arguments: str | int) -> Launch:
    """A launch of a one-dimensional grid, which passes numbers as a size_t."""
    sized = tuple(argument if isinstance(argument, str) else np.uint64(argument) for argument in arguments)
    return Launch((grid, 1, 1), (block, 1, 1), sized)


def _elements(point: Point, count: int) -> Array:
    """An array of the point's type, which kernels fill."""
    return Array(np.dtype(point["dtype"]), count)


def block_partials(point: Point) -> Plan:
    """(data, partials, array_size): one launch, with a block and a partial for every block_size * unroll elements."""
    grid = _blocks(point["array_size"], point)
    launch = _launch(grid, point["block_size"], DATA, "partials", point["array_size"])
    return Plan((launch,), {"partials": _elements(point, grid)}, {"partials": grid})


def until_one_value(point: Point) -> Plan:
    """(data, partials, array_size): as block_partials, then the same kernel over its partials until one is left."""
    launches: list[Launch] = []
    source, count = DATA, point["array_size"]
    sizes: dict[str, int] = {}
    while not launches or count > 1:
        target = "partials" if len(launches) % 2 == 0 else "further_partials"
        grid = _blocks(count, point)
        launches.append(_launch(grid, point["block_size"], source, target, count))
        sizes[target] = max(grid, sizes.get(target, 0))
        source, count = target, grid
    return Plan(tuple(launches), {name: _elements(point, size) for name, size in sizes.items()}, {source: 1})


def two_stages(point: Point) -> Plan:
    """(data, partials, array_size): a partial from each of grid_size blocks, then one block over the partials."""
    grid = _grid(point)
    first = _launch(grid, point["block_size"], DATA, "partials", point["array_size"])
    second = _launch(1, point["block_size"], "partials", "value", grid)
    return Plan((first, second), {"partials": _elements(point, grid), "value": _elements(point, 1)}, {"value": 1})


def two_stages_of_any_block(point: Point) -> Plan:
    """As two_stages, but the second block has a thread for each partial, from 256 to 512, and an element for each."""
    plan = two_stages(point)
    first, second = plan.launches
    threads = min(max(first.blocks, 256), 512)
    shared_bytes = threads * np.dtype(point["dtype"]).itemsize
    return replace(plan, launches=(first, replace(second, block=(threads, 1, 1), shared_bytes=shared_bytes)))


def grid_partials(point: Point) -> Plan:
    """(data, partials, array_size): one launch of at most grid_size blocks, a partial a block."""
    grid = _fitted_grid(point)
    launch = _launch(grid, point["block_size"], DATA, "partials", point["array_size"])
    return Plan((launch,), {"partials": _elements(point, grid)}, {"partials": grid})


def single_launch(point: Point) -> Plan:
    """(data, partials, arrivals, value, array_size): one launch of at most grid_size blocks, which leaves one value.

    The blocks meet in `partials`, an element a block, and in `arrivals`, 16 bytes of zeros and 8 more a block.
    """
    return _single_launch(point, _fitted_grid(point))


def single_launch_of_clusters(point: Point) -> Plan:
    """As single_launch, with the number of blocks rounded up to whole thread block clusters."""
    return _single_launch(point, whole_clusters(_fitted_grid(point)))


def whole_clusters(blocks: Any) -> Any:
    """A number of blocks (or many), rounded up to whole thread block clusters."""
    return -(-blocks // _CLUSTER_SIZE) * _CLUSTER_SIZE


def three_stages(point: Point) -> Plan:
    """(data, array_size), in place: grid_size blocks leave a value a thread, then one block does, then one thread."""
    threads = _grid(point) * point["block_size"]
    launches = (
        _launch(_grid(point), point["block_size"], DATA, point["array_size"]),
        _launch(1, point["block_size"], DATA, min(point["array_size"], threads)),
        _launch(1, 1, DATA, min(point["array_size"], point["block_size"])),
    )
    return Plan(launches, results={DATA: 1})


def halving(point: Point) -> Plan:
    """(data, array_size, half), in place: a launch for each halving, which adds the upper half to the lower half."""
    launches: list[Launch] = []
    count = point["array_size"]
    while count > 1:
        half = (count + 1) // 2
        block = min(point["block_size"], count - half)
        launches.append(_launch(ceil((count - half) / block), block, DATA, count, half))
        count = half
    # An array of one element is its own result. The launch finds nothing to add.
    return Plan(tuple(launches) or (_launch(1, 1, DATA, 1, 1),), results={DATA: 1})


def one_to_one(point: Point) -> Plan:
    """(data, output, array_size): one launch, which leaves an element of output for every element of the input."""
    count = point["array_size"]
    launch = _launch(_blocks(count, point), point["block_size"], DATA, "output", count)
    return Plan((launch,), {"output": _elements(point, count)}, {"output": count})


def _blocks(count: int, point: Point) -> int:
    """The number of blocks that `count` elements need."""
    return int(-(-count // (point["block_size"] * point["unroll"])))


def library_call(point: Point) -> Plan:
    """(data, value, array_size): one call of a library, which leaves one value. Its launches are its own affair."""
    launch = _launch(1, 1, DATA, "value", point["array_size"])
    return Plan((launch,), {"value": _elements(point, 1)}, {"value": 1})


def _single_launch(point: Point, grid: int) -> Plan:
    launch = _launch(grid, point["block_size"], DATA, "partials", "arrivals", "value", point["array_size"])
    # Zero before the first launch. Every run must leave it zero again.
    arrivals = np.zeros((16 + 8 * grid) // 8, np.uint64)
    arrays = {
        "partials": _elements(point, grid),
        "value": _elements(point, 1),
        "arrivals": Array(arrivals.dtype, arrivals.size, arrivals),
    }
    return Plan((launch,), arrays, {"value": 1})


def _fitted_grid(point: Point) -> int:
    """The grid size of the sweep, or fewer blocks if the array has no vector for each thread and unroll factor."""
    block_elements = point["block_size"] * point["unroll"] * (VECTOR_BYTES // np.dtype(point["dtype"]).itemsize)
    return min(_grid(point), int(-(-point["array_size"] // block_elements)))


def _grid(point: Point) -> int:
    """The grid size of the sweep."""
    assert point["grid_size"] is not None, "the configuration is checked for it"
    return int(point["grid_size"])


PLANS: Mapping[str, Callable[[Point], Plan]] = {
    "block_partials": block_partials,
    "until_one_value": until_one_value,
    "two_stages": two_stages,
    "two_stages_of_any_block": two_stages_of_any_block,
    "three_stages": three_stages,
    "grid_partials": grid_partials,
    "single_launch": single_launch,
    "single_launch_of_clusters": single_launch_of_clusters,
    "halving": halving,
    "one_to_one": one_to_one,
    "library_call": library_call,
}


# The plans with a grid size, which is an axis of the sweep. Some fit it to the array; their kernels read in vectors.
FITTED_PLANS = ("grid_partials", "single_launch", "single_launch_of_clusters")
PLANS_WITH_A_GRID = ("two_stages", "two_stages_of_any_block", "three_stages", *FITTED_PLANS)


def block_elements(plan: str, point: Point) -> int:
    """The number of elements that a thread block takes in one round."""
    vector = VECTOR_BYTES // np.dtype(point["dtype"]).itemsize if plan in FITTED_PLANS else 1
    return int(point["block_size"] * point["unroll"] * vector)


def round_elements(plan: str, point: Point) -> int:
    """The number of elements that all blocks take in one round; one block's, if the array sets their number."""
    return block_elements(plan, point) * int(point.get("grid_size") or 1)


def edge_sizes(plan: str, point: Point) -> tuple[int, ...]:
    """Array sizes that show a mistake at the end of a block; the first one executes most code.

    If the sweep sets the grid size, the blocks come round a second time for the last elements.
    """
    block = block_elements(plan, point)
    largest = (round_elements(plan, point) if point.get("grid_size") else 3 * block) + 7
    return tuple(size for size in dict.fromkeys((largest, block - 1, block + 1, 1)) if size > 0)


def launched_points(plan: str, points: Iterable[Point]) -> list[Point]:
    """The points with the grid size that their plan launches, without duplicates.

    A plan that fits the grid to the array launches the same grid for every larger grid size of the sweep.
    """
    if plan not in PLANS_WITH_A_GRID:
        return list(points)
    return list(dict.fromkeys(point.at(grid_size=PLANS[plan](point).launches[0].blocks) for point in points))
