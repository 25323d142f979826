"""From Nsight Compute's report to the rows of metrics.csv: launches are read, matched to points, and combined.

A report is read from `ncu --import FILE --csv --page raw --print-units base`: a line a launch, below a line with the
columns' names and one with their units. ncu writes numbers in its locale, so it runs with LC_ALL=C.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO

from kernelsweep.compile import nvcc
from kernelsweep.errors import UserError
from kernelsweep.observe.profiling.definitions import Definition
from kernelsweep.observe.requests import Answer
from kernelsweep.results import NCU, Row
from kernelsweep.study.point import Point

# Digits of a value; counters have no more.
_DIGITS = 10
# " [RADIUS=4]", what a function's unit is given in the build report.
_GIVEN = re.compile(r" \[[-\w].*\]$", re.DOTALL)


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
        """The metric's value; NaN if the counters gave none. Raises UserError for what is no number."""
        text = self.values[metric].strip()
        try:
            return math.nan if text.lower() == "n/a" else float(text)
        except ValueError as error:
            raise UserError(f"{self.function}: Nsight Compute's {metric} is {text!r}, which is no number.") from error


@dataclass(frozen=True)
class Capture:
    """All launches of a report in the order in which they ran, and the metrics' units."""

    launches: tuple[CapturedLaunch, ...]
    units: Mapping[str, str]


def parse_capture(text: str) -> Capture:
    """Parse ncu's CSV; lines before it are messages. Raises UserError if it holds no launch."""
    _, start, table = text.partition('"ID",')
    units, *rows = [*csv.DictReader(StringIO(start + table))] or [{}]
    if not rows:
        raise UserError(
            f"Nsight Compute's report holds no launch. It said: {' '.join(text.split())[:500] or 'nothing'}"
        )
    launches = []
    for row in rows:
        # Such as "(512, 1, 1)".
        grid, block = (tuple(map(int, re.findall(r"\d+", row[column]))) for column in ("Grid Size", "Block Size"))
        launches.append(CapturedLaunch(plain_name(row["Kernel Name"]), grid, block, row))
    return Capture(tuple(launches), units)


def plain_name(name: str) -> str:
    """A kernel's name with its template arguments only, in one notation.

    Both ncu's `void unrolled<int, Sum, (unsigned int)8>(T1 *, T1 *, unsigned long)` and the build report's
    `unrolled<int, Sum, 8u>` become `unrolled<int, Sum, 8>`. The build report's `rows<32, true> [RADIUS=4]` becomes
    `rows<32, 1>`, as ncu writes it: without the macros, which ncu does not know.
    """
    return nvcc.plain_name(nvcc.name_and_types(_GIVEN.sub("", name).removeprefix("void "))[0]).replace(",", ", ")


def match_launches(capture: Capture, answers: Sequence[Answer], kernel: str) -> list[list[CapturedLaunch]]:
    """The captured launches of each point, in order.

    answers  the worker's, for each point that ran

    Raises UserError if the capture has another number of launches than the worker made, or a launch of another
    function, grid or block: its metrics would be another point's.
    """
    made = [(plain_name(launch.variant), launch.grid, launch.block) for answer in answers for launch in answer.launches]
    ran = [(launch.function, launch.grid, launch.block) for launch in capture.launches]
    if made != ran:
        pairs = zip(made, ran, strict=False)
        first = next((f"; the first other one is {two}, not {launch}" for launch, two in pairs if launch != two), "")
        raise UserError(
            f"{kernel}: {len(made)} launches were to be profiled, and Nsight Compute captured {len(ran)}{first}."
        )
    captured = iter(capture.launches)
    return [[next(captured) for _ in answer.launches] for answer in answers]


def combine_launches(
    definition: Definition, launches: Sequence[CapturedLaunch], units: Mapping[str, str], kernel: str
) -> tuple[float | None, str]:
    """The metric over all launches of a point in its configured unit, or None with the reason.

    units  ncu's units by metric

    If this GPU or this ncu has no such metric, the reason says so. Raises UserError if ncu's unit is not the configured
    one: its numbers would have another meaning.
    """
    missing = [name for name in definition.needs if name not in units]
    if missing:
        return (
            None,
            f"Nsight Compute gave no {missing[0]}: this GPU or this release has no such metric. Look for it in "
            f"`ncu --query-metrics`, and change metrics.{definition.name} (config/metrics.yaml).",
        )
    for counter in filter(None, (definition.ncu, definition.over)):
        if (found := units[counter.name]) != counter.unit:
            raise UserError(
                f"{kernel}: Nsight Compute gives {counter.name} in {found or 'no unit'}, but metrics.{definition.name} "
                f"(config/metrics.yaml) says {counter.unit or 'none'}. Write [{found}] there, and a unit that follows "
                "from it."
            )
    values = [launch.number(definition.ncu.name) for launch in launches]
    below = definition.weight or (definition.over.name if definition.over else "")
    divisors = [launch.number(below) for launch in launches] if below else [1.0]
    if not sum(divisors):
        return None, f"There is nothing to take it of: {below} is 0."
    if definition.weight:
        # Launches without weight have no value either. One launch has the given value, without rounding errors.
        weighed = [(value, weight) for value, weight in zip(values, divisors, strict=True) if weight]
        total = sum(value * weight for value, weight in weighed) / sum(divisors)
        result = weighed[0][0] if len(weighed) == 1 else total
    else:
        result = sum(values) / sum(divisors)
    if not math.isfinite(result):
        return None, f"Nsight Compute gave no number for {definition.ncu.name}."
    return result * definition.factor, ""


@dataclass(frozen=True)
class Profile:
    """The result of profiling some points.

    answers  one for each point that ran, in order
    capture  the captured launches, or None if there are none
    failure  why there are no counters, in words for the user; else empty
    """

    answers: tuple[Answer, ...]
    capture: Capture | None
    failure: str = ""


def profile_rows(
    requested: Sequence[tuple[Point, str]], profile: Profile, chosen: Sequence[Definition], kernel: str
) -> list[tuple[Point, Row]]:
    """The metrics of each point, or the reason for their absence, in the columns metric, unit, value and message.

    requested  the points in order, each with its variant's C++ name
    """
    rows: list[tuple[Point, Row]] = []
    capture = None if profile.failure else profile.capture
    matched = match_launches(capture, profile.answers, kernel) if capture else []
    for number, (point, _) in enumerate(requested):
        launches = matched[number] if number < len(matched) else []
        if capture is None or not launches:
            rows += empty_rows(point, chosen, profile.failure or _why(profile.answers, number))
            continue
        for definition in chosen:
            value, why = combine_launches(definition, launches, capture.units, kernel)
            rows.append((point, _row(definition, "" if value is None else f"{value:.{_DIGITS}g}", why)))
    return rows


def empty_rows(point: Point, chosen: Iterable[Definition], message: str) -> list[tuple[Point, Row]]:
    """The rows of a point without metrics, for a reason."""
    return [(point, _row(definition, "", message)) for definition in chosen]


def _row(definition: Definition, value: str, message: str) -> Row:
    return {"metric": definition.name, "unit": definition.unit, "value": value, "source": NCU, "message": message}


def _why(answers: Sequence[Answer], number: int) -> str:
    if number < len(answers):
        return f"Not profiled: {answers[number].text}"
    return "Not profiled: the process under Nsight Compute ended before this point, or in it."
