"""Read Nsight Compute's report from `ncu --import FILE --csv --page raw --print-units base`, one line a launch.

The first line names the columns, the second line their units. ncu writes numbers in its locale. So it runs with
LC_ALL=C, and numbers of any other locale are refused: "1.269" may mean 1.269 or 1269.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO

from kernelsweep.errors import UserError

_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
# Texts in place of a number that the counters did not give.
_NOT_A_NUMBER = ("nan", "-nan", "inf", "-inf", "n/a")
# "(unsigned int)8" as a template argument, which C++ writes 8u.
_CAST = re.compile(r"\((?:unsigned |signed )?\w+(?: \w+)?\)(-?\d+)")
_BOOLEANS = {"false": "0", "true": "1"}
_BOOLEAN = re.compile(r"\b(?:false|true)\b")
# " [RADIUS=4]", the macros of a function's unit in the build report.
_MACROS = re.compile(r" \[\w+=.*\]$", re.DOTALL)
_LITERAL = re.compile(r"(?<=\d)[uUlL]+\b")
_SIGNATURE = re.compile(r"(?:\w+ )?(?P<function>\w+(?:<.*>)?)\(.*\)")


@dataclass(frozen=True)
class CapturedLaunch:
    """One launch.

    function     the kernel's name with its template arguments, as plain_name() writes it
    grid, block  three sizes each
    values       ncu's texts by metric
    """

    function: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    values: Mapping[str, str]

    def number(self, metric: str) -> float:
        """The metric's value; NaN if the counters gave none. Raises UserError for a number of another locale."""
        text = self.values[metric].strip()
        if text.lower() in _NOT_A_NUMBER:
            return math.nan
        if not _NUMBER.fullmatch(text):
            raise UserError(
                f"{self.function}: Nsight Compute's {metric} is {text!r}, which is no number as the locale C writes "
                "it. Was the report read without LC_ALL=C?"
            )
        return float(text)


@dataclass(frozen=True)
class Capture:
    """All launches of a report in the order in which they ran, and the metrics' units."""

    launches: tuple[CapturedLaunch, ...]
    units: Mapping[str, str]


def parse_capture(text: str) -> Capture:
    """Parse ncu's CSV; lines before it are messages. Raises UserError if it holds no launch."""
    lines = text.splitlines(keepends=True)
    start = next((number for number, line in enumerate(lines) if line.startswith('"ID",')), None)
    rows = list(csv.reader(StringIO("".join(lines[start:])))) if start is not None else []
    if len(rows) < 3:
        raise UserError(
            f"Nsight Compute's report holds no launch. It said: {' '.join(text.split())[:500] or 'nothing'}"
        )
    header, units, *launches = rows
    named = [dict(zip(header, row, strict=True)) for row in launches]
    return Capture(
        tuple(
            CapturedLaunch(plain_name(row["Kernel Name"]), _sizes(row["Grid Size"]), _sizes(row["Block Size"]), row)
            for row in named
        ),
        dict(zip(header, units, strict=True)),
    )


def _sizes(text: str) -> tuple[int, ...]:
    """The numbers of "(512, 1, 1)"."""
    return tuple(int(size) for size in re.findall(r"\d+", text))


def plain_name(name: str) -> str:
    """A kernel's name with its template arguments only, in one notation.

    Both ncu's `void unrolled<int, Sum, (unsigned int)8>(T1 *, T1 *, unsigned long)` and the build report's
    `unrolled<int, Sum, 8u>` become `unrolled<int, Sum, 8>`. The build report's `rows<32, true> [RADIUS=4]` becomes
    `rows<32, 1>`, as ncu writes it: without the macros, which ncu does not know.
    """
    name = _MACROS.sub("", name)
    match = _SIGNATURE.fullmatch(name)
    plain = _LITERAL.sub("", _CAST.sub(r"\1", match["function"] if match else name))
    return _BOOLEAN.sub(lambda found: _BOOLEANS[found[0]], plain)
