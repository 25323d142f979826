"""The versions of a kernel's source that were swept, and the best time of each.

A sweep's line in the journal names all its points. So a version has the time of a point only if that very point, with
the same machine code and launches, was right in its sweep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kernelsweep.analysis.words import point_text
from kernelsweep.intervals import Interval, ratio
from kernelsweep.judge.comparison.scatter import estimate, widened
from kernelsweep.judge.records import Record, Records, Sweep, differing
from kernelsweep.measure.pairs import SLOWER, verdict
from kernelsweep.results import Row

BROKEN = "broken"


@dataclass(frozen=True)
class Version:
    """A version of a kernel's source, with the time of its best configuration.

    kernel    as `study/kernel`
    revision  the commit of its sweep, with "-dirty" if files differed from it; "" if that is unknown
    source    the source's SHA-256
    measured  the time of its sweep (UTC)
    point     the best configuration's values on all axes; empty where no point is right
    row       time_columns() of that point; empty where no point is right
    settings  under which its points were measured; empty where no point is right
    ratio     its time over that of the version before with equal settings, a 99% interval; None without such a version,
              and where points were visited once
    verdict   faster, slower, same or undecided; BROKEN where the configuration that was best before is not right;
              "" without a version before
    remark    what a reader has to know of the verdict
    """

    kernel: str
    revision: str
    source: str
    measured: str
    point: Mapping[str, Any] = field(default_factory=dict)
    row: Row = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    ratio: Interval | None = None
    verdict: str = ""
    remark: str = ""

    @property
    def label(self) -> str:
        """The revision in short, with a star if files differed from it; else the beginning of the source's hash."""
        commit, _, dirty = self.revision.partition("-")
        return f"{commit[:7]}{'*' if dirty else ''}" if commit else f"source {self.source[:7]}"

    @property
    def is_worse(self) -> bool:
        """Whether it is slower than the version before, or what was best before is not right any more."""
        return self.verdict in (SLOWER, BROKEN)


def kernel_versions(kernel: str, records: Records, place: Mapping[str, Any]) -> list[Version]:
    """The versions of a kernel in the order of their sweeps, not judged yet.

    records  of the kernel's journals
    place    the values of all axes that do not belong to the kernel: points elsewhere are left out

    Sweeps of one source under equal settings, one after another, are one version: the last. A version has the verdict
    BROKEN if the configuration that was best before is not right any more. A version's remark names what differs from
    the settings of the version before.
    """
    found: list[Version] = []
    for sweep in records.sweeps:
        version, statuses = _of_sweep(kernel, sweep, records.by_identity, place)
        if found and (found[-1].source, found[-1].settings) == (version.source, version.settings):
            found.pop()
        before = next((earlier for earlier in reversed(found) if earlier.point), None)
        if before:
            status = statuses.get(_key(before.point), "not swept")
            is_broken = status not in ("ok", "not swept")
            remarks = [] if status == "ok" else [f"the best before, {_best(before, place)}, is {status}"]
            if version.settings and version.settings != before.settings:
                other = " and ".join(differing(before.settings, version.settings))
                remarks.append(f"another {other} than before")
            version = replace(version, verdict=BROKEN if is_broken else "", remark="; ".join(remarks))
        found.append(version)
    return found


def _of_sweep(
    kernel: str, sweep: Sweep, records: Mapping[str, Record], place: Mapping[str, Any]
) -> tuple[Version, dict[tuple[Any, ...], str]]:
    """The version of a sweep, and the status of each of its points at the place."""
    statuses: dict[tuple[Any, ...], str] = {}
    timed = []
    for entry in sweep.points:
        record = records.get(entry.get("identity", ""))
        point = record.point if record else entry.get("point")
        if point is None or any(point.get(axis, value) != value for axis, value in place.items()):
            continue
        statuses[_key(point)] = entry["status"]
        if record and entry["status"] == "ok" and (times := record.times):
            timed.append((record, times))
    version = Version(kernel, sweep.revision, sweep.source, sweep.measured)
    if not timed:
        return version, statuses
    best, row = min(timed, key=lambda one: float(one[1]["time_us"]))
    return replace(version, point=best.point, row=row, settings=best.settings), statuses


def judged(versions: Sequence[Version], margin: float) -> list[Version]:
    """All kernels' versions, each judged against its kernel's latest version before it that has equal settings.

    margin  the smallest difference that matters, as a fraction

    It is judged as `compare` judges points.
    """
    rows = [
        version.row | dict(zip(("study", "kernel"), version.kernel.split("/"), strict=True)) for version in versions
    ]
    scatter = estimate([row for row in rows if "time_us" in row])
    found: list[Version] = []
    for version, row in zip(versions, rows, strict=True):
        earlier = [
            other
            for other in found
            if (other.kernel, other.settings) == (version.kernel, version.settings) and other.row
        ]
        if earlier and scatter and version.row:
            change = ratio(widened(row, scatter), widened(earlier[-1].row, scatter))
            version = replace(version, ratio=change, verdict=version.verdict or verdict(change, margin))
        found.append(version)
    return found


def _key(point: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(sorted(point.items()))


def _best(version: Version, place: Mapping[str, Any]) -> str:
    """The best configuration in words, without the values of the place."""
    return point_text({axis: value for axis, value in version.point.items() if axis not in place and value})
