"""Expressions over a point's axes, as restrictions and launches have them: a small language with limits."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

import numpy as np

from kernelsweep.errors import UserError
from kernelsweep.problems.element_types import ITEM_SIZES
from kernelsweep.sweep.point import Point

_LONGEST = 1000  # characters; the parser gives up on far more, in ways of its own
_LARGEST_EXPONENT = 256  # of two: larger powers would take longer the larger they are
_LARGEST_NUMBER = 2**64

NUMBER, TEXT, CONDITION = "a number", "a text", "a condition"
_LISTS = {NUMBER: "a list of numbers", TEXT: "a list of texts"}
# Several of them, for check_kind().
VALUE, ARGUMENT = "a value", "a number or a condition"
_SEVERAL = {VALUE: (NUMBER, TEXT, CONDITION), ARGUMENT: (NUMBER, CONDITION)}
# The kind of a name whose expression was checked before, when its axis was known.
_ANY = "any kind"


def _power(base: float, exponent: float) -> Any:
    if abs(exponent) * abs(math.log2(abs(base))) > _LARGEST_EXPONENT if base else exponent < 0:
        raise ArithmeticError("this power is too large, or is none")
    power = base**exponent
    if isinstance(power, complex):
        raise ArithmeticError("this power is no real number")
    return power


def _itemsize(dtype: str) -> int:
    if dtype not in ITEM_SIZES:
        raise ValueError(f"{dtype!r} is no element type; known are {', '.join(ITEM_SIZES)}")
    return ITEM_SIZES[dtype]


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{"log2": math.log2, "ceil": math.ceil, "min": min, "max": max},
    "itemsize": _itemsize,  # the bytes of an element of a type
}
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class _Powers(ast.NodeTransformer):
    """Have each power computed by a function that refuses results that are too large."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow):
            return node
        return ast.Call(ast.Name("**", ast.Load()), [node.left, node.right], [])


class Expression:
    """Arithmetic over a point's axes, such as ``block_size * unroll <= array_size``.

    Allowed are the names that stand for values, numbers, texts, arithmetic, comparisons, and/or/not, and FUNCTIONS.
    Raises UserError for anything else, so that a configuration file can't run code.

    known  the names of the values, so that a misspelt one is found here; None where they were checked before
    texts  the names among them that stand for texts
    names  the names that it has
    kind   NUMBER, TEXT, CONDITION, or one of lists
    """

    def __init__(self, text: str, known: Collection[str] | None = None, texts: Collection[str] = ()) -> None:
        self.text = text
        self.names: set[str] = set()
        self._known = known
        self._texts = texts
        if len(text) > _LONGEST:
            self.text = f"{text[:30]}…"
            raise self._refusal(f"{len(text)} characters; at most {_LONGEST} are allowed")
        try:
            tree = ast.parse(text.strip(), mode="eval")
            self.kind = self._kind(tree.body)
            code = ast.fix_missing_locations(_Powers().visit(tree))
            self._code = compile(code, "<expression>", "eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise UserError(f"{text!r} is no expression: {getattr(error, 'msg', error)}") from error

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """The expression's value for one point's axis values."""
        try:
            return eval(self._code, {"__builtins__": {}, "**": _power, **FUNCTIONS}, values)
        except (ArithmeticError, NameError, TypeError, ValueError) as error:
            named = {name: values.get(name) for name in sorted(self.names)}
            raise self._refusal(f"can't be computed for {named}: {error}") from error

    def _refusal(self, problem: str) -> UserError:
        return UserError(f"{self.text!r}: {problem}")

    def _kind(self, node: ast.expr) -> str:
        """The kind of a part's value. Raises UserError where the part has none."""
        match node:
            case ast.Constant(value=value):
                return self._kind_of_constant(value)
            case ast.Name(id=name):
                return self._kind_of_name(name)
            case ast.BinOp(op=ast.BitXor()):
                raise self._refusal("^ is not allowed in an expression; write a power as 2**20")
            case ast.BinOp(op=op, left=left, right=right) if isinstance(op, _ARITHMETIC):
                for part in (left, right):  # A condition counts as 0 or 1.
                    self._need(part, NUMBER, CONDITION)
                return NUMBER
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                self._need(operand, NUMBER)
                return NUMBER
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._need(operand, CONDITION, NUMBER)
                return CONDITION
            case ast.BoolOp(values=parts):
                for part in parts:
                    self._need(part, CONDITION, NUMBER)
                return CONDITION
            case ast.Compare(left=first, ops=comparisons, comparators=others):
                # Each once: to ask for a nested part twice takes a time that doubles with each level.
                sides = [(part, self._kind(part)) for part in (first, *others)]
                for comparison, one, other in zip(comparisons, sides, sides[1:], strict=False):
                    self._check_comparison(comparison, *one, *other)
                return CONDITION
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                kinds = {self._need(element, NUMBER, TEXT) for element in elements} - {_ANY}
                if len(kinds) > 1 or not elements:
                    raise self._refusal("a list needs values, all of them numbers or all of them texts")
                return _LISTS[kinds.pop()] if kinds else _ANY
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
                for argument in arguments:
                    self._need(argument, TEXT if name == "itemsize" else NUMBER)
                of_several = name in ("min", "max")
                if len(arguments) < 2 if of_several else len(arguments) != 1:
                    raise self._refusal(f"{name} takes {'two numbers or more' if of_several else 'one value'}")
                return NUMBER
            case ast.Call(func=ast.Name(id=name)) if name not in FUNCTIONS:
                raise self._refusal(f"unknown function {name!r}; known are {', '.join(FUNCTIONS)}")
        raise self._refusal(f"{type(node).__name__} is not allowed in an expression")

    def _kind_of_constant(self, value: Any) -> str:
        if isinstance(value, str):
            if self._known is not None and value in self._known:
                raise self._refusal(f"{value!r} in quotes is a text; write the axis without quotes")
            return TEXT
        if isinstance(value, bool):
            return CONDITION
        if isinstance(value, int | float):
            if not abs(value) <= _LARGEST_NUMBER:
                raise self._refusal("a number above 2**64")
            return NUMBER
        raise self._refusal(f"{value!r} is not allowed in an expression")

    def _kind_of_name(self, name: str) -> str:
        if name in FUNCTIONS:
            raise self._refusal(f"{name} is a function; write {name}(...)")
        if self._known is not None and name not in self._known:
            raise self._refusal(f"unknown name {name!r}; known are {', '.join((*self._known, *FUNCTIONS))}")
        self.names.add(name)
        if self._known is None:
            return _ANY
        return TEXT if name in self._texts else NUMBER

    def _need(self, node: ast.expr, *allowed: str) -> str:
        kind = self._kind(node)
        if kind not in (*allowed, _ANY):
            raise self._refusal(f"{ast.unparse(node)} is {kind}, where {allowed[0]} is needed")
        return kind

    def _check_comparison(self, op: ast.cmpop, one: ast.expr, left: str, other: ast.expr, right: str) -> None:
        if _ANY in (left, right):
            return
        if isinstance(op, ast.In | ast.NotIn):
            fits = left == right == TEXT or right == _LISTS.get(left)
        elif isinstance(op, _ORDER):
            fits = left == right == NUMBER
        else:
            fits = isinstance(op, ast.Eq | ast.NotEq) and left == right and left not in _LISTS.values()
        if not fits:
            raise self._refusal(
                f"{ast.unparse(one)} is {left} and {ast.unparse(other)} is {right}: they don't compare so"
            )


# Every point asks for the expressions of its restrictions.
@cache
def expression(text: str) -> Expression:
    """The expression of a restriction, whose names were checked when it was read."""
    return Expression(text)


def number(given: str | float, point: Mapping[str, Any]) -> Any:
    """A number, or the number that an expression gives at a point. Raises UserError for one that is none, or too large.

    A condition counts as 0 or 1.
    """
    value: Any = expression(given)(point) if isinstance(given, str) else given
    is_number = isinstance(value, int | float | np.number)
    if not is_number or not abs(value) <= _LARGEST_NUMBER:
        raise UserError(f"{given!r} is {value} at {Point(point)}. Allowed: numbers up to 2^64.")
    return value


def admits(restriction: str, point: Mapping[str, Any]) -> bool:
    """Whether a point meets a restriction, as it does where its kernel lacks an axis of the restriction."""
    condition = expression(restriction)
    return any(point.get(name) is None for name in condition.names) or bool(condition(point))


def check_kind(text: str, known: Collection[str], kind: str, texts: Collection[str] = ()) -> None:
    """Raise UserError where a text is no expression over the known names, or is one of another kind.

    kind   NUMBER, TEXT, CONDITION, VALUE or ARGUMENT
    texts  the known names that stand for texts
    """
    found = Expression(text, known, texts)
    if found.kind not in _SEVERAL.get(kind, (kind,)):
        raise UserError(f"{text!r} is {found.kind}, where {kind} is needed")
    if kind == CONDITION and not found.names:
        raise UserError(f"{text!r} names no axis, so it is the same for every point")
