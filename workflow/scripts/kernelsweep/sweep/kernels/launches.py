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
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from kernelsweep.errors import UserError, nearest
from kernelsweep.problems.element_types import CXX_TYPES
from kernelsweep.problems.problem import Array
from kernelsweep.problems.problem_file import Problem
from kernelsweep.sweep.expressions import Expression, expression
from kernelsweep.sweep.kernels.plan import Launch, Plan
from kernelsweep.sweep.kernels.units import variant_name
from kernelsweep.sweep.point import Point

# CUDA's limits for the sides of a grid and of a block, and for the threads of a block.
_LARGEST_GRID = (2**31 - 1, 65_535, 65_535)
_LARGEST_BLOCK = (1024, 1024, 64)
_MOST_THREADS = 1024

_KERNEL = re.compile(r"\s*(?P<name>[A-Za-z_]\w*(?:::\w+)*)\s*(?:<(?P<arguments>.*)>)?\s*", re.DOTALL)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
# A type or another C++ name: a template argument that is no expression over the axes.
_CXX_NAME = re.compile(r"[A-Za-z_][\w:\s*<>]*")

# A C++ function's name, and expressions for its template arguments, or types; none for a function that is no template.
Function = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class ListedLaunch:
    """One launch as the study or the problem says it.

    function   what is launched; None for the kernel's own function
    grid       up to three numbers or expressions, rounded up
    block      up to three whole numbers or expressions for them
    shared     the bytes of dynamic shared memory, or an expression for them; None for the kernel's own
    arguments  names of arrays, scalars and axes, expressions over the axes, or numbers
    """

    function: Function | None
    grid: tuple[str | float, ...]
    block: tuple[str | float, ...]
    shared: str | float | None
    arguments: tuple[str | float | np.generic, ...]


@dataclass(frozen=True)
class KernelArray:
    """An array of a kernel's own: an expression for its number of elements, its type, and what it holds at first.

    dtype  an element type, or the axis that has it
    value  of each element before every run, which every run has to leave; None: nothing is known of them
    """

    size: str
    dtype: str
    value: float | None = None


@dataclass(frozen=True)
class KernelLaunches:
    """The launches of one run of a kernel, and how axes reach the compiler.

    place      where they stand, for messages
    kernel     the kernel's name
    problem    which has a function `launches` where `listed` is empty
    listed     in their order
    function   what a launch starts that names nothing else
    shared     the bytes of dynamic shared memory of a launch that says nothing else, or an expression for them
    macros     expressions by the name of the macro that is defined as their value
    constants  the inputs that are copied to variables of their name in constant memory
    arrays     the kernel's own, by name
    results    expressions for the number of elements that are results, from an array's start, by the array's name;
               empty: the problem's outputs
    updates    the inputs that the kernel changes
    cxx        C++ names of axes' values, by axis and value
    """

    place: str
    kernel: str
    problem: Problem = field(compare=False, repr=False)
    listed: tuple[ListedLaunch, ...]
    function: Function
    shared: str = "0"
    macros: Mapping[str, str] = field(default_factory=dict)
    constants: tuple[str, ...] = ()
    arrays: Mapping[str, KernelArray] = field(default_factory=dict)
    results: Mapping[str, str] = field(default_factory=dict)
    updates: tuple[str, ...] = ()
    cxx: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    _known: dict[tuple[Any, ...], tuple[ListedLaunch, ...]] = field(default_factory=dict, compare=False, repr=False)

    def macro_values(self, point: Mapping[str, Any]) -> dict[str, str]:
        """The macros of a point's translation unit."""
        return {name: self._cxx(value, point) for name, value in self.macros.items()}

    @property
    def variant_names(self) -> set[str]:
        """The names in the macros and template arguments, among them the axes that a variant depends on."""
        functions = [launch.function or self.function for launch in self.listed] or [self.function]
        texts = [*self.macros.values(), *(text for _, template in functions for text in template)]
        named = {name for text in texts if _is_expression(text) for name in expression(text).names}
        return named if self.listed else named | {*self.problem.launch_axes}

    @property
    def launch_names(self) -> set[str]:
        """The names in the grids, blocks and sizes, among them the axes by which launches can be wrong."""
        texts = [text for one in self.listed for text in (*one.grid, *one.block, one.shared)]
        texts += [self.shared, *self.results.values(), *(array.size for array in self.arrays.values())]
        named = {name for text in texts if isinstance(text, str) for name in expression(text).names}
        return named if self.listed else named | {*self.problem.launch_axes}

    def functions(self, point: Mapping[str, Any]) -> list[str]:
        """The C++ names of the functions that a point launches, without duplicates. Raises UserError."""
        return list(dict.fromkeys(self._function(launch, point) for launch in self._launches(point)))

    def at(self, point: Mapping[str, Any]) -> Plan:
        """The plan of a point. Raises UserError for a grid or a block that CUDA doesn't allow."""
        macros = self.macro_values(point)
        try:
            launches = tuple(
                Launch(
                    grid=_sides(launch.grid, "grid", _LARGEST_GRID, point),
                    block=_block(launch.block, point),
                    arguments=tuple(_argument(argument, point) for argument in launch.arguments),
                    function=variant_name([self._function(launch, point)], macros),
                    shared_bytes=int(_value(self.shared if launch.shared is None else launch.shared, point)),
                )
                for launch in self._launches(point)
            )
            return Plan(
                launches,
                {name: _array(array, point) for name, array in self.arrays.items()},
                {name: math.ceil(expression(count)(point)) for name, count in self.results.items()},
                self.updates,
                self.constants,
            )
        except UserError as error:
            raise UserError(f"{self.place}: {error}") from error

    def as_values(self) -> dict[str, Any]:
        """Plain values for a pipe; launches_of_task() makes launches of them."""
        return {
            "place": self.place,
            "kernel": self.kernel,
            "listed": [[one.function, one.grid, one.block, one.shared, one.arguments] for one in self.listed],
            "function": self.function,
            "shared": self.shared,
            "macros": dict(self.macros),
            "constants": list(self.constants),
            "arrays": {name: [array.size, array.dtype, array.value] for name, array in self.arrays.items()},
            "results": dict(self.results),
            "updates": list(self.updates),
            "cxx": {axis: dict(names) for axis, names in self.cxx.items()},
        }

    def _function(self, launch: ListedLaunch, point: Mapping[str, Any]) -> str:
        """The C++ name of the function that a launch starts, such as ``rows<16, 4, 2>``."""
        name, template = launch.function or self.function
        return f"{name}<{', '.join(self._cxx(argument, point) for argument in template)}>" if template else name

    def _cxx(self, text: str, point: Mapping[str, Any]) -> str:
        """A template argument or a macro's value at a point, as C++ spells it."""
        if text in self.cxx:
            return self.cxx[text].get(str(point[text]), str(point[text]))
        if not _is_expression(text) or not expression(text).names <= set(point):
            return text
        return _text(expression(text)(point))

    def _launches(self, point: Mapping[str, Any]) -> tuple[ListedLaunch, ...]:
        """The launches of a point. A plan asks for them several times."""
        if self.listed:
            return self.listed
        values = tuple(point[axis] for axis in self.problem.launch_axes)
        if values not in self._known:
            self._known[values] = tuple(
                ListedLaunch(
                    function_name(launch.kernel, f"{self.place}.{number}.kernel") if launch.kernel else None,
                    tuple(launch.grid) if isinstance(launch.grid, Sequence) else (launch.grid,),
                    tuple(launch.block) if isinstance(launch.block, Sequence) else (launch.block,),
                    launch.shared,
                    tuple(launch.arguments),
                )
                for number, launch in enumerate(self.problem.launches(self.kernel, point))
            )
        return self._known[values]


def launches_of_task(values: Mapping[str, Any], problem: Problem) -> KernelLaunches:
    """The launches that as_values() made `values` of, after their way through JSON."""
    listed = [
        ListedLaunch(_function(function), tuple(grid), tuple(block), shared, tuple(arguments))
        for function, grid, block, shared, arguments in values["listed"]
    ]
    function = _function(values["function"])
    assert function is not None
    return KernelLaunches(
        **{
            **values,
            "problem": problem,
            "listed": tuple(listed),
            "function": function,
            "constants": tuple(values["constants"]),
            "arrays": {name: KernelArray(*array) for name, array in values["arrays"].items()},
            "updates": tuple(values["updates"]),
        }
    )


def _function(value: Any) -> Function | None:
    return None if value is None else (value[0], tuple(value[1]))


def read_launches(
    entry: Mapping[str, Any], problem: Problem, cxx: Mapping[str, Mapping[str, str]], shown: str
) -> KernelLaunches:
    """The launches of a kernel as its checked settings in the study say them.

    entry  the settings
    cxx    the study's C++ names of axes' values
    shown  the kernel's place in messages

    Raises UserError, with `shown` and the key, for an expression over something else than the axes.
    """
    axes = problem.axes
    texts = {axis for axis, of_axis in axes.items() if of_axis.has_texts}
    listed = []
    for number, launch in enumerate(entry["launches"]):
        where = f"{shown}: launches.{number}"
        function = None
        if launch["kernel"] is not None:
            function = _checked_function(launch["kernel"], axes, texts, f"{where}.kernel")
        sides = {key: _expressions(launch[key]) for key in ("grid", "block")}
        shared = None if launch["shared"] is None else str(launch["shared"])
        for key, of_key in (*sides.items(), ("shared", () if shared is None else (shared,))):
            for text in of_key:
                _check_number(text, axes, texts, f"{where}.{key}")
        arguments = tuple(str(argument) for argument in launch["arguments"])
        for argument in arguments:
            if not _IDENTIFIER.fullmatch(argument):
                _check_number(argument, axes, texts, f"{where}.arguments")
        listed.append(ListedLaunch(function, sides["grid"], sides["block"], shared, arguments))
    if not listed and "launches" not in problem.functions:
        raise UserError(
            f"{shown} has no launches. List them in the study, or have {problem.name} return them from a function "
            "launches."
        )
    if entry["results"] and "result" not in problem.functions:
        raise UserError(
            f"{shown}: results names {', '.join(entry['results'])}. {problem.name} has no function result, which "
            "would make of them what is compared with the reference."
        )
    _check_number(str(entry["shared"]), axes, texts, f"{shown}: shared")
    results = {name: str(count) for name, count in entry["results"].items()}
    for name, count in results.items():
        _check_number(count, axes, texts, f"{shown}: results.{name}")
    return KernelLaunches(
        place=f"{shown}: launches" if listed else f"{problem.name}: launches",
        kernel=entry["name"],
        problem=problem,
        listed=tuple(listed),
        function=_checked_function(entry["function"] or entry["name"], axes, texts, f"{shown}: function"),
        shared=str(entry["shared"]),
        macros=read_macros(entry["macros"], axes, texts, shown),
        constants=tuple(entry["constants"]),
        arrays={
            name: _read_array(array, axes, texts, f"{shown}: arrays.{name}") for name, array in entry["arrays"].items()
        },
        results=results,
        updates=tuple(entry["updates"]),
        cxx=cxx,
    )


def _read_array(array: Mapping[str, Any], axes: Mapping[str, Any], texts: Collection[str], where: str) -> KernelArray:
    _check_number(str(array["size"]), axes, texts, f"{where}.size")
    if array["dtype"] not in (*texts, *CXX_TYPES):
        known = [*texts, *CXX_TYPES]
        guess = nearest(array["dtype"], known) or ";"
        raise UserError(f"{where}.dtype is {array['dtype']!r}{guess} Allowed: {', '.join(known)}.")
    return KernelArray(str(array["size"]), array["dtype"], array["value"])


def _array(array: KernelArray, point: Mapping[str, Any]) -> Array:
    """An array of a kernel's own at a point."""
    dtype = np.dtype(point.get(array.dtype, array.dtype))
    contents = None if array.value is None else np.full(1, array.value, dtype)
    return Array(dtype, max(math.ceil(expression(array.size)(point)), 1), contents)


def _checked_function(text: str, axes: Mapping[str, Any], texts: Collection[str], where: str) -> Function:
    """A function with its template arguments. Raises UserError for one that can't be computed."""
    name, template = function_name(text, where)
    for argument in template:
        _check_template_argument(argument, axes, texts, where)
    return name, template


def function_name(text: str, where: str) -> tuple[str, tuple[str, ...]]:
    """A C++ function's name and its template arguments. Raises UserError for anything else."""
    match = _KERNEL.fullmatch(text)
    if match is None:
        raise UserError(f"{where} is {text!r}. Allowed: a name such as rows or rows<rows_x, 4>.")
    return match["name"], tuple(_split(match["arguments"])) if match["arguments"] is not None else ()


def read_macros(macros: Sequence[Any], axes: Mapping[str, Any], texts: Collection[str], shown: str) -> dict[str, str]:
    """Expressions by macro: each entry is an axis of the macro's name, or a mapping of macros to expressions."""
    found: dict[str, str] = {}
    for number, entry in enumerate(macros):
        for name, value in entry.items() if isinstance(entry, Mapping) else [(entry, entry)]:
            where = f"{shown}: macros.{number}"
            if not _IDENTIFIER.fullmatch(name):
                raise UserError(f"{where} defines {name!r}, which is no name of a macro.")
            if name in found:
                raise UserError(f"{where} defines {name} a second time.")
            found[name] = str(value)
            try:
                Expression(found[name], axes, texts)
            except UserError as error:
                raise UserError(f"{where}: {error}") from error
    return found


def _check_number(text: str, axes: Mapping[str, Any], texts: Collection[str], where: str) -> None:
    try:
        Expression(text, axes, texts)
    except UserError as error:
        raise UserError(f"{where}: {error}") from error


def _check_template_argument(text: str, axes: Mapping[str, Any], texts: Collection[str], where: str) -> None:
    """Raise UserError for a template argument that is neither an expression over the axes nor a C++ name."""
    try:
        Expression(text, axes, texts)
    except UserError as error:
        if not _CXX_NAME.fullmatch(text) or (guess := nearest(text, axes)):
            raise UserError(f"{where}: {error}{guess if _CXX_NAME.fullmatch(text) else ''}") from error


def _expressions(value: Any) -> tuple[str, ...]:
    return tuple(str(part) for part in value) if isinstance(value, list) else (str(value),)


def _split(arguments: str) -> list[str]:
    """The arguments of a template, separated by commas outside of brackets."""
    parts, depth = [""], 0
    for character in arguments:
        depth += (character in "<([") - (character in ">)]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


@cache
def _is_expression(text: str) -> bool:
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


def _value(given: str | float, point: Mapping[str, Any]) -> Any:
    """A number, or an expression's value at a point."""
    return expression(given)(point) if isinstance(given, str) else given


def _sides(
    texts: Sequence[str | float], key: str, largest: Sequence[int], point: Mapping[str, Any]
) -> tuple[int, int, int]:
    sides = [math.ceil(_value(text, point)) for text in texts] + [1] * (3 - len(texts))
    for text, side, limit in zip(texts, sides, largest, strict=False):
        if not 1 <= side <= limit:
            raise UserError(f"{_side(key, text)} is {side} at {Point(point)}. Allowed: 1 to {limit:,}.")
    return (sides[0], sides[1], sides[2])


def _side(key: str, text: str | float) -> str:
    """A side for a message, with its expression if it has one."""
    return f"the {key}'s side {text!r}" if isinstance(text, str) else f"the {key}'s side"


def _block(texts: Sequence[str | float], point: Mapping[str, Any]) -> tuple[int, int, int]:
    for text in texts:
        if (value := _value(text, point)) != int(value):
            raise UserError(f"{_side('block', text)} is {value} at {Point(point)}. Allowed: whole numbers.")
    block = _sides(texts, "block", _LARGEST_BLOCK, point)
    if math.prod(block) > _MOST_THREADS:
        raise UserError(
            f"the block {' x '.join(map(str, block))} has {math.prod(block)} threads at {Point(point)}. "
            f"Allowed: up to {_MOST_THREADS}. Add a restriction."
        )
    return block


def _argument(text: str | float | np.generic, point: Mapping[str, Any]) -> Any:
    """An argument at a point: a number, an axis' value, an expression's, or the name of an array or of a scalar."""
    if not isinstance(text, str):
        return text
    if text in point:
        return point[text]
    return text if _IDENTIFIER.fullmatch(text) else expression(text)(point)
