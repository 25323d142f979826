"""Count the rows of measurements.csv, one after another: there may be millions. Say what of the plan was not run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kernelsweep.reasons import Reason
from kernelsweep.results import STATUSES, Table

# The number of failed rows of a kernel and status that are kept for lists.
LISTED_PER_KERNEL = 5

# The statuses of a correct run: a sweep may need more memory than there is, and skipped points say why.
HARMLESS = ("ok", "skipped", "out_of_memory")

# The columns in which all rows of a run should agree, and what they say in words.
_OF_MACHINE = {
    "compiler": "compiler",
    "power_limit_w": "power limit in W",
    "clock_limit_mhz": "clock limit in MHz",
}

CsvRow = Mapping[str, str]


@dataclass
class RowCounts:
    """Counts of rows.

    points             by study, kernel and status, in the order of the rows
    skipped            skipped rows by study, kernel and message
    mistakes           those that a mistake in their study's files keeps from running
    excused            rows of which undefined behaviour explains the status (is_excused), by study and kernel
    failed             other rows that are neither ok nor skipped, by study and kernel
    first_failed       the first few of these rows, by study and kernel
    failures           rows that must fail the run (is_failure), by study and kernel
    run_again          the number of failed rows that the next command runs again
    once_wrong         rows that are right, and were wrong in an earlier run of the same code
    times              timed rows, by study and whether several visits are behind them
    machines           the values of each column of _OF_MACHINE, without empty ones
    """

    points: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    skipped: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    mistakes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    failed: Counter[tuple[str, str]] = field(default_factory=Counter)
    excused: Counter[tuple[str, str]] = field(default_factory=Counter)
    first_failed: dict[tuple[str, str], list[CsvRow]] = field(default_factory=dict)
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    run_again: int = 0
    once_wrong: list[CsvRow] = field(default_factory=list)
    times: Counter[tuple[str, bool]] = field(default_factory=Counter)
    machines: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in _OF_MACHINE})

    def count(self, tables: Iterable[Table]) -> Iterator[Table]:
        """Count the rows of tables while they are read on."""
        for table in tables:
            self.points.update(zip(table["study"], table["kernel"], table["status"], strict=True))
            times = table.get("time_us", ())
            timed = zip(table["study"], times, table.get("visit_spread") or [""] * len(times), strict=False)
            self.times.update((study, bool(spread)) for study, time, spread in timed if time)
            for name, values in self.machines.items():
                values |= {*table.get(name, ())} - {""}
            for place, (status, flags) in enumerate(zip(table["status"], table["flags"], strict=True)):
                if status != "ok" or "once_wrong" in flags:
                    self._count_special({name: texts[place] for name, texts in table.items()})
            yield table

    def _count_special(self, row: CsvRow) -> None:
        status, kernel = row["status"], (row["study"], row["kernel"])
        if status == "ok":
            self.once_wrong.append(row)
        elif status == "skipped":
            self.skipped[*kernel, row["message"]] += 1
            self.mistakes[*kernel, row["message"]] += row.get("reason") == Reason.STUDY_MISTAKE
        elif is_excused(row):
            self.excused[kernel] += 1
        else:
            self.failed[kernel] += 1
            self.run_again += "runs_again" in row["flags"]
            self.failures[kernel] += is_failure(row)
            kept = self.first_failed.setdefault(kernel, [])
            if sum(other["status"] == status for other in kept) < LISTED_PER_KERNEL:
                kept.append(row)

    def differing(self) -> list[str]:
        """A sentence for each property of the machine in which rows differ, so that their times can't be compared."""
        differing = {name: sorted(values) for name, values in self.machines.items() if len(values) > 1}
        return [f"Rows differ in their {_OF_MACHINE[name]}: {', '.join(values)}." for name, values in differing.items()]

    def by_status(self, study: str | None = None) -> Counter[str]:
        """The number of points by status, of a study or of all studies; ok first."""
        counts: Counter[str] = Counter()
        for (of, _, status), count in self.points.items():
            if study in (None, of):
                counts[status] += count
        return Counter(dict(sorted(counts.items(), key=lambda entry: (entry[0] != "ok", entry[0]))))

    def why_skipped(self, study: str) -> str:
        """Why points of a study were skipped: the most frequent reason, and how many others there are; "" for none."""
        reasons: Counter[str] = Counter()
        for (of, _, message), count in self.skipped.items():
            reasons[message] += count * (of == study)
        (first, count), *others = (+reasons).most_common() or [("", 0)]
        rest = f" ({count:,}); {len(others)} other reason{'s' * (len(others) > 1)}" if others else ""
        return f"“{first}”{rest}" if first else ""

    def has_points(self, study: str, kernel: str) -> bool:
        """Whether a kernel has rows, whatever their status."""
        return any(self.points[study, kernel, status] for status in STATUSES)

    def has_run(self, kernel: PlannedKernel) -> bool:
        """Whether a point of a kernel was run: not every row is `skipped`."""
        return any(self.points[kernel.study, kernel.kernel, status] for status in STATUSES if status != "skipped")

    def excused_in(self, study: str | None = None) -> int:
        """The number of failed points whose status undefined behaviour explains, of a study or of all studies."""
        return sum(count for (of, _), count in self.excused.items() if study in (None, of))

    def run_in(self, study: str | None = None) -> int:
        """The number of points that were run, of a study or of all studies; without those in `excused`."""
        counts = self.by_status(study)
        return counts.total() - counts["skipped"] - self.excused_in(study)


def is_failure(row: CsvRow) -> bool:
    """Whether a row must fail its run: a wrong result, or a point that could not be run.

    A kernel that is marked as undefined behaviour has no right result, so it fails only where it doesn't compile.
    """
    return row["status"] not in HARMLESS and not is_excused(row)


def is_excused(row: CsvRow) -> bool:
    """Whether undefined behaviour explains a failed row."""
    return "undefined_behaviour" in row["flags"] and row["status"] != "build_failed"


@dataclass(frozen=True)
class PlannedKernel:
    """One kernel of a run's plan.

    is_made     whether the run makes its rows
    cannot_run  why the platform can run none of its points, or None
    file        its source's, from the repository's folder
    """

    study: str
    kernel: str
    cannot_run: str | None
    is_made: bool = True
    file: str = ""


def studies_not_run(counted: RowCounts, planned: Sequence[PlannedKernel]) -> list[str]:
    """The studies of which no point was run, although the platform could run one of their kernels.

    A recording may lack a study, and that is no mistake of the run's.
    """
    ran = {kernel.study for kernel in planned if counted.has_run(kernel)}
    could_run = [kernel.study for kernel in planned if kernel.is_made and not kernel.cannot_run]
    return [study for study in dict.fromkeys(could_run) if study not in ran]
