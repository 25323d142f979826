"""The interface of a problem: all that the other stages know of what a set of kernels computes.

The registry has the problems by name. A stage asks the record of a study's problem; none compares its name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from kernelsweep.problems.launch import UserLaunch

TILE_LENGTH = 4_194_301  # The largest prime below 2^22.

# A word of ones, repeated, is NaN in every floating-point type, and -1 in every type of integers.
ALL_ONES = 0xFFFFFFFF

# The kinds of arithmetic whose peak may be known; tf32 is that of tensor cores.
ARITHMETIC = ("float64", "float32", "float16", "int32", "tf32")

# The input of problems that have one array of it.
DATA = "data"

# Elements in the order in which they lie in memory, shape (count,).
Elements = np.ndarray[Any, np.dtype[Any]]

# A number that a kernel is passed. Python's have no width of their own.
Scalar = np.generic | bool | int | float

# A point: its value on each axis. A row of a result file holds these values, too.
Point = Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """One axis of a problem's points.

    of_kernel   whether it says how a kernel is written or launched; else it says what is computed, or under which
                condition
    in_variant  whether it is fixed when a variant is compiled; points that differ in other axes only share a variant
    of_study    whether each study has to set it, because the sweeps in config.yaml have no values for it
    has_texts   whether its values are texts instead of numbers
    values      its values where nothing sets it; None if something has to
    is_fixed    whether `values` are its only values
    """

    of_kernel: bool = False
    in_variant: bool = True
    of_study: bool = False
    has_texts: bool = False
    values: Sequence[Any] | None = None
    is_fixed: bool = False


@dataclass(frozen=True)
class Judgement:
    """A problem's judgement of a kernel's results.

    mistake         what is wrong with them, or None where they are right
    relative_error  of a floating-point sum, against the exactly rounded one
    output          the results themselves, where they are few enough to be shown
    error_share     the largest error of floats as a share of its bound, where the problem has bounds
    """

    mistake: str | None
    relative_error: float | None = None
    output: str = ""
    error_share: float | None = None


# For some elements of a result, in the order in which they lie in memory: the only right values; or the lowest right
# ones and the highest, each as float_order.order_of() gives them.
Limit = tuple[Elements] | tuple[Elements, Elements]


@dataclass(frozen=True)
class Limits:
    """The right values of a result's elements, in a form in which a device can compare them.

    is_exact     whether each element has one right value
    parts        gives the limits from the first element to the last, some elements at a time; None where none are known
    error_share  the largest error of a result's first elements, as a share of its bound; None where there is no bound
    """

    is_exact: bool
    parts: Callable[[], Iterable[Limit | None]]
    error_share: Callable[[Elements], float] | None = None


@dataclass(frozen=True, eq=False)
class Array:
    """One array on the device, which kernels are given by name.

    size       the number of elements
    contents   its elements before every run, repeated or cut to its size; None: it is poisoned before a checked run
    updated    whether kernels change its contents: True if they do, so that it is restored before every run; False if
               a kernel that leaves it changed is wrong; None if a run is to show it
    is_result  whether its elements are among the results where the launch plan names none

    An array of 2^32 elements costs the host no more than its contents, one repetition.
    """

    dtype: np.dtype[Any]
    size: int
    contents: Elements | None = None
    updated: bool | None = False
    is_result: bool = False

    def __post_init__(self) -> None:
        if not self.size or (self.contents is not None and not self.contents.size):
            raise ValueError("an array and its contents have at least one element")


class Instance(Protocol):
    """An instance of a problem: the data of some of its points, and the judge of their results."""

    @property
    def poison(self) -> int:
        """What arrays of integers without contents hold before a kernel writes there: a 32-bit word, repeated.

        Read as elements, it must show: wherever it is left, or is combined with right values, the results are wrong.
        """

    def arrays(self, point: Point) -> Mapping[str, Array]:
        """The arrays of a point by name, without those that only its launch plan knows.

        Contents that are equal at several points should be one object: then they stay on the device between the points.
        """

    def scalars(self, point: Point) -> Mapping[str, Scalar]:
        """The values by name that launches may pass besides arrays; Python's numbers take the parameter's width."""

    def limits(self) -> Mapping[str, Limits]:
        """The limits of each result by name; none if only judge() can tell.

        Results within them are right at all points of the instance, and judge() has nothing to say about them. Others
        may be right as well.
        """

    def expect(self, point: Point) -> None:
        """Find a point's right results now, if judge() would, and keep them."""

    def judge(self, point: Point, results: Mapping[str, Elements], depth: int) -> Judgement:
        """Compare a kernel's results with a reference of the host's own.

        results  the elements of each result by its array's name
        depth    the longest chain of roundings that an element's value goes through before it reaches the host
        """


class OneArray:
    """The data of an instance with one input and no scalars, for problems whose launch plans pass sizes themselves.

    tile  the elements of the input, which repeat
    """

    dtype: np.dtype[Any]
    tile: Elements

    def arrays(self, point: Point) -> Mapping[str, Array]:
        """The input. Whether a kernel changes it is found by a run."""
        return {DATA: Array(self.dtype, point["array_size"], self.tile, updated=None)}

    def scalars(self, point: Point) -> Mapping[str, Scalar]:
        """None."""
        return {}

    def limits(self) -> Mapping[str, Limits]:
        """None: right results differ from point to point."""
        return {}

    def expect(self, point: Point) -> None:
        """Nothing is kept."""


@dataclass(frozen=True, eq=False)
class Problem:
    """The computation of a set of kernels, with all properties that other stages need.

    axes                 the axes of its points, in the order in which points are listed; the last varies fastest
    template_parameters  the template parameters that a kernel may have, each with its C++ type
    template_values      a point's values for them; C++ types for parameters of type typename
    plans                the launch plans that lead to its result; the first is the default for a header that names none
    wrong_value          what is wrong with a value that a study gives an axis, for a kernel with these template
                         parameters, or None
    skip_reason          why a kernel of this name can't run at a point, or None
    make_instance        the instance for a kernel of this name and a point, from the number of elements of the longest
                         array and a seed
    instance_axes        the axes that an instance depends on
    work                 the work of one run at a point by unit: "bytes" counts each byte of the input once,
                         "flops" are of the kind "arithmetic", one of ARITHMETIC
    races                whether all kernels do the same work: then the fastest is the best, and the host, libraries and
                         the driver may do the same work beside them
    draws_accesses       whether the accesses of a kernel's warps are worth a picture
    table                a study's table, by its name in publish/tables
    size_axes            the axes that say how large a problem is, and which: tables and figures have a row or a column
                         for each combination of their values
    shows_output         whether a row has the output that a study with this reference point compares with published
                         outputs; None if the study compares times instead
    lists_excluded       whether points that a restriction excludes are rows, too, with the restriction as their reason
    described            a problem file with the study's axes, as the registry names it; None for a problem that ships
    files                the files besides this library whose edits may change results
    doubts               a sentence for each plain mistake that the check of results at a point would not find; from a
                         seed
    references           the folder in which references are kept; None if each instance computes its own
    prepare              computes the reference of a point, from a seed, and keeps it in that folder
    launches             the launches of a kernel of this name at a point, where the problem says them
    launch_axes          the axes that these launches depend on
    edge_sizes           the array sizes of a sweep that show a mistake at an edge, the best first; None if these are
                         the sizes around the ends of thread blocks
    """

    name: str
    axes: Mapping[str, Axis]
    template_parameters: Mapping[str, str]
    template_values: Callable[[Point], Mapping[str, Any]]
    plans: Sequence[str]
    wrong_value: Callable[[Collection[str], str, Any], str | None]
    skip_reason: Callable[[str, Point], str | None]
    make_instance: Callable[[str, Point, int, int], Instance]
    instance_axes: Sequence[str]
    work: Callable[[Point], Mapping[str, Any]]
    races: bool
    draws_accesses: bool
    table: str
    shows_output: Callable[[Point, Point], bool] | None = None
    size_axes: Sequence[str] = ("array_size",)
    lists_excluded: bool = True
    described: Mapping[str, Any] | None = None
    files: Sequence[Path] = ()
    references: Path | None = None
    prepare: Callable[[Point, int], None] = lambda point, seed: None
    launches: Callable[[str, Point], Sequence[UserLaunch]] | None = None
    launch_axes: Sequence[str] = ()
    doubts: Callable[[Point, int], Sequence[str]] = lambda point, seed: ()

    @property
    def named(self) -> str | Mapping[str, Any]:
        """The problem as settings and tasks name it, for registry.problem_of()."""
        return self.name if self.described is None else self.described

    edge_sizes: Callable[[Sequence[int]], Sequence[int]] | None = None

    def size(self, point: Point) -> float:
        """How large the problem is at a point: the product of the numbers on its size axes."""
        return float(prod(value for axis in self.size_axes if not isinstance(value := point[axis], str)))


def input_bytes(point: Point) -> Mapping[str, int]:
    """The work at a point of a problem whose input is one array, read once."""
    return {"bytes": int(point["array_size"]) * np.dtype(point["dtype"]).itemsize}
