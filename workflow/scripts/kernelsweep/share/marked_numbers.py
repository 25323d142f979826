"""Marks in documents: numbers, rows of tables and sentences that follow from a recording.

    <!-- recorded: nvidia-h200 -->                     a line of its own, names the recording
    119.42<!--= time("unrolling/neighbored_less") -->  the number before the mark
    <!--rows {% for ... %}| ... |{% endfor %} -->      the rows of the table below the mark
    <!--holds time("a/b") < time("a/c") -->            the sentence before the mark is right where this is true

Expressions and rows are Jinja's, over the functions of RecordedNumbers. A number keeps its number of decimals.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from kernelsweep.errors import UserError

RECORDED = re.compile(r"^<!-- recorded: ([\w.-]+) -->$", re.MULTILINE)
_NUMBER = re.compile(r"(?P<number>\d[\d,]*(?:\.(?P<decimals>\d+))?)<!--= (?P<expression>.*?) -->")
_ROWS = re.compile(r"(?P<mark><!--rows\s(?P<template>.*?)-->\n\n\|[^\n]*\n\|[-:| ]*\n)(?:\|[^\n]*\n)*", re.DOTALL)
_HOLDS = re.compile(r"<!--holds (?P<expression>.*?) -->", re.DOTALL)
_MARK = re.compile(r"<!--(?:=|rows|holds)")


@dataclass(frozen=True)
class Rewritten:
    """A document with its numbers as they are recorded.

    untrue  a message for each sentence that is no longer right, with its line
    """

    text: str
    untrue: list[str]


def recording_of(text: str) -> str | None:
    """The name of the recording that a document's numbers come from; None without any."""
    found = RECORDED.search(text)
    return found[1] if found else None


def rewrite(text: str, functions: Mapping[str, Callable[..., Any]], shown: str) -> Rewritten:
    """The document with the numbers and rows that its marks ask for.

    Raises UserError, with the document (`shown`), the line and the mark, for a mark that cannot be computed, one
    without a number or a table, and a document with marks that names no recording.
    """
    if recording_of(text) is None and _MARK.search(text):
        raise UserError(f"{shown}: numbers are marked, but `<!-- recorded: NAME -->` is missing")
    marks = len(_MARK.findall(text))
    understood = sum(len(pattern.findall(text)) for pattern in (_NUMBER, _ROWS, _HOLDS))
    if understood != marks:
        raise UserError(
            f"{shown}: {marks - understood} of {marks} marks follow no number or precede no table; write "
            "`12.3<!--= ... -->`, or `<!--rows ... -->`, an empty line and a table"
        )
    environment = SandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.globals = {**functions, "round": round, "max": max, "min": min, "range": range, "abs": abs}

    def computed(expression: str, line: int) -> Any:
        try:
            return environment.compile_expression(expression, undefined_to_none=False)()
        except (UserError, TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise UserError(f"{shown}:{line}: {expression}: {error}") from error

    def number(found: re.Match[str]) -> str:
        value = computed(found["expression"], _line(text, found.start()))
        return f"{value:,.{len(found['decimals'] or '')}f}<!--= {found['expression']} -->"

    def rows(found: re.Match[str]) -> str:
        try:
            lines = environment.from_string(found["template"]).render().splitlines()
        except (UserError, TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise UserError(f"{shown}:{_line(text, found.start())}: the rows: {error}") from error
        return found["mark"] + "".join(f"{line.strip()}\n" for line in lines if line.strip())

    untrue = [
        f"{shown}:{line}: the sentence before this mark is no longer right: {found['expression']}"
        for found in _HOLDS.finditer(text)
        if not computed(found["expression"], line := _line(text, found.start()))
    ]
    return Rewritten(_ROWS.sub(rows, _NUMBER.sub(number, text)), untrue)


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
