"""The two sweeps that are compared: rows of measurements.csv, or what a journal kept of the same points from before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.analysis.reference import UNDEFINED_BEHAVIOUR
from kernelsweep.measure.journal import journals_of, read_values
from kernelsweep.measure.outcome import combined, flags_of, read_outcome
from kernelsweep.results import ALL_POINT_COLUMNS, BASELINE_PREFIX, Row, time_columns

# What names a row's point among a sweep's.
NAMES = ("study", "kernel", *ALL_POINT_COLUMNS)

# What must be equal, of what determines a point, for the code to be all that differs.
_SETTINGS = ("sampling", "repeated_runs", "seed", "code", "device", "driver")

NO_RECORD = "no earlier measurement with other machine code"
SAME_CODE = "the edit left the machine code as it was"

Name = tuple[str, ...]


@dataclass(frozen=True)
class _Record:
    """What the journal has of one point with one machine code and settings.

    measured  when its last line was added; place is that line's number among all lines of the kernel
    visits    the outcomes by the visits' numbers
    """

    settings: Mapping[str, Any]
    binary: str
    source: str
    measured: str
    place: int
    visits: Mapping[int, Mapping[str, Any]]


def kernels_rows(rows: Iterable[Row], studies: Sequence[str]) -> list[Row]:
    """The rows of these studies' kernels, without the baselines on the host's processor."""
    return [row for row in rows if row["study"] in studies and not row["kernel"].startswith(BASELINE_PREFIX)]


def read_settings(folder: Path) -> dict[str, Any]:
    """What was measured with, by names for readers, as far as environment.json in a folder of results tells."""
    path = folder / "environment.json"
    if not path.is_file():
        return {}
    environment = json.loads(path.read_text())
    config = environment["configuration"]["config"]
    settings = settings_of(config["measuring"], config["seed"], environment["device"])
    return {**settings, "compilers": ", ".join(environment["compilers"])}


def settings_of(measuring: Mapping[str, Any], seed: int, device: Mapping[str, Any]) -> dict[str, Any]:
    """What is measured with, by names for readers."""
    of_measuring = {f"measuring.{name}": value for name, value in measuring.items()}
    return {**of_measuring, "seed": seed, "driver": device.get("driver")}


def name_of(row: Mapping[str, Any]) -> Name:
    """What names a row's point."""
    return tuple(str(row.get(name) or "") for name in NAMES)


@dataclass(frozen=True)
class Previous:
    """What a journal has of points from before.

    rows       as of measurements.csv, with the time when each was measured
    reasons    why there is no row, by the point's name
    unchanged  the kernels, as `study/kernel`, whose latest edit, of a comment or the like, left the machine code as it
               was: what is compared of them is what the edit before did
    """

    rows: list[Row]
    reasons: dict[Name, str]
    unchanged: list[str]


def previous(after: Sequence[Row], results: Path) -> Previous:
    """The measurements before those of `after`, from the journals in their folder of results.

    Of each point the latest record with the same settings and device, but other machine code. Points that failed then
    have none: the journal keeps what came out right. Nor is there one of a point that was not run again after the
    kernel's latest edit, because that left its machine code as it was: what an older edit did is not the question.
    """
    result = Previous([], {}, [])
    for study, kernel in dict.fromkeys((row["study"], row["kernel"]) for row in after):
        records = _records(journals_of(results / f"journal/{study}/{kernel}.jsonl"))
        choices = [
            (row, *_own_and_previous(row, records))
            for row in after
            if (row["study"], row["kernel"]) == (study, kernel) and row["status"] != "skipped"
        ]
        compared = [(own, found) for _, own, found in choices if own and isinstance(found, _Record)]
        newest = max((own for own, _ in compared), default=None, key=_place)
        latest = max((found for _, found in compared), default=None, key=_place)
        for row, own, found in choices:
            if isinstance(found, str):
                result.reasons[name_of(row)] = found
            elif own and newest and latest and _stayed(own, found, newest, latest):
                result.reasons[name_of(row)] = SAME_CODE
            else:
                result.rows.append(_as_row(row, found))
        if newest and all(own and own.source != row["source_sha256"] for row, own, _ in choices):
            result.unchanged.append(f"{study}/{kernel}")
    return result


def _place(record: _Record) -> int:
    return record.place


def _own_and_previous(row: Row, records: Mapping[Name, list[_Record]]) -> tuple[_Record | None, _Record | str]:
    """The journal's record of a row, and the one before it, or why there is none."""
    # The journal's points have no grid where the launch plan sets it; rows always do.
    grid = NAMES.index("grid_size")
    point = name_of(row)[2:]
    without_grid = (*point[: grid - 2], "", *point[grid - 1 :])
    of_point = records.get(point) or records.get(without_grid) or []
    own = max((record for record in of_point if record.binary == row["binary_sha256"]), default=None, key=_place)
    others = [record for record in of_point if record.binary != row["binary_sha256"]]
    if not others:
        return own, SAME_CODE if own and own.source != row["source_sha256"] else NO_RECORD
    found = max((one for one in others if not own or one.settings == own.settings), default=None, key=_place)
    if found:
        return own, found
    assert own is not None, "without one, any other was found"
    differing = [name for name, value in max(others, key=_place).settings.items() if own.settings[name] != value]
    return own, f"measured with another {' and '.join(differing)} before"


def _stayed(own: _Record, found: _Record, newest: _Record, latest: _Record) -> bool:
    """Whether a kernel's latest edit left a point's machine code as it was, so that the point wasn't run for it.

    own, found      the point's records now and before
    newest, latest  the last of all points' records now, and of those before
    """
    if latest.place > newest.place:  # The edit was taken back: nothing was run for that.
        return found.place < own.place
    return own.source != newest.source


def _records(journals: Iterable[Path]) -> dict[Name, list[_Record]]:
    """The records of a kernel's journals by the point's names, without study and kernel.

    Lines of an earlier version of kernelsweep, which don't say what they are of, are left out.
    """
    records: dict[Name, dict[tuple[str, str], _Record]] = {}
    values = [value for journal in journals for value in read_values(journal)]
    # A journal's lines are in order already; those of chunks were added side by side.
    values.sort(key=lambda value: str(value.get("measured", "")))
    for place, value in enumerate(values):
        of = value.get("of")
        if not of:
            continue
        values = (of["point"].get(name) for name in ALL_POINT_COLUMNS)
        point = tuple("" if value is None else str(value) for value in values)
        settings = {name: of[name] for name in _SETTINGS}
        version = json.dumps(settings, sort_keys=True), of["binary"]
        known = records.setdefault(point, {}).get(version)
        records[point][version] = _Record(
            settings=settings,
            binary=of["binary"],
            source=value["source_sha256"],
            measured=value["measured"],
            place=place,
            visits={**(known.visits if known else {}), of["visit"]: value["outcome"]},
        )
    return {point: list(versions.values()) for point, versions in records.items()}


def _as_row(row: Row, record: _Record) -> Row:
    """A record of the point of a row, as a row of measurements.csv, with the time when it was measured."""
    outcome = combined([read_outcome(record.visits[visit]) for visit in sorted(record.visits)])
    size = int(row["array_size"]) * np.dtype(row["dtype"]).itemsize
    counted = [visit.counted for visit in outcome.visits]
    return {
        **{name: row[name] for name in NAMES},
        **(time_columns(counted, size, None) if counted else {}),
        "status": outcome.status,
        "device": record.settings["device"],
        "device_uuid": " ".join(sorted({visit.device_uuid for visit in outcome.visits if visit.device_uuid})),
        "flags": " ".join(flags_of(outcome, UNDEFINED_BEHAVIOUR in row["flags"].split())),
        "source_sha256": record.source,
        "binary_sha256": record.binary,
        "measured": record.measured,
    }
