"""How each study came out when it was last counted: the files status.json in results/.

The end of every run reads them, so this imports nothing that reads results.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kernelsweep.base.json_files import read_json, read_record
from kernelsweep.device.names import RECORDED_FILE

STATUS_FILE = "status.json"
PAGE_FILE = "report.html"

# The folders of a platform's results in which jobs write what is counted, one folder a study.
_COUNTED = ("points", "rivals", "proofs", "sanitizer")


@dataclass(frozen=True)
class StudyOutcome:
    """How a study came out.

    right, run  its points with the right result, and those that were run
    mistaken    its kernels in which a proof found a mistake
    skipped     its points that were not run; why_skipped: the most frequent reason, and the number of others
    edited      its kernels that were edited after they were recorded
    answer      what to use, in words by the names of the page's columns, and as "curve" the share of the peak at each
                size, from the first of the "sizes" to the last, and that of all "kernels"; empty without times
    failed      a sentence for each kernel with failed points
    claims      the number of claims on it with each kind of verdict
    outputs     of these, how many are published outputs
    excused     its points with another result, which undefined behaviour explains
    provenance  where its numbers come from
    device      what it was measured on, as a title
    clean       how many of its kernels checks found clean, and of each other kind, in words
    kind        the element type and the like that the answer holds for, of those that were swept; "" for all
    files       those with its points, in the platform's folder: others may be of kernels that it has no more
    """

    right: int
    run: int
    mistaken: int
    skipped: int = 0
    why_skipped: str = field(default="", compare=False)
    edited: Sequence[str] = ()
    title: str = field(default="", compare=False)
    answer: Mapping[str, Any] = field(default_factory=dict, compare=False)
    failed: Sequence[str] = field(default=(), compare=False)
    claims: Mapping[str, int] = field(default_factory=dict, compare=False)
    outputs: int = field(default=0, compare=False)
    excused: int = field(default=0, compare=False)
    provenance: str = field(default="", compare=False)
    device: str = field(default="", compare=False)
    clean: Sequence[str] = field(default=(), compare=False)
    kind: str = field(default="", compare=False)
    files: Sequence[str] = field(default=(), compare=False)

    @property
    def is_right(self) -> bool:
        """Whether all is right."""
        return 0 < self.run == self.right and not self.mistaken

    @property
    def fault(self) -> str:
        """Why not all is right, such as "84 of 252 points failed"."""
        if self.right == self.run:
            return "a check of memory found a mistake" if self.mistaken else "no point was run"
        return f"{self.run - self.right:,} of {self.run:,} points failed"

    @property
    def in_words(self) -> str:
        """Such as "✗ 168 of 252 right"."""
        text = f"{self.right:,} of {self.run:,} right"
        if self.edited:
            return f"{text}, recorded before an edit of {', '.join(self.edited)}"
        found = ", and a check found a mistake" if self.mistaken and self.right == self.run else ""
        return f"{'✓' if self.is_right else '✗'} {text}{found}"


@dataclass(frozen=True)
class Status:
    """A scope's status.json.

    folder  the scope's results
    made    when it was counted, in nanoseconds
    device  what the platform's studies were measured on, as a title
    errors  the number of reasons for which the run is incomplete
    """

    folder: Path
    made: int
    provenance: str
    errors: int
    studies: Mapping[str, StudyOutcome]
    device: str = ""


@dataclass(frozen=True)
class PlatformStatus:
    """A platform's results.

    statuses  of all studies, if there is one, and of other scopes
    """

    folder: Path
    statuses: Sequence[Status]

    @property
    def whole(self) -> Status | None:
        """Its status for all studies, if there is one."""
        return next((one for one in self.statuses if one.folder == self.folder), None)

    @property
    def device(self) -> str:
        """What it was measured on, as a title."""
        return (self.whole or self.statuses[-1]).device

    @property
    def studies(self) -> list[str]:
        """Every study that was counted."""
        return list(dict.fromkeys(study for status in self.statuses for study in status.studies))

    def changed(self, study: str) -> int:
        """When a study's points or proofs were last written, or became another recording's, in nanoseconds."""
        written = self._written(study)
        if not written and (recorded := self.folder / RECORDED_FILE).is_file():
            return int(read_json(recorded)["since"])
        # A recording's points come in one file.
        return max((_made(path) for path in written or [self.folder / "measurements.csv"] if path.is_file()), default=0)

    def again(self, study: str, since: int) -> str:
        """What was done after a count in words, such as "neighbored measured again"."""
        if (self.folder / RECORDED_FILE).is_file():
            return f"{study} recorded again"
        kernels = sorted({path.stem for path in self._written(study) if _made(path) > since})
        return f"{', '.join(kernels) if len(kernels) < 4 else f'{len(kernels)} kernels'} measured again"

    def _written(self, study: str) -> list[Path]:
        return [path for name in _COUNTED for path in (self.folder / name / study).glob("*.csv")]

    def newest(self, study: str) -> Status:
        """Where a study was counted last."""
        return max((one for one in self.statuses if study in one.studies), key=lambda status: status.made)

    def outcome(self, study: str) -> StudyOutcome:
        """How a study came out when it was counted last."""
        return self.newest(study).studies[study]

    def is_uncounted(self, study: str) -> bool:
        """Whether a study's points or proofs were written after they were counted last."""
        return self.changed(study) > self.newest(study).made

    def is_old(self, study: str, status: Status) -> bool:
        """Whether a scope's results of a study are not those of today."""
        return self.changed(study) > status.made or self.outcome(study) != status.studies[study]


def counts_text(studies: Collection[Any], what: str = "") -> str:
    """The points of studies that are right, of those that were run, and the others: "168 of 252", without why."""
    kinds = ("right", "run", "skipped", "excused")
    right, run, skipped, excused = (sum(getattr(one, kind) for one in studies) for kind in kinds)
    undefined = f" (besides {excused:,} of undefined behaviour)" if excused else ""
    why = "".join(f": {one.why_skipped}" for one in studies if what and one.why_skipped and len(studies) == 1)
    return f"{right:,} of {run:,}{what}" + (f", {skipped:,} skipped{why}" if skipped else "") + undefined


def read_statuses(results: Path) -> list[PlatformStatus]:
    """The status of each platform with results. Raises UserError for a file that can't be read."""
    folders = sorted([*results.glob("*/"), *results.glob("recording/*/")])
    return [platform for platform in map(read_platform, folders) if platform.statuses]


def read_platform(folder: Path) -> PlatformStatus:
    """The status of the platform with results in this folder. Raises UserError for a file that can't be read."""
    files = [folder / STATUS_FILE, *sorted(folder.glob(f"studies/*/{STATUS_FILE}"))]
    found = [read_record(path, Status, folder=path.parent, made=_made(path)) for path in files if path.is_file()]
    return PlatformStatus(folder, [status for status in found if status.studies])


def _made(path: Path) -> int:
    return path.stat().st_mtime_ns


def when(nanoseconds: int) -> str:
    """A time in words: 2026-11-24 03:12 UTC."""
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y-%m-%d %H:%M UTC")
