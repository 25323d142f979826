"""The two compared sweeps: rows of measurements.csv, or a journal's earlier records of the same points."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelsweep.analysis.reference import UNDEFINED_BEHAVIOUR
from kernelsweep.json_files import read_json
from kernelsweep.measure.journal import journals_of, read_values
from kernelsweep.measure.outcome import combined, flags_of, read_outcome
from kernelsweep.results import ALL_POINT_COLUMNS, BASELINE_PREFIX, Row, point_columns, time_columns

# The columns that identify a row's point.
NAME_COLUMNS = ("study", "kernel", *ALL_POINT_COLUMNS)

# The settings of a measurement that must be equal, so that only the code differs.
_SETTINGS = ("sampling", "repeated_runs", "seed", "code", "device", "driver")

NO_RECORD = "no earlier measurement with other machine code"
SAME_CODE = "the edit left the machine code as it was"

Name = tuple[str, ...]


@dataclass(frozen=True)
class _Record:
    """The journal's lines on one point with one machine code and one set of settings.

    measured  the time of its last line
    place     the number of its last line among all lines of the kernel
    visits    outcomes by the number of the visit
    """

    settings: Mapping[str, Any]
    binary: str
    source: str
    measured: str
    place: int
    visits: Mapping[int, Mapping[str, Any]]


def kernels_rows(rows: Iterable[Row], studies: Sequence[str]) -> list[Row]:
    """The rows of these studies' kernels, without the host's baselines."""
    return [row for row in rows if row["study"] in studies and not row["kernel"].startswith(BASELINE_PREFIX)]


def read_settings(folder: Path) -> dict[str, Any]:
    """The settings of a folder of results by readable names, from its environment.json; empty without that file."""
    path = folder / "environment.json"
    if not path.is_file():
        return {}
    environment = read_json(path)
    config = environment["configuration"]["config"]
    settings = settings_of(config["measuring"], config["seed"], environment["device"])
    return {**settings, "compilers": ", ".join(environment["compilers"])}


def settings_of(measuring: Mapping[str, Any], seed: int, device: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of measurements by readable names."""
    of_measuring = {f"measuring.{name}": value for name, value in measuring.items()}
    return {**of_measuring, "seed": seed, "driver": device.get("driver")}


def name_of(row: Mapping[str, Any]) -> Name:
    """The values of NAME_COLUMNS in a row."""
    return tuple(str(row.get(name) or "") for name in NAME_COLUMNS)


@dataclass(frozen=True)
class Previous:
    """Earlier measurements of points, from a journal.

    rows       rows of measurements.csv, with the time of each measurement
    reasons    by a point's name, the reason why it has no row
    unchanged  kernels (`study/kernel`) whose latest edit did not change the machine code, such as an edit of a
               comment; the comparison then shows the effect of the edit before it
    """

    rows: list[Row]
    reasons: dict[Name, str]
    unchanged: list[str]


def previous(after: Sequence[Row], results: Path) -> Previous:
    """The measurements that preceded `after`, from the journals in their folder of results.

    For each point, that is the latest record with the same settings and device but other machine code. Points that
    failed have no record, since the journal keeps right results only. A point whose machine code the latest edit did
    not change has no row either: it was not measured again, and the effect of an older edit is not of interest.
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
            elif own and newest and latest and _unchanged_by_edit(own, found, newest, latest):
                result.reasons[name_of(row)] = SAME_CODE
            else:
                result.rows.append(_as_row(row, found))
        if newest and all(own and own.source != row["source_sha256"] for row, own, _ in choices):
            result.unchanged.append(f"{study}/{kernel}")
    return result


def _place(record: _Record) -> int:
    return record.place


def _own_and_previous(row: Row, records: Mapping[Name, list[_Record]]) -> tuple[_Record | None, _Record | str]:
    """The journal's record of a row, and the record before it or the reason why there is none."""
    # If the launch plan sets the grid size, rows have it but the journal's points don't.
    grid = NAME_COLUMNS.index("grid_size")
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


def _unchanged_by_edit(own: _Record, found: _Record, newest: _Record, latest: _Record) -> bool:
    """Whether a kernel's latest edit did not change a point's machine code, so that the point did not run again.

    own, found      the point's current and previous record
    newest, latest  the last current and the last previous record of all points
    """
    if latest.place > newest.place:  # The edit was reverted, which ran nothing.
        return found.place < own.place
    return own.source != newest.source


def _records(journals: Iterable[Path]) -> dict[Name, list[_Record]]:
    """The records of a kernel's journals by NAME_COLUMNS without study and kernel.

    Lines of earlier versions of kernelsweep, which lack the point, are left out.
    """
    records: dict[Name, dict[tuple[str, str], _Record]] = {}
    values = [value for journal in journals for value in read_values(journal) if isinstance(value, dict)]
    # Lines of one journal are in order; chunks of a kernel wrote their journals at the same time.
    values.sort(key=lambda value: str(value.get("measured", "")))
    for place, value in enumerate(values):
        of = value.get("of")
        if not of:
            continue
        columns = point_columns(of["point"])
        axes = (columns.get(name) for name in ALL_POINT_COLUMNS)
        point = tuple("" if value is None else str(value) for value in axes)
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
    """A record as a row of measurements.csv, with the time of the measurement; `row` is another row of its point."""
    outcome = combined([read_outcome(record.visits[visit]) for visit in sorted(record.visits)])
    counted = [visit.counted for visit in outcome.visits]
    return {
        **{name: row[name] for name in NAME_COLUMNS},
        **(time_columns(counted, {}, None) if counted else {}),
        "status": outcome.status,
        "device": record.settings["device"],
        "device_uuid": " ".join(sorted({visit.device_uuid for visit in outcome.visits if visit.device_uuid})),
        "flags": " ".join(flags_of(outcome, UNDEFINED_BEHAVIOUR in row["flags"].split())),
        "source_sha256": record.source,
        "binary_sha256": record.binary,
        "measured": record.measured,
    }
