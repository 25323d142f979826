"""Whether a run has every row that its plan asks for, and whether each kernel was run at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kernelsweep.analysis.row_counts import RowCounts
from kernelsweep.results import STATUSES


@dataclass(frozen=True)
class PlannedKernel:
    """One kernel of a run's plan.

    rows        the number of rows that its axes span; None where nothing tells: for a recording, whose plan isn't kept,
                and where a launch fits its grid to the problem
    is_made     whether the run makes its rows
    file        the file that holds these rows
    cannot_run  why the platform can run none of its points, or None
    excluded    the number of combinations that restrictions exclude, where these are no rows
    valid       the number of points that restrictions leave, where excluded points are no rows
    searched    whether a search chooses the points that are rows
    """

    study: str
    kernel: str
    rows: int | None
    file: str
    cannot_run: str | None
    excluded: int = 0
    valid: int = 0
    searched: bool = False
    is_made: bool = True


def row_count_errors(counted: RowCounts, planned: Iterable[PlannedKernel]) -> list[str]:
    """A sentence for each kernel whose file has more or fewer rows than planned: where, how many, and the cure."""
    return [
        f"{kernel.study}/{kernel.kernel}: {kernel.file} has {found} rows of this kernel; {kernel.rows} are planned. "
        "Delete the file and type the same command again: points measured before are not measured again."
        for kernel in planned
        if kernel.rows not in (None, found := _rows(counted, kernel)) and not ended_early(counted, kernel)
    ]


def ended_early(counted: RowCounts, kernel: PlannedKernel) -> bool:
    """Whether a search has ended before its plan: none of its points compiles, or none of those that do is right."""
    rows = _rows(counted, kernel)
    failed = sum(counted.points[_of(kernel, status)] for status in ("build_failed", "wrong_result"))
    return kernel.searched and 0 < rows < (kernel.rows or 0) and rows == failed


def kernels_not_run(counted: RowCounts, planned: Iterable[PlannedKernel]) -> list[PlannedKernel]:
    """The kernels of which no point was run: every row is `skipped`, or there is none."""
    return [kernel for kernel in planned if not _was_run(counted, kernel)]


def studies_not_run(counted: RowCounts, planned: Sequence[PlannedKernel]) -> list[str]:
    """The studies of which no point was run, although the platform could run one of their kernels.

    A recording may lack a study, and that is no mistake of the run's.
    """
    ran = {kernel.study for kernel in planned if _was_run(counted, kernel)}
    could_run = [kernel.study for kernel in planned if kernel.is_made and not kernel.cannot_run]
    return [study for study in dict.fromkeys(could_run) if study not in ran]


def _was_run(counted: RowCounts, kernel: PlannedKernel) -> bool:
    return _rows(counted, kernel) > counted.points[_of(kernel, "skipped")]


def _rows(counted: RowCounts, kernel: PlannedKernel) -> int:
    return sum(counted.points[_of(kernel, status)] for status in STATUSES)


def _of(kernel: PlannedKernel, status: str) -> tuple[str, str, str]:
    return kernel.study, kernel.kernel, status
