"""The two compared sweeps: rows of measurements.csv, or a journal's earlier records of the same points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic's, before Python 3.12

from kernelsweep.base.groups import grouped
from kernelsweep.base.json_files import first_mistake
from kernelsweep.device.outcome import Outcome, combined, flags_of, read_outcome
from kernelsweep.device.pairs import pairs_of
from kernelsweep.results import ALL_POINT_COLUMNS, Row, point_columns, time_columns
from kernelsweep.sweep.editions import Editions, failed_checks, is_of_checks, place_of
from kernelsweep.sweep.identity import identity_sha256
from kernelsweep.sweep.journal import AGAIN, journals_of, ordered, read_lines, refused_line


@dataclass
class Record:
    """The visits to a point with one version of the user's code and one set of settings.

    identity  the SHA-256 of point, version and settings, as in the column identity_sha256
    source    the kernel's source at the last visit
    measured  the time of the last visit (UTC)
    first     the number of the first visit's line among all lines of the kernel
    place     the number of the last visit's line, or of the line that says that an edit brought this version back
    since     the number of the first line, of any point, with its source
    right     the outcomes of right visits by number; a visit that failed later is none
    """

    identity: str
    point: Mapping[str, Any]
    version: Mapping[str, Any]
    settings: Mapping[str, Any]
    source: str = ""
    measured: str = ""
    first: int = 0
    place: int = 0
    since: int = 0
    right: dict[int, Outcome] = field(default_factory=dict)

    @property
    def common(self) -> str:
        """What all versions of the point have in common."""
        return place_of({"point": self.point, "settings": self.settings})

    @property
    def outcome(self) -> Outcome:
        """The visits as one outcome."""
        return combined([self.right[visit] for visit in sorted(self.right)])

    @property
    def times(self) -> Row:
        """The columns of the time; empty where no visit was timed."""
        counted = [visit.counted for visit in self.outcome.visits] if self.right else []
        return time_columns(counted, {}, None) if counted else {}


def read_records(journals: Sequence[Path]) -> dict[str, Record]:
    """The records in a kernel's journals by identity, in the order in which each was there last.

    Raises UserError, naming file and line, for a line that is no journal's.

    A journal's lines are in their order. Jobs of several chunks write at the same time: their lines are ordered by the
    clock.
    """
    return _records(_ordered_lines(journals))


def _ordered_lines(journals: Sequence[Path]) -> list[dict[str, Any]]:
    return ordered([line for path in journals for line in _lines(path)], len(journals))


def _records(lines: Sequence[Mapping[str, Any]]) -> dict[str, Record]:
    records: dict[str, Record] = {}
    since: dict[str, int] = {}
    for place, line in enumerate(lines):
        key = line["of"]
        shared = {name: key[name] for name in ("point", "version", "settings")}
        identity = identity_sha256(shared)
        record = records.pop(identity, None) or Record(identity, **shared, first=place)
        records[identity], record.place = record, place
        record.source = line.get("source_sha256", record.source)
        if AGAIN in line:
            continue
        record.measured = line["measured"]
        record.since = since.setdefault(record.source, place)
        if line["outcome"].status == "ok":
            record.right[line["visit"]] = line["outcome"]
        else:
            record.right.pop(line["visit"], None)
    return records


def differing(settings: Mapping[str, Any], others: Mapping[str, Any]) -> list[str]:
    """The names of the settings in which two records differ, in words."""
    names = sorted({name for name in {**settings, **others} if settings.get(name, "") != others.get(name, "")})
    return [name.replace(".", " ").replace("_", " ") for name in names]


_Settings = TypedDict("_Settings", {"device.name": str})


class _Version(TypedDict):
    binary: str


class _Identity(TypedDict):
    point: dict[str, str | int | float | bool | None]
    version: _Version
    settings: _Settings
    visit: NotRequired[int]


class _Line(TypedDict):
    of: _Identity
    again: NotRequired[str]


class _Visit(_Line):
    measured: str
    source_sha256: str


_LINE, _VISIT = TypeAdapter(_Line), TypeAdapter(_Visit)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The values of a journal's lines, each with its outcome as a record."""
    for number, value in read_lines(path):
        try:
            if is_of_checks(value):
                continue
            if AGAIN in value:
                _LINE.validate_python(value, strict=True)
                yield value
            else:
                _VISIT.validate_python(value, strict=True)
                outcome = read_outcome(value["outcome"])
                yield {**value, "outcome": outcome, "status": outcome.status, "visit": value["of"]["visit"]}
        except ValidationError as error:
            raise refused_line(path, number, f"it has another form ({first_mistake(error)})") from error
        except (TypeError, KeyError, ValueError) as error:
            raise refused_line(path, number, f"it has another form ({error})") from error


# The columns that identify a row's point.
NAME_COLUMNS = ("study", "kernel", *ALL_POINT_COLUMNS)

NO_RECORD = "not edited since they were first measured"
FAILED_BEFORE = "no other version was right at all its points and in its checks"
NOT_BEFORE = "not measured just before the edit"
SAME_CODE = "the edit left the machine code as it was"
TAKEN_BACK = "the edit was taken back"

Name = tuple[str, ...]
_FIRST, _PLACE = attrgetter("first"), attrgetter("place")


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

    That is one edition of each kernel: the newest before the edit that was right at all points and in all checks. For
    each point it is the right record with the same settings and device, but another version: other machine code,
    launches or problem; where only counts are known, also other source. An edit that brings back an edition is compared
    with what was before that one. A point that the latest edit did
    not change has no row: it was not measured again, and the effect of an older edit is not of interest. Nor has one
    whose edit was taken back: it is as it was before all that could be compared with it. So are points that were first
    measured with that edit: the kernel's other points, or its source, say that it was taken back.
    """
    result = Previous([], {}, [])
    for study, kernel in dict.fromkeys((row["study"], row["kernel"]) for row in after):
        journals = journals_of(results / f"journal/{study}/{kernel}.jsonl")
        records = _records(lines := _ordered_lines(journals))
        editions = Editions(lines, failed_checks(journals))
        of_point = grouped(records.values(), lambda record: name_of(point_columns(record.point))[2:])
        rows = [row for row in after if (row["study"], row["kernel"]) == (study, kernel) and row["status"] != "skipped"]
        visits = [_visited(row, records, of_point) for row in rows]
        own_versions: dict[str, set[str]] = {}
        for _, same, _ in visits:
            for one in same:
                own_versions.setdefault(one.common, set()).add(one.identity)
        latest = max((own for own, _, _ in visits if own), default=None, key=_FIRST)
        right = editions.before(latest.common if latest else "", own_versions)
        choices = [(row, each[0], _earlier(row, *each, right)) for row, each in zip(rows, visits, strict=True)]
        # Where an earlier edit ran at some points only, as with --config axes=, the others have no baseline.
        by_code = grouped(
            ((own, earlier) for _, own, earlier in choices if own and isinstance(earlier, Record)),
            lambda pair: pair[0].version["binary"],
        )
        latest_of = {code: max((earlier for _, earlier in pairs), key=_PLACE) for code, pairs in by_code.items()}
        older = [
            earlier.identity
            for code, pairs in by_code.items()
            for _, earlier in pairs
            if earlier.source != latest_of[code].source
            and earlier.version["binary"] != latest_of[code].version["binary"]
        ]
        choices = [
            (row, own, NOT_BEFORE if isinstance(earlier, Record) and earlier.identity in older else earlier)
            for row, own, earlier in choices
        ]
        is_wrong = any(row["status"] != "ok" for row in rows)
        compared = [(own, earlier) for _, own, earlier in choices if own and isinstance(earlier, Record)]
        # What is taken back was there before what it would be compared with.
        back = {own.version["binary"] for own, earlier in compared if earlier.first > own.first and not is_wrong}
        undone = {
            own.identity
            for own, earlier in compared
            if own.version["binary"] in back or (back and earlier.since > own.since)
        }
        newest = max((own for own, _ in compared), default=None, key=_FIRST)
        is_taken_back = newest is not None and (
            newest.identity in undone or any(earlier.first > newest.first and not is_wrong for _, earlier in compared)
        )
        for row, own, earlier in choices:
            if own and (is_taken_back or own.identity in undone):
                result.reasons[name_of(row)] = TAKEN_BACK
            elif isinstance(earlier, str):
                result.reasons[name_of(row)] = NOT_BEFORE if newest and earlier == NO_RECORD else earlier
            else:
                result.rows.append(_as_row(row, earlier, own))
        is_commented = all(own and own.source != row["source_sha256"] for row, own, _ in choices)
        if newest and is_commented and not is_taken_back:
            result.unchanged.append(f"{study}/{kernel}")
    return result


def _visited(
    row: Row, records: Mapping[str, Record], of_point: Mapping[Name, Sequence[Record]]
) -> tuple[Record | None, list[Record], list[Record]]:
    """The journal's record of a row, those of the same version, and those of other versions."""
    # If the launch plan sets the grid size, rows have it but the journal's points don't.
    visited = of_point.get(name_of(row)[2:]) or of_point.get(name_of({**row, "grid_size": None})[2:]) or []
    # A search measures most points by settings of its own.
    searched = (record for record in visited if record.version["binary"] == row["binary_sha256"])
    own = records.get(row["identity_sha256"]) or max(searched, default=None, key=_PLACE)
    same = [record for record in visited if own and _is_same_version(record, own)]
    others = [record for record in visited if record not in same]
    return replace(own, first=min(record.first for record in same)) if own else None, same, others


def _earlier(
    row: Row, own: Record | None, same: list[Record], others: list[Record], right: Mapping[str, str] | None
) -> Record | str:
    """The record before a row's, or the reason why there is none.

    same, others, right  as _visited() and Editions.before() give them
    """
    measured = [one for one in others if one.right]
    if not measured:
        failed = min(map(_FIRST, others), default=None)
        reason = NO_RECORD if failed is None else TAKEN_BACK if own and own.first < failed else FAILED_BEFORE
        return SAME_CODE if own and own.source != row["source_sha256"] else reason
    comparable = [one for one in measured if not own or one.settings == own.settings]
    if not comparable:
        assert own is not None, "without one, any other was found"
        changed = differing(max(measured, key=_PLACE).settings, own.settings)
        return f"measured with another {' and '.join(changed)} before"
    if not right:
        is_back = own is not None and any(one.first > own.first for one in comparable)
        return TAKEN_BACK if right is not None or is_back else FAILED_BEFORE
    versions = {*right.values()}
    if latest := max((one for one in comparable if one.identity in versions), default=None, key=_PLACE):
        return replace(latest, first=min(one.first for one in others if _is_same_version(one, latest)))
    return SAME_CODE if any(one.identity in versions for one in same) else NOT_BEFORE


def _is_same_version(record: Record, own: Record) -> bool:
    """Whether nobody edited anything between two records of a point.

    The emulator's binary has all variants of a unit: another list of values alone makes it another one. What counts the
    same with the same source, launches and problem is the same version.
    """
    if record.version == own.version:
        return True
    versions = [{**one.version, "binary": ""} for one in (record, own)]
    if versions[0] != versions[1] or record.source != own.source or not (record.right and own.right):
        return False
    return not own.times and bool(own.outcome.counts) and record.outcome.counts == own.outcome.counts


def _as_row(row: Row, record: Record, own: Record | None) -> Row:
    """A record as a row of measurements.csv, with the time of the measurement.

    row, own  the row now of its point, and that row's record
    """
    outcome = record.outcome
    # Pairs are in the record of the later version.
    is_paired = own and own.right and record.right and own.outcome.before_binary == record.version["binary"]
    return {
        **{name: row[name] for name in NAME_COLUMNS},
        **record.times,
        "status": outcome.status,
        "device": record.settings["device.name"],
        "device_uuid": " ".join(sorted({visit.device_uuid for visit in outcome.visits if visit.device_uuid})),
        "flags": " ".join(flags_of(outcome, "undefined_behaviour" in row["flags"].split())),
        "source_sha256": record.source,
        "binary_sha256": record.version["binary"],
        "measured": record.measured,
        "changed": differing(record.version, own.version) if own else [],
        "pairs": pairs_of(own.outcome) if own and is_paired else None,
        "counts": (outcome.counts, own.outcome.counts) if own and own.right else ({}, {}),
    }
