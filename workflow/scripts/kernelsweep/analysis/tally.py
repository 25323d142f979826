"""What the rows of measurements.csv come to, counted one after another: there may be millions of them."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf

# Of a kernel's failed rows, so many of each status are kept to be listed.
LISTED_PER_KERNEL = 5

# A right run may have these: a sweep may ask for more memory than there is, and skipped points say why.
HARMLESS = ("ok", "skipped", "out_of_memory")

# The columns that add up.
_SUMMED = ("seconds", "busy_seconds")

Row = Mapping[str, str]


@dataclass
class Tally:
    """The rows, counted.

    points             how many, by study, kernel and status, in the order in which they were met
    skipped            how many were skipped, by study, kernel and why
    failed             how many are neither ok nor skipped, by study and kernel
    first_failed       the first few of these rows, by study and kernel
    failures           how many must fail the run (is_failure), by study and kernel
    times_us, spreads  of the points that were visited several times: the time, and how far their visits lie apart
    flags              how many of those points have which
    seconds            what those points took: seconds and busy_seconds, as the columns are called
    clocks_mhz         the lowest clock that a point was timed at, and the highest of these; infinite without any
    """

    points: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    skipped: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    failed: Counter[tuple[str, str]] = field(default_factory=Counter)
    first_failed: dict[tuple[str, str], list[Row]] = field(default_factory=dict)
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    times_us: array[float] = field(default_factory=lambda: array("d"))
    spreads: array[float] = field(default_factory=lambda: array("d"))
    flags: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_SUMMED, 0.0))
    clocks_mhz: tuple[float, float] = (inf, -inf)

    def by_status(self, study: str | None = None) -> Counter[str]:
        """How many points came out how, of a study or of all; ok first."""
        counts: Counter[str] = Counter()
        for (of, _, status), count in self.points.items():
            if study in (None, of):
                counts[status] += count
        return Counter(dict(sorted(counts.items(), key=lambda entry: (entry[0] != "ok", entry[0]))))


def is_failure(row: Row) -> bool:
    """Whether a row must fail its run: a wrong result, or a point that could not be run.

    A kernel that is marked as undefined behaviour has no right result, so it fails only where it doesn't compile.
    """
    return row["status"] not in HARMLESS and not is_excused(row)


def is_excused(row: Row) -> bool:
    """Whether undefined behaviour explains a failed row."""
    return "undefined_behaviour" in row["flags"] and row["status"] != "build_failed"


def tally(rows: Iterable[Row]) -> Tally:
    """Count the rows."""
    counted = Tally()
    lowest, highest = counted.clocks_mhz
    for row in rows:
        study, kernel, status = row["study"], row["kernel"], row["status"]
        counted.points[study, kernel, status] += 1
        if status == "skipped":
            counted.skipped[study, kernel, row["message"]] += 1
        elif status != "ok":
            counted.failed[study, kernel] += 1
            counted.failures[study, kernel] += is_failure(row)
            kept = counted.first_failed.setdefault((study, kernel), [])
            if sum(other["status"] == status for other in kept) < LISTED_PER_KERNEL:
                kept.append(row)
        if row.get("visit_spread"):
            counted.times_us.append(float(row["time_us"]))
            counted.spreads.append(float(row["visit_spread"]))
            counted.flags.update(row["flags"].split())
            for name in _SUMMED:
                counted.seconds[name] += float(row.get(name) or 0)
        if row.get("clock_mhz"):
            clock = float(row["clock_mhz"])
            lowest, highest = min(lowest, clock), max(highest, clock)
    counted.clocks_mhz = (lowest, highest)
    return counted
