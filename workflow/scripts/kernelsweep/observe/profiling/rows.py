"""The rows of metrics.csv for one profiled kernel: one for every point and metric, with a value or a reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernelsweep.observe.profiling.combine import combine_launches
from kernelsweep.observe.profiling.definitions import Definition
from kernelsweep.observe.profiling.match import match_launches
from kernelsweep.observe.profiling.ncu import Profile
from kernelsweep.results import NCU, Row
from kernelsweep.sweep.point import Point

# Digits of a value; counters have no more.
_DIGITS = 10


def profile_rows(
    requested: Sequence[tuple[Point, str]], profile: Profile, chosen: Iterable[Definition], kernel: str
) -> list[tuple[Point, Row]]:
    """The metrics of each point, or the reason for their absence, in the columns metric, unit, value and message.

    requested  the points in order, each with its variant's C++ name
    """
    rows: list[tuple[Point, Row]] = []
    if profile.failure or profile.capture is None:
        for number, (point, _) in enumerate(requested):
            rows += empty_rows(point, chosen, profile.failure or _why(profile, number))
        return rows
    matched = match_launches(profile.capture, profile.answers, kernel)
    for number, (point, _) in enumerate(requested):
        launches = matched[number] if number < len(matched) else ()
        if not launches:
            rows += empty_rows(point, chosen, _why(profile, number))
            continue
        for definition in chosen:
            value = combine_launches(definition, launches, profile.capture.units, kernel)
            text = "" if value.value is None else f"{value.value:.{_DIGITS}g}"
            rows.append((point, _row(definition, text, value.message)))
    return rows


def empty_rows(point: Point, chosen: Iterable[Definition], message: str) -> list[tuple[Point, Row]]:
    """The rows of a point without metrics, for a reason."""
    return [(point, _row(definition, "", message)) for definition in chosen]


def _row(definition: Definition, value: str, message: str) -> Row:
    return {"metric": definition.name, "unit": definition.unit, "value": value, "source": NCU, "message": message}


def _why(profile: Profile, number: int) -> str:
    """Why the point with this number has no captured launch."""
    if number >= len(profile.answers):
        return "Not profiled: the process under Nsight Compute ended before this point, or in it."
    answer = profile.answers[number]
    return f"Not profiled: {answer.status}: {' '.join(answer.message.split())}"
