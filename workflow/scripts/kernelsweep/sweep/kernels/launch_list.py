"""Launches as a study's file lists them: a kernel, its grid and its block as expressions over the axes, its arguments.

launches:
  - kernel: rows<rows_x, rows_y, radius>
    grid: [width / rows_x, height / rows_y]
    block: [rows_x, rows_y]
    shared: 4 * rows_x * rows_y
    arguments: [middle, image, width, height]
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kernelsweep.errors import UserError, nearest
from kernelsweep.problems.element_types import OWN_TYPES
from kernelsweep.sweep.expressions import Expression, expression
from kernelsweep.sweep.kernels.launch_plans import Launch, Plan
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


@dataclass(frozen=True)
class ListedLaunch:
    """One entry of a list of launches.

    kernel     the C++ function's name
    template   expressions for its template arguments, or types; empty for a function that is no template
    grid       up to three numbers or expressions, rounded up
    block      up to three whole numbers or expressions for them
    shared     the bytes of dynamic shared memory, or an expression for them
    arguments  names of arrays, scalars and axes, expressions over the axes, or numbers
    """

    kernel: str
    template: tuple[str, ...]
    grid: tuple[str | float, ...]
    block: tuple[str | float, ...]
    shared: str | float
    arguments: tuple[str | float | np.generic, ...]

    def function(self, point: Mapping[str, Any]) -> str:
        """The C++ name of the function that a point launches, such as ``rows<16, 4, 2>``."""
        if not self.template:
            return self.kernel
        return f"{self.kernel}<{', '.join(_cxx(argument, point) for argument in self.template)}>"


@dataclass(frozen=True)
class LaunchList:
    """The launches of one run of a kernel, in their order, and how axes reach the compiler.

    place      where they stand, for messages
    macros     expressions by the name of the macro that is defined as their value
    constants  the inputs that are copied to variables of their name in constant memory
    """

    place: str
    launches: tuple[ListedLaunch, ...]
    macros: Mapping[str, str]
    constants: tuple[str, ...] = ()

    def macro_values(self, point: Mapping[str, Any]) -> dict[str, str]:
        """The macros of a point's translation unit."""
        return {name: _text(expression(value)(point)) for name, value in self.macros.items()}

    @property
    def variant_names(self) -> set[str]:
        """The names in the macros and template arguments, among them the axes that a variant depends on."""
        texts = [*self.macros.values(), *(text for launch in self.launches for text in launch.template)]
        return {name for text in texts if _is_expression(text) for name in expression(text).names}

    @property
    def launch_names(self) -> set[str]:
        """The names in the grids, blocks and shared memory, among them the axes by which launches can be wrong."""
        texts = [text for launch in self.launches for text in (*launch.grid, *launch.block, launch.shared)]
        return {name for text in texts if isinstance(text, str) for name in expression(text).names}

    def functions(self, point: Mapping[str, Any]) -> list[str]:
        """The C++ names of the functions that a point launches, without duplicates."""
        return list(dict.fromkeys(launch.function(point) for launch in self.launches))

    def at(self, point: Mapping[str, Any]) -> Plan:
        """The plan of a point. Raises UserError for a grid or a block that CUDA doesn't allow."""
        macros = self.macro_values(point)
        try:
            launches = tuple(
                Launch(
                    grid=_sides(launch.grid, "grid", _LARGEST_GRID, point),
                    block=_block(launch.block, point),
                    arguments=tuple(_argument(argument, point) for argument in launch.arguments),
                    variant=variant_name([launch.function(point)], macros),
                    shared_bytes=int(_value(launch.shared, point)),
                )
                for launch in self.launches
            )
        except UserError as error:
            raise UserError(f"{self.place}: {error}") from error
        return Plan(launches, constants=self.constants)


def read_launches(
    entries: Sequence[Mapping[str, Any]],
    macros: Sequence[Any],
    constants: Sequence[str],
    kernel: str,
    axes: Mapping[str, Any],
    texts: Collection[str],
    shown: str,
) -> LaunchList:
    """The launches and macros of a kernel as its settings list them.

    kernel  the file's stem: the function of an entry that names none
    axes    the study's
    texts   the axes among them whose values are texts

    Raises UserError, with `shown` and the key, for an expression over something else than the axes.
    """
    listed = []
    for number, entry in enumerate(entries):
        where = f"{shown}: launches.{number}"
        function, template = function_name(entry["kernel"] or kernel, f"{where}.kernel")
        for argument in template:
            _check_template_argument(argument, axes, texts, f"{where}.kernel")
        sides = {key: _expressions(entry[key]) for key in ("grid", "block")}
        for key, texts_of_key in (*sides.items(), ("shared", (str(entry["shared"]),))):
            for text in texts_of_key:
                _check_number(text, axes, texts, f"{where}.{key}")
        arguments = tuple(str(argument) for argument in entry["arguments"])
        for argument in arguments:
            if not _IDENTIFIER.fullmatch(argument):
                _check_number(argument, axes, texts, f"{where}.arguments")
        listed.append(ListedLaunch(function, template, sides["grid"], sides["block"], str(entry["shared"]), arguments))
    return LaunchList(f"{shown}: launches", tuple(listed), read_macros(macros, axes, texts, shown), tuple(constants))


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


def _cxx(argument: str, point: Mapping[str, Any]) -> str:
    """A template argument at a point, as C++ spells it."""
    if not _is_expression(argument) or not expression(argument).names <= set(point):
        return argument
    return _text(expression(argument)(point))


def _text(value: Any) -> str:
    """An axis' value as C++ spells it: element types by their C++ name, whole numbers without a fraction."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return OWN_TYPES.get(value, str(value)) if isinstance(value, str) else str(value)


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
