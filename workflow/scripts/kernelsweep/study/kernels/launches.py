"""The launches of one run of a kernel: listed by the study, or returned by the problem's function `launches`.

launches:
  - kernel: rows<rows_x, rows_y, radius>
    grid: [width / rows_x, height / rows_y]
    block: [rows_x, rows_y]
    shared: 4 * rows_x * rows_y
    arguments: [middle, image, width, height]

Grids, blocks, template arguments and sizes are expressions over the axes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from kernelsweep.base.cxx import split_list
from kernelsweep.errors import UserError, nearest
from kernelsweep.study.expressions import check_expression, expression, number
from kernelsweep.study.kernels.plan import PLAIN, TENSOR_MAP, Attributes, Launch, Plan, array_of
from kernelsweep.study.kernels.units import TOOLKIT, variant_name
from kernelsweep.study.point import Point
from kernelsweep.study.problem.array_values import read_declared
from kernelsweep.study.problem.problem import CXX_TYPES, Array
from kernelsweep.study.problem.problem_file import Problem, UserLaunch
from kernelsweep.study.settings import KernelArray, KernelSettings, LaunchSettings, sides_of

# CUDA's limits for the sides of a grid and of a block, and for the threads of a block.
_LARGEST_GRID = (2**31 - 1, 65_535, 65_535)
_LARGEST_BLOCK = (1024, 1024, 64)
MOST_THREADS = 1024
# On an H100, where a kernel allows more than the portable 8.
_LARGEST_CLUSTER = (16, 16, 16)

_KERNEL = re.compile(r"\s*(?P<name>[A-Za-z_]\w*(?:::\w+)*)\s*(?:<(?P<arguments>.*)>)?\s*", re.DOTALL)
# An array with an offset.
_SHIFTED = re.compile(r"\s*&?\s*([A-Za-z_]\w*)\s*[-+\[]")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_CXX_TYPE = re.compile("__|u?int|float|double|half|bool|char|short|long|(un)?signed|true|false|size_t|nv_")

# An expression over the axes in an option.
_SLOT = re.compile(r"\{([^{}]*)\}")
# The keys of the formulas that a variant depends on, and of those by which launches can be wrong.
_OF_VARIANTS, _OF_SIZES = re.compile("^(macros|options)"), re.compile("(grid|block|cluster|shared|size)$|^results")
# The axis whose values are releases of the CUDA toolkit.
OF_TOOLKITS = "toolkit"

# A launch as the study says it, or as the problem's function returns it.
SomeLaunch = LaunchSettings | UserLaunch


@dataclass(frozen=True)
class KernelLaunches:
    """The launches of one run of a kernel, and how axes reach the compiler.

    place    where they stand, for messages
    problem  which has a function `launches` where the study lists none
    entry    the kernel's settings in the study
    cxx      C++ names of axes' values, by axis and value
    """

    place: str
    problem: Problem = field(compare=False, repr=False)
    entry: KernelSettings
    cxx: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    _known: dict[tuple[Any, ...], Sequence[UserLaunch]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def listed(self) -> Sequence[LaunchSettings]:
        """The launches that the study lists; without any, the problem's function returns them."""
        return self.entry.launches

    @property
    def function(self) -> str:
        """What a launch starts that names nothing else, with its template arguments."""
        return self.entry.function or self.entry.name

    @cached_property
    def macros(self) -> Mapping[str, str]:
        """Expressions by the name of the macro that is defined as their value."""
        return {name: value for _, name, value in _macros(self.entry)}

    def given(self, point: Mapping[str, Any]) -> dict[str, str]:
        """What the compiler is given for a point's translation unit alone, as units.Unit has it."""
        if self.entry.build:  # It gets values as they are.
            return {name: str(point[name]) for name in self.macros}
        given = {name: self._cxx(value, point) for name, value in self.macros.items()}
        for option in filter(_SLOT.search, self.entry.options):
            given[_SLOT.sub(lambda slot: self._cxx(slot[1].strip(), point), option)] = ""
        return given | ({TOOLKIT: str(point[OF_TOOLKITS])} if OF_TOOLKITS in point else {})

    @cached_property
    def variant_names(self) -> set[str]:
        """The names in macros, options and template arguments, among them the axes that a variant depends on."""
        functions = [launch.kernel or self.function for launch in self.listed] or [self.function]
        templates = (text for function in functions for text in function_name(function)[1] if is_expression(text))
        return self._names(_OF_VARIANTS, OF_TOOLKITS, *templates)

    @cached_property
    def misspelt(self) -> list[str]:
        """Template arguments that may be misspelt axes, and may be names of the source."""
        functions = [launch.kernel or self.function for launch in self.listed] or [self.function]
        words = {text for function in functions for text in function_name(function)[1] if _IDENTIFIER.fullmatch(text)}
        others = sorted(word for word in words if word not in self.problem.axes and not _CXX_TYPE.match(word))
        return [word for word in others if nearest(word, self.problem.axes, similarity=0.75)]

    @cached_property
    def launch_names(self) -> set[str]:
        """The names in the grids, blocks and sizes, among them the axes by which launches can be wrong."""
        return self._names(_OF_SIZES)

    def _names(self, keys: re.Pattern[str], *texts: str) -> set[str]:
        """The names in the formulas of these keys, and in further texts."""
        formulas = (str(text) for key, text in _formulas(self.entry) if keys.search(key))
        named = {name for text in (*texts, *formulas) for name in expression(text).names}
        return named if self.listed else named | {*self.problem.launch_axes}

    def functions(self, point: Mapping[str, Any]) -> list[str]:
        """The C++ names of the functions that a point launches, without duplicates. Raises UserError."""
        return list(dict.fromkeys(self._function(launch, point) for launch in self._launches(point)))

    def at(self, point: Mapping[str, Any]) -> Plan:
        """The plan of a point. Raises UserError for a grid or a block that CUDA doesn't allow."""
        given = self.given(point)
        try:
            if self._launches(point)[0].programmatic:
                raise UserError("the first launch is programmatic, and none of the run is before it.")
            launches = tuple(
                Launch(
                    grid=_sides(sides_of(launch.grid), "grid", _LARGEST_GRID, point),
                    block=_block(sides_of(launch.block), point),
                    arguments=tuple(_argument(argument, point) for argument in launch.arguments),
                    function=variant_name([self._function(launch, point)], given),
                    shared_bytes=_shared(self.entry.shared if launch.shared is None else launch.shared, point),
                    attributes=_attributes(launch, point),
                )
                for launch in self._launches(point)
            )
            return Plan(
                launches,
                {name: _array(name, array, point) for name, array in self.entry.arrays.items()},
                {name: math.ceil(number(count, point)) for name, count in self.entry.results.items()},
                tuple(self.entry.updates),
                tuple(self.entry.constants),
                tuple(self.entry.variables),
            )
        except UserError as error:
            raise UserError(f"{self.place}: {error}") from error

    def as_values(self) -> dict[str, Any]:
        """Plain values for a pipe; launches_of_task() makes launches of them."""
        return {"place": self.place, "entry": self.entry.values(), "cxx": self.cxx}

    def _function(self, launch: SomeLaunch, point: Mapping[str, Any]) -> str:
        """The C++ name of the function that a launch starts, such as ``rows<16, 4, 2>``."""
        name, template = function_name(launch.kernel or self.function)
        return f"{name}<{', '.join(self._cxx(argument, point) for argument in template)}>" if template else name

    def _cxx(self, text: str, point: Mapping[str, Any]) -> str:
        """A template argument or a macro's value at a point, as C++ spells it."""
        if text in self.cxx:
            return self.cxx[text].get(str(point[text]), str(point[text]))
        if not is_expression(text) or not expression(text).names <= set(point):
            return text
        return _text(expression(text)(point))

    def _launches(self, point: Mapping[str, Any]) -> Sequence[SomeLaunch]:
        """The launches of a point. A plan asks for them several times."""
        if self.listed:
            return self.listed
        values = tuple(point[axis] for axis in self.problem.launch_axes)
        if values not in self._known:
            self._known[values] = self.problem.launches(self.entry.name, point)
        return self._known[values]


def launches_of_task(values: Mapping[str, Any], problem: Problem) -> KernelLaunches:
    """The launches that as_values() made `values` of, after their way through JSON."""
    return KernelLaunches(values["place"], problem, KernelSettings.of_job(values["entry"]), values["cxx"])


def read_launches(
    entry: KernelSettings, problem: Problem, cxx: Mapping[str, Mapping[str, str]], where: Callable[[str], str]
) -> KernelLaunches:
    """The launches of a kernel as its settings in the study say them.

    cxx    the study's C++ names of axes' values
    where  gives the kernel's place in messages on one of its keys

    Raises UserError, with `shown` and the key, for an expression over something else than the axes.
    """
    axes = problem.axes
    if not entry.launches and "launches" not in problem.functions:
        raise UserError(
            f"{where('name')} has no launches. List them in the study, or have {problem.name} return them from a "
            "function launches."
        )
    for key, text in _formulas(entry):
        try:
            check_expression(str(text), axes, f"{where(key)}: {key}")
        except UserError as error:
            if key.endswith("arguments") and (array := _SHIFTED.match(str(text))) and array[1] not in axes:
                raise UserError(
                    f"{error}. If {array[1]} is an array: for a pointer that is 16 bytes further, let inputs return a "
                    f'scalar np.array((16,), [("{array[1]}", np.uint64)]), and pass its name'
                ) from error
            raise
    for text in (entry.function or entry.name, *(one.kernel for one in entry.launches if one.kernel)):
        try:
            function_name(text)
        except UserError as error:
            raise UserError(f"{where('launches')}: {error}") from error
    place = f"{where('launches')}: launches" if entry.launches else f"{problem.name}: launches"
    return KernelLaunches(place, problem, entry, cxx)


def _macros(entry: KernelSettings) -> Iterator[tuple[str, str, str]]:
    """The key, name and expression of each macro: an entry is an axis of that name, or has macros with expressions."""
    for place, one in enumerate(entry.macros):
        for name, value in [(one, one)] if isinstance(one, str) else one.items():
            yield f"macros.{place}", name, str(value)


def _formulas(entry: KernelSettings) -> Iterator[tuple[str, str | float]]:
    """The expressions over the axes in a kernel's settings, each with its key."""
    for place, launch in enumerate(entry.launches):
        where = f"launches.{place}"
        yield from ((f"{where}.grid", text) for text in sides_of(launch.grid))
        yield from ((f"{where}.block", text) for text in sides_of(launch.block))
        yield from ((f"{where}.cluster", text) for text in sides_of(launch.cluster or 1))
        yield f"{where}.shared", launch.shared or 0
        for argument in launch.arguments:
            if box := TENSOR_MAP.fullmatch(str(argument)):
                yield from ((f"{where}.arguments", side) for side in split_list(box[2]))
            elif not _IDENTIFIER.fullmatch(array_of(str(argument))):
                yield f"{where}.arguments", argument
    yield "shared", entry.shared
    yield from ((f"results.{name}", count) for name, count in entry.results.items())
    yield from ((f"arrays.{name}.size", array.size) for name, array in entry.arrays.items())
    yield from ((key, value) for key, _, value in _macros(entry))
    yield from ((f"options.{place}", slot) for place, one in enumerate(entry.options) for slot in _SLOT.findall(one))


def _array(name: str, array: KernelArray, point: Mapping[str, Any]) -> Array:
    if (size := math.ceil(number(array.size, point))) < 0:
        raise UserError(f"arrays.{name}.size is {size}. Allowed: numbers from 0.")
    size = max(size, 1)
    value = () if array.value is None else (array.value,)
    read = read_declared((size, point.get(array.dtype, array.dtype), *value), f"arrays.{name}")
    return Array(read.dtype, size, read.contents)


# A plan asks for the same functions at every point.
@cache
def function_name(text: str) -> tuple[str, tuple[str, ...]]:
    """A C++ function's name and its template arguments. Raises UserError for anything else."""
    match = _KERNEL.fullmatch(text)
    if match is None:
        raise UserError(f"{text!r} is no function. Allowed: a name such as rows or rows<rows_x, 4>.")
    if match["arguments"] is None:
        return match["name"], ()
    return match["name"], tuple(split_list(match["arguments"], "<>()[]") or [""])


@cache
def is_expression(text: str) -> bool:
    """Whether a text is an expression, by its form."""
    try:
        expression(text)
    except UserError:
        return False
    return True


def _text(value: Any) -> str:
    """An axis' value as C++ spells it: element types by their C++ name, whole numbers without a fraction."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return CXX_TYPES.get(value, str(value)) if isinstance(value, str) else str(value)


def _shared(text: str | float, point: Mapping[str, Any]) -> int:
    if not 0 <= (size := number(text, point)) < (most := _LARGEST_GRID[0]):
        raise UserError(f"the shared memory {text!r} is {size} at {Point(point)}. Allowed: 0 to {most - 1:,} bytes.")
    return int(size)


def _sides(
    texts: Sequence[str | float], key: str, largest: Sequence[int], point: Mapping[str, Any]
) -> tuple[int, int, int]:
    if not 1 <= len(texts) <= 3:
        raise UserError(f"the {key} has {len(texts)} sides. Allowed: up to three.")
    sides = [math.ceil(number(text, point)) for text in texts] + [1] * (3 - len(texts))
    for text, side, limit in zip(texts, sides, largest, strict=False):
        if not 1 <= side <= limit:
            value = f"'s side {text!r} is {side} at {Point(point)}" if str(text) != str(side) else f" has a side {side}"
            raise UserError(f"the {key}{value}. Allowed: 1 to {limit:,}.")
    return (sides[0], sides[1], sides[2])


def _attributes(launch: SomeLaunch, point: Mapping[str, Any]) -> Attributes:
    """Raises UserError for a cluster that CUDA doesn't allow."""
    how = (launch.cooperative, launch.programmatic)
    if launch.cluster is None:
        return Attributes((), *how) if any(how) else PLAIN
    cluster = _sides(sides_of(launch.cluster), "cluster", _LARGEST_CLUSTER, point)
    grid = _sides(sides_of(launch.grid), "grid", _LARGEST_GRID, point)
    if any(side % of_cluster for side, of_cluster in zip(grid, cluster, strict=True)):
        raise UserError(
            f"the grid {' x '.join(map(str, grid))} is no multiple of the cluster {' x '.join(map(str, cluster))} at "
            f"{Point(point)}. Add a restriction."
        )
    return Attributes(cluster, *how)


def _block(texts: Sequence[str | float], point: Mapping[str, Any]) -> tuple[int, int, int]:
    for text in texts:
        if (value := number(text, point)) != int(value):
            raise UserError(f"the block's side {text!r} is {value} at {Point(point)}. Allowed: whole numbers.")
    block = _sides(texts, "block", _LARGEST_BLOCK, point)
    if math.prod(block) > MOST_THREADS:
        raise UserError(
            f"the block {' x '.join(map(str, block))} has {math.prod(block)} threads at {Point(point)}. "
            f"Allowed: up to {MOST_THREADS}. Add a restriction."
        )
    return block


def _argument(text: str | float | np.generic, point: Mapping[str, Any]) -> Any:
    """An argument at a point: a number, an axis' value, an expression's, or what names an array or a scalar."""
    if not isinstance(text, str):
        return text
    if text in point:
        return point[text]
    if made := TENSOR_MAP.fullmatch(text):
        box = ", ".join(f"{number(side, point):g}" for side in split_list(made[2]))
        return f"tensor_map({made[1]}, {box}, swizzle={made[3] or 0})"
    return text if _IDENTIFIER.fullmatch(array_of(text)) else expression(text)(point)
