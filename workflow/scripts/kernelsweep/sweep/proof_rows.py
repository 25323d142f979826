"""The proof of a kernel's variants on the emulator, whose every access is watched: rows of proofs.csv."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kernelsweep.device.outcome import Outcome
from kernelsweep.reasons import Reason
from kernelsweep.results import (
    CHECKS,
    INDIFFERENT_READ,
    NOT_CHECKED,
    NOTES,
    ORDER,
    OTHER_BARRIER,
    OTHER_CODE,
    PARTIAL_BARRIER,
    SAME_VALUE,
    UNFENCED_BARRIER,
    UNORDERED_READ,
    Row,
)
from kernelsweep.study.kernel_sweep import instantiation
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.study.point import Point

_CHECK_OF_MISTAKE = {
    **dict.fromkeys(("race", SAME_VALUE, UNORDERED_READ), "races"),
    **dict.fromkeys(("uninitialised", "inactive_lane", INDIFFERENT_READ), "uninitialised"),
    **dict.fromkeys((OTHER_BARRIER, PARTIAL_BARRIER, UNFENCED_BARRIER), "barriers"),
    **{"out_of_bounds": "bounds", ORDER: "result"},
}

# What ends a launch of the emulator's: the check and the finding.
_OF_LAUNCH = {
    Reason.BARRIER: ("barriers", "barrier"),
    Reason.MISALIGNED: ("bounds", "misaligned"),
    Reason.OUT_OF_BOUNDS: ("bounds", "out_of_bounds"),
    Reason.ILLEGAL_ACCESS: ("bounds", "launch_failed"),
}

_BY_ACCESS = ("wrong_result", Reason.OUT_OF_BOUNDS)

# A point with another status shows nothing about memory: it didn't run, or not to its end.
_RUN = ("ok", "wrong_result")


def proof_rows(
    kernel: KernelSource, outcomes: Mapping[Point, Outcome], report: Mapping[str, Any], known: Mapping[str, Any]
) -> list[Row]:
    """A row for each variant and check; one that says why, where no point was run; and one for other code or order.

    report  of the build
    known   the columns that the caller knows: study, kernel, source_sha256
    """
    known = {**known, "tool": EMULATOR, "expected": kernel.entry.undefined_behaviour or ""}
    of_variant: dict[str, dict[Point, Outcome]] = {}
    for point, outcome in outcomes.items():
        if outcome.status not in ("skipped", "build_failed"):
            of_variant.setdefault(instantiation(kernel, point), {})[point] = outcome
    if not of_variant:
        why = next(iter(outcomes.values()), Outcome("skipped", "the sweep has no point of it on the emulator"))
        message = " ".join(why.message.split())
        return [{**known, "finding": NOT_CHECKED, "points": 0, "message": message, "reason": why.reason}]
    lines = dict.fromkeys(entry[OTHER_CODE] for entry in report["variants"].values() if entry.get(OTHER_CODE))
    other = f" by the other branch, since {' '.join('; '.join(lines).split())}" if lines else ""
    return [
        *({**known, "finding": OTHER_CODE, "points": 0, "message": " ".join(each.split())} for each in lines),
        *(
            {**row, "message": row["message"] + other} if row["finding"] and row["check"] == "result" else row
            for variant, run in of_variant.items()
            for row in _of_variant(kernel, variant, run, known)
        ),
    ]


def _of_variant(
    kernel: KernelSource, variant: str, outcomes: Mapping[Point, Outcome], known: Mapping[str, Any]
) -> Iterator[Row]:
    """A row for each check, with its first finding: one that fails before a note, and what is known last of each."""
    found: dict[str, tuple[str, str, str, str]] = {}
    for point, outcome in outcomes.items():
        for check, finding, message, lines in findings(outcome):
            expected = known_why(kernel, check, lines) or ("" if finding in NOTES else known["expected"])
            before = found.get(check)
            if before is None or (before[0] in NOTES, bool(before[2])) > (finding in NOTES, bool(expected)):
                found[check] = (finding, f"at {point}: {' '.join(message.split())}", expected, str(point))
    run = sum(outcome.status in _RUN for outcome in outcomes.values())
    for check in CHECKS:
        finding, message, expected, place = found.get(check, ("", "", known["expected"], ""))
        points = len(outcomes) if check == "result" else run
        if not points and not finding:
            finding, message = NOT_CHECKED, "no point ran to its end"
        row = {"variant": variant, "check": check, "points": points, "finding": finding, "message": message}
        yield {**known, **row, "expected": expected, "point": place}


def known_why(kernel: KernelSource, check: str, lines: Iterable[str]) -> str:
    """The reasons that a study gives for a finding, by all its lines, as file:line; "" where one has none."""
    reasons = [kernel.acknowledged.get((check, place)) for place in dict.fromkeys(Path(one).name for one in lines)]
    return "; ".join(dict.fromkeys(map(str, reasons))) if reasons and all(reasons) else ""


def findings(outcome: Outcome) -> Iterable[tuple[str, str, str, tuple[str, ...]]]:
    """Each finding at a point: its check, its kind, the message, and the lines by which a study can acknowledge it."""
    # What is wrong only for an access is told by that mistake.
    if outcome.status not in ("ok", "out_of_memory") and (outcome.status, outcome.reason) != _BY_ACCESS:
        check, finding = _OF_LAUNCH.get(outcome.reason, ("result", outcome.status))
        yield check, finding, outcome.message, ()
    for mistake in outcome.mistakes:
        yield _CHECK_OF_MISTAKE[mistake.kind], mistake.kind, mistake.message, mistake.lines
