"""A figure's declaration of itself, read from its module's text: importing the module would import matplotlib.

A figure is a Python file, whose name is the figure's, with a function `draw` and a declaration of plain texts:

    FIGURE = Declaration(
        title="Time, step by step",
        purpose="each step's time and speedup",
        needs=("times",),
    )
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from kernelsweep.errors import UserError

# The results that a figure may need.
Need = Literal["times", "metrics"]

# The key of a figure's quantity in a study's file, beside those of its axes.
SHOW = "show"
# The quantities that figures show, from the one that tells most, and their labels.
QUANTITIES = {"gflops": "GFLOP/s", "bandwidth_gbs": "bandwidth (GB/s)", "time_us": "time (µs)"}

_EXAMPLE = 'FIGURE = Declaration(title="...", purpose="...", needs=("times",)), of plain texts'


@dataclass(frozen=True)
class Declaration:
    """A figure's declaration: its description and requirements.

    title    its heading on the page of results
    purpose  what it shows, as a part of a sentence
    needs    `times`, without which the figure is left out; `metrics`, to which the page then links
    axes     what a study's file may name axes for, such as x, in `figures: [{lines: {x: n}}]`
    shows_quantity
             whether a study's file may name the quantity that it shows, in `figures: [{lines: {show: gflops}}]`
    """

    title: str
    purpose: str
    needs: Sequence[Need] = ()
    axes: Sequence[str] = ()
    shows_quantity: bool = False

    def heading(self, study_title: str, title: str = "") -> str:
        """The figure's title for a study: the study's up to its colon, and the figure's own or a given one."""
        words = title or self.title
        words = words if words[1:2].isupper() else f"{words[:1].lower()}{words[1:]}"
        return f"{study_title.partition(':')[0]}: {words}"


@cache
def read_declaration(file: Path) -> Declaration:
    """The declaration in a figure's file. Raises UserError where there is none, or one that can't be read."""
    try:
        call = _declaring_call(file.read_text(encoding="utf-8"))
        texts = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
        declaration = Declaration(**texts)
    except (OSError, UnicodeDecodeError, SyntaxError, TypeError, ValueError) as error:
        raise UserError(f"{file}: not a figure ({error}). Expected at the top level: {_EXAMPLE}.") from error
    unknown = sorted(set(declaration.needs) - set(get_args(Need)))
    if unknown:
        raise UserError(f"{file}: FIGURE needs {', '.join(unknown)}. Allowed: {', '.join(get_args(Need))}.")
    return declaration


def _declaring_call(text: str) -> ast.Call:
    """The call on the right of `FIGURE = `."""
    for one in ast.parse(text).body:
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "FIGURE" and isinstance(one.value, ast.Call):
            return one.value
    raise ValueError("no FIGURE = Declaration(...)")
