"""What a kernel's journals say: the visits to each point under each version and setting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelsweep.measure.identity import identity_sha256
from kernelsweep.measure.journal import read_lines, refused_line
from kernelsweep.measure.outcome import Outcome, combined, read_outcome
from kernelsweep.results import Row, time_columns


@dataclass
class Record:
    """The visits to a point with one version of the user's code and one set of settings.

    identity  the SHA-256 of point, version and settings, as in the column identity_sha256
    source    the kernel's source at the last visit
    measured  the time of the last visit (UTC)
    place     the number of the last visit's line among all lines of the kernel
    right     the outcomes of right visits by number; a visit that failed later is none
    """

    identity: str
    point: Mapping[str, Any]
    version: Mapping[str, Any]
    settings: Mapping[str, Any]
    source: str = ""
    measured: str = ""
    place: int = 0
    right: dict[int, Outcome] = field(default_factory=dict)

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
    """The records in a kernel's journals by identity, in the order of their last visits.

    Raises UserError, naming file and line, for a line that is no journal's.

    A journal's lines are in their order. Jobs of several chunks write at the same time: their lines are ordered by the
    clock.
    """
    lines = [line for path in journals for line in _lines(path)]
    if len(journals) > 1:
        lines.sort(key=lambda line: str(line["measured"]))
    records: dict[str, Record] = {}
    for place, line in enumerate(lines):
        of = line["of"]
        shared = {name: of[name] for name in ("point", "version", "settings")}
        identity = identity_sha256(shared)
        record = records.pop(identity, None) or Record(identity, **shared)
        record.source, record.measured, record.place = line["source_sha256"], line["measured"], place
        if line["outcome"].status == "ok":
            record.right[of["visit"]] = line["outcome"]
        else:
            record.right.pop(of["visit"], None)
        records[identity] = record
    return records


def differing(settings: Mapping[str, Any], others: Mapping[str, Any]) -> list[str]:
    """The names of the settings in which two records differ, in words."""
    names = sorted({name for name in {**settings, **others} if settings.get(name, "") != others.get(name, "")})
    return [_IN_WORDS.get(name, name.partition(".")[2].replace("_", " ") or name) for name in names]


_IN_WORDS = {
    "code": "measuring code",
    "numpy": "release of NumPy",
    "device.name": "device",
    "against": "kernel beside it",
}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The values of a journal's lines, each with its outcome as a record."""
    for number, value in read_lines(path):
        try:
            if "sweep" not in value:  # As earlier releases left them.
                yield {**value, "outcome": read_outcome(value["outcome"])}
        except (TypeError, KeyError, AttributeError) as error:
            raise refused_line(path, number, f"it has another form ({error})") from error
