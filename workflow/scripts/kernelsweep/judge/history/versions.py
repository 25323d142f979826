"""The versions of a kernel's source that were measured, and the best time of each.

A journal has a line for each visit to a point, with the source and the revision of that day. A point whose machine code
an edit did not change has no new line: it keeps its time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from kernelsweep.intervals import Interval, ratio
from kernelsweep.judge.comparison.scatter import estimate, widened
from kernelsweep.judge.comparison.verdicts import SLOWER, verdict
from kernelsweep.measure.outcome import Outcome, combined, read_outcome
from kernelsweep.results import Row, time_columns


@dataclass(frozen=True)
class Version:
    """A version of a kernel's source, with the time of its best configuration.

    kernel    as `study/kernel`
    revision  the commit of its first measurement, with "-dirty" if files differed from it; "" if that is unknown
    source    the source's SHA-256
    measured  the time of its last measurement (UTC)
    point     the best configuration's values on all axes
    row       time_columns() of that point
    ratio     its time over that of the version before, a 99% interval; None for the first version, and where points
              were visited once
    verdict   faster, slower, same or undecided; "" without a ratio
    """

    kernel: str
    revision: str
    source: str
    measured: str
    point: Mapping[str, Any]
    row: Row
    ratio: Interval | None = None
    verdict: str = ""

    @property
    def label(self) -> str:
        """The revision in short, with a star if files differed from it; else the beginning of the source's hash."""
        commit, _, dirty = self.revision.partition("-")
        return f"{commit[:7]}{'*' if dirty else ''}" if commit else f"source {self.source[:7]}"

    @property
    def is_slower(self) -> bool:
        """Whether it is slower than the version before."""
        return self.verdict == SLOWER


def kernel_versions(
    kernel: str, lines: Iterable[Mapping[str, Any]], place: Mapping[str, Any], device: str, source_now: str
) -> list[Version]:
    """The versions of a kernel in the order in which they were measured, not judged yet.

    lines       the values of its journals
    place       the values of all axes that do not belong to the kernel: the times of other points are left out
    device      the device's name: lines of other devices are left out
    source_now  the SHA-256 of the source as it is. A version that an edit restored was not measured again; it is last

    A version that was measured again after another one appears twice.
    """
    kept = sorted((line for line in lines if _is_at(line, place, device)), key=lambda line: str(line["measured"]))
    visits: dict[_Key, dict[int, Outcome]] = {}
    of_source: dict[str, dict[_Key, _Key]] = {}
    first: dict[str, Mapping[str, Any]] = {}
    current: dict[_Key, _Key] = {}
    found = []
    groups = [(source, list(group)) for source, group in groupby(kept, key=lambda line: str(line["source_sha256"]))]
    if groups and groups[-1][0] != source_now and any(source == source_now for source, _ in groups):
        groups.append((source_now, []))
    for source, group in groups:
        current = dict(of_source.get(source, current))
        for line in group:
            point, binary = _key(line["of"]["point"]), line["of"]["binary"]
            visits.setdefault((*point, binary), {})[line["of"]["visit"]] = read_outcome(line["outcome"])
            current[point] = (*point, binary)
            first.setdefault(source, line)
        of_source[source] = current
        timed = [(dict(point), _times(visits[key])) for point, key in current.items()]
        best, row = min(timed, key=lambda one: float(one[1]["time_us"]))
        measured = (group[-1] if group else first[source])["measured"]
        found.append(Version(kernel, str(first[source].get("revision") or ""), source, str(measured), best, row))
    return found


def judged(versions: Sequence[Version], margin: float) -> list[Version]:
    """All kernels' versions, each judged against the version of its kernel before it, as `compare` judges points.

    margin  the smallest difference that matters, as a fraction
    """
    rows = [
        version.row | dict(zip(("study", "kernel"), version.kernel.split("/"), strict=True)) for version in versions
    ]
    scatter = estimate(*([row] for row in rows))
    before: dict[str, Row] = {}
    found = []
    for version, row in zip(versions, rows, strict=True):
        earlier = before.get(version.kernel)
        if earlier and scatter:
            change = ratio(widened(row, scatter), widened(earlier, scatter))
            version = replace(version, ratio=change, verdict=verdict(change, margin))
        before[version.kernel] = row
        found.append(version)
    return found


_Key = tuple[Any, ...]


def _key(point: Mapping[str, Any]) -> _Key:
    return tuple(sorted(point.items()))


def _is_at(line: Any, place: Mapping[str, Any], device: str) -> bool:
    """Whether a line is of a right point there; lines of earlier versions of kernelsweep lack the point."""
    of = line.get("of") if isinstance(line, dict) else None
    if not of or of["device"] != device or line["outcome"]["status"] != "ok" or not line["outcome"]["visits"]:
        return False
    return all(of["point"].get(axis, value) == value for axis, value in place.items())


def _times(visits: Mapping[int, Outcome]) -> Row:
    outcome = combined([visits[visit] for visit in sorted(visits)])
    return time_columns([visit.counted for visit in outcome.visits], {}, None)
