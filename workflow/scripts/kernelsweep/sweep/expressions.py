"""Expressions over a point's axes, as restrictions and kernels' headers have them."""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from kernelsweep.errors import UserError

_ALLOWED_NODES = (
    ast.Expression,
    ast.BoolOp,
    ast.And,
    ast.Or,
    ast.UnaryOp,
    ast.Not,
    ast.USub,
    ast.BinOp,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.FloorDiv,
    ast.Mod,
    ast.Pow,
    ast.Compare,
    ast.Lt,
    ast.LtE,
    ast.Gt,
    ast.GtE,
    ast.Eq,
    ast.NotEq,
    ast.In,
    ast.NotIn,
    ast.List,
    ast.Tuple,
    ast.Constant,
    ast.Name,
    ast.Load,
    ast.Call,
)
_FUNCTIONS = {"log2": math.log2, "ceil": math.ceil, "min": min, "max": max}


class Expression:
    """Arithmetic over a point's axes, such as ``block_size * unroll <= array_size``.

    Allowed are the names that stand for values, numbers, texts, arithmetic, comparisons, and/or/not, and log2, ceil,
    min, max. Raises UserError for anything else, so that a configuration file can't run code.

    known  the names of the values, so that a misspelt one is found here; None where they were checked before
    """

    def __init__(self, text: str, known: Collection[str] | None = None) -> None:
        self.text = text
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError) as error:
            raise UserError(f"{text!r} is no expression: {getattr(error, 'msg', error)}") from error
        for node in ast.walk(tree):
            if isinstance(node, ast.BitXor):
                raise UserError(f"{text!r}: ^ is not allowed in an expression; write a power as 2**20")
            if not isinstance(node, _ALLOWED_NODES):
                raise UserError(f"{text!r}: {type(node).__name__} is not allowed in an expression")
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        self.names: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id not in _FUNCTIONS:
                self.names.add(node.id)
                if id(node) in called or (known is not None and node.id not in known):
                    names = ", ".join((*(known or ()), *_FUNCTIONS))
                    raise UserError(f"{text!r}: unknown name {node.id!r}; known are {names}")
        self._code = compile(tree, "<expression>", "eval")

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """The expression's value for one point's axis values."""
        try:
            return eval(self._code, {"__builtins__": {}, **_FUNCTIONS}, values)
        except (ArithmeticError, NameError, TypeError, ValueError) as error:
            raise UserError(f"{self.text!r} can't be computed for {dict(values)}: {error}") from error


# Every point asks for the expressions of its restrictions.
@cache
def expression(text: str) -> Expression:
    """The expression of a restriction, whose names were checked when it was read."""
    return Expression(text)
