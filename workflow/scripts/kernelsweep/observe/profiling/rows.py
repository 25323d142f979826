"""The rows of metrics.csv that come of profiling one kernel: a row for every point and metric, whatever happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernelsweep.observe.profiling.combine import combine
from kernelsweep.observe.profiling.definitions import Definition
from kernelsweep.observe.profiling.match import match_launches
from kernelsweep.observe.profiling.ncu import Profile
from kernelsweep.results import NCU, Row
from kernelsweep.sweep.points import Point

# Digits of a value; counters give at most so many.
_DIGITS = 10


def profile_rows(
    points: Sequence[Point], profile: Profile, chosen: Iterable[Definition], kernel: str
) -> list[tuple[Point, Row]]:
    """What the metrics of each point are, or why there is none: the columns metric, unit, value and message.

    points  those that were asked for, in order
    """
    rows: list[tuple[Point, Row]] = []
    if profile.failure or profile.capture is None:
        for number, point in enumerate(points):
            rows += empty_rows(point, chosen, profile.failure or _why(profile, number))
        return rows
    matched = match_launches(profile.capture, profile.manifest, kernel)
    for number, point in enumerate(points):
        launches = matched[number] if number < len(matched) else ()
        if not launches:
            rows += empty_rows(point, chosen, _why(profile, number))
            continue
        for definition in chosen:
            value = combine(definition, launches, profile.capture.units, kernel)
            text = "" if value.value is None else f"{value.value:.{_DIGITS}g}"
            rows.append((point, _row(definition, text, value.message)))
    return rows


def empty_rows(point: Point, chosen: Iterable[Definition], message: str) -> list[tuple[Point, Row]]:
    """The rows of a point without metrics, for a reason."""
    return [(point, _row(definition, "", message)) for definition in chosen]


def _row(definition: Definition, value: str, message: str) -> Row:
    return {"metric": definition.name, "unit": definition.unit, "value": value, "source": NCU, "message": message}


def _why(profile: Profile, number: int) -> str:
    """Why the point of that number has no captured launch."""
    if number >= len(profile.manifest):
        return "Not profiled: the process under Nsight Compute ended before this point, or in it."
    entry = profile.manifest[number]
    return f"Not profiled: {entry.status}: {' '.join(entry.message.split())}"
