"""Expressions over a point's axes, as restrictions and launches have them: a small language with limits."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from kernelsweep.errors import UserError, nearest
from kernelsweep.study.point import Point
from kernelsweep.study.problem.problem import ITEM_SIZES

_LONGEST = 1000  # characters; the parser gives up on far more, in ways of its own
_LARGEST_EXPONENT = 256  # of two: larger powers would take longer the larger they are
_LARGEST_NUMBER = 2**64


def _power(base: float, exponent: float) -> Any:
    if abs(exponent) * abs(math.log2(abs(base))) > _LARGEST_EXPONENT if base else exponent < 0:
        raise ArithmeticError("this power is too large, or is none")
    power = base**exponent
    if isinstance(power, complex):
        raise ArithmeticError("this power is no real number")
    return power


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{"log2": math.log2, "ceil": math.ceil, "min": min, "max": max},
    "itemsize": ITEM_SIZES.__getitem__,  # the bytes of an element of a type
}
# Bits of numbers are no arithmetic here: ^ would be taken for a power.
_ALLOWED = (
    *(ast.Name, ast.Load, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Call, ast.List, ast.Tuple),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.USub, ast.Not, ast.And, ast.Or),
    *(ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.In, ast.NotIn),
)


# What computes these operations in place of Python's: a text times a number, or %, could be as long as the memory, and
# the file beside a candidate is a stranger's.
_CHECKED = {ast.Pow: _power, ast.Mult: operator.mul, ast.Mod: operator.mod}


def _of_numbers(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if isinstance(left, str | list | tuple) or isinstance(right, str | list | tuple):
        raise TypeError("a text or a list is no number")
    return operation(left, right)


class _Checked(ast.NodeTransformer):
    """Have each of these operations computed by a function that refuses texts, and results that are too large."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if type(node.op) not in _CHECKED:
            return node
        return ast.Call(ast.Name(f"{type(node.op).__name__}()", ast.Load()), [node.left, node.right], [])


_OPERATIONS = {f"{kind.__name__}()": partial(_of_numbers, operation) for kind, operation in _CHECKED.items()}


class Expression:
    """Arithmetic over a point's axes, such as ``block_size * unroll <= array_size``.

    Allowed are the names that stand for values, numbers, texts, arithmetic, comparisons, and/or/not, and FUNCTIONS.
    Raises UserError for anything else, so that a configuration file can't run code.

    names  the names that it has
    """

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > _LONGEST:
            self.text = f"{text[:30]}…"
            raise self._refusal(f"{len(text)} characters; at most {_LONGEST} are allowed")
        try:
            tree = ast.parse(text.strip(), mode="eval")
            self.names = {name for node in ast.walk(tree.body) for name in self._names(node)} - {*FUNCTIONS}
            self._code = compile(ast.fix_missing_locations(_Checked().visit(tree)), "<expression>", "eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise UserError(f"{text!r} is no expression: {getattr(error, 'msg', error)}") from error

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """The expression's value for one point's axis values."""
        try:
            return eval(self._code, {"__builtins__": {}, **_OPERATIONS, **FUNCTIONS}, values)
        except (ArithmeticError, LookupError, MemoryError, NameError, TypeError, ValueError) as error:
            named = {name: values.get(name) for name in sorted(self.names)}
            raise self._refusal(f"can't be computed for {named}: {error}") from error

    def _refusal(self, problem: str) -> UserError:
        return UserError(f"{self.text!r}: {problem}")

    def _names(self, node: ast.AST) -> list[str]:
        """The name that a part is, if it is one. Raises UserError for a part that isn't allowed."""
        match node:
            case ast.Name(id=name):
                return [name]
            case ast.BitXor():
                raise self._refusal("^ is not allowed in an expression; write a power as 2**20")
            case ast.Call(func=ast.Name(id=name)) if name not in FUNCTIONS:
                guess = nearest(name, FUNCTIONS) or f"; Known: {', '.join(FUNCTIONS)}."
                raise self._refusal(f"unknown function {name!r}{guess}")
            case ast.Constant(value=value) if not isinstance(value, str | bool | int | float):
                raise self._refusal(f"{value!r} is not allowed in an expression")
            case ast.Constant(value=int() | float() as value) if not abs(value) <= _LARGEST_NUMBER:
                raise self._refusal("a number above 2**64")
        if not isinstance(node, _ALLOWED):
            raise self._refusal(f"{type(node).__name__} is not allowed in an expression")
        return []


def check_expression(text: str, names: Collection[str], key: str) -> None:
    """Raise UserError, with the key, for a text that is no expression over the known names."""
    try:
        if unknown := sorted(expression(text).names - {*names}):
            guess = nearest(unknown[0], known := [*names, *FUNCTIONS]) or f"; Known: {', '.join(known)}."
            raise UserError(f"{text!r}: unknown name {unknown[0]!r}{guess}")
    except UserError as error:
        raise UserError(f"{key}: {error}") from error


# Every point asks for the expressions of its restrictions.
@cache
def expression(text: str) -> Expression:
    """The expression of a text, read once."""
    return Expression(text)


def number(text: str | float, point: Mapping[str, Any]) -> Any:
    """A number, or the number that an expression gives at a point. Raises UserError for one that is none, or too large.

    A condition counts as 0 or 1.
    """
    value: Any = expression(text)(point) if isinstance(text, str) else text
    is_number = isinstance(value, int | float | np.number)
    if not is_number or not abs(value) <= _LARGEST_NUMBER:
        raise UserError(f"{text!r} is {value} at {Point(point)}. Allowed: numbers up to 2^64.")
    return value


def admits(restriction: str, point: Mapping[str, Any]) -> bool:
    """Whether a point meets a restriction, as it does where its kernel lacks an axis of the restriction."""
    condition = expression(restriction)
    return any(point.get(name) is None for name in condition.names) or bool(condition(point))
