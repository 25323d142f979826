"""The verdict on an untrusted kernel: whether it is right, checked, and possible, and how fast (docs/grading.md)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import exp, log
from pathlib import Path
from statistics import fmean
from textwrap import shorten
from typing import Any

from kernelsweep.base.answer import Answer
from kernelsweep.base.logs import COLUMNS, fitted
from kernelsweep.base.templates import markdown
from kernelsweep.device.pairs import pairs_of, scatter_of, verdict
from kernelsweep.judge.comparison.sides import Record
from kernelsweep.judge.comparison.verdicts import Size, size_of
from kernelsweep.judge.data.proofs import KernelProof, message_at
from kernelsweep.judge.data.words import OUT_OF_BOUNDS, fault, list_texts, source_lines, where_text
from kernelsweep.reasons import Reason
from kernelsweep.results import CHECKS, POINT_COLUMNS, Row, read_parameters, with_parameters
from kernelsweep.statistics import Interval, ratio_text
from kernelsweep.study.point import in_words

RIGHT, WRONG, IMPLAUSIBLE, UNPROVEN, NOT_ACCEPTED = "right", "wrong", "implausible", "unproven", "refused"
# The exit status of a run whose worst verdict it is, the best verdict first; and what stands before it on the page.
_STATUS = {RIGHT: 0, UNPROVEN: 2, IMPLAUSIBLE: 1, WRONG: 1, NOT_ACCEPTED: 1}
_SIGNS = {0: "✓", 2: "?", 1: "✗"}
# The checks on the page.
_HEADS = {"result": "results", "races": "races", "bounds": "bounds", "uninitialised": "uninitialised reads"}
_HEADS |= {"barriers": "barriers", "state": "kept state", "source": "source"}
# What a finding is, where its message begins with it.
_FOUND = {"races": "race", "bounds": "out of bounds", "barriers": "barrier", "uninitialised": "uninitialised read"}
_FOUND |= {"build": "error"}
# What is between the diagnostics of g++ and of nvcc in a message of one line.
_LINE = re.compile(r"\S+\.cuh?:\d+")
_DIAGNOSTIC = re.compile(r"\s(?=\S+(?::\d+:\d+|\(\d+\)): |\.\.\. and \d+ more)")
_MOST_FINDINGS = 3  # of a check; points tend to have the same
_LETTERS = 100  # of a finding, in the verdict's line
_SHOWN = 10  # candidates with a forest of their sizes
_LISTED = 20  # candidates in the terminal


@dataclass
class Verdict:
    """The verdict on a candidate.

    right        None where no point has run
    points       those that were run, that were right, that nobody could know, and those at which the kernel that it is
                 compared with is not right either: at these it isn't judged
    findings     by check, what is wrong, each with its point; under "build", what a compiler says
    notes        by check, the first finding that decides nothing (results.NOTES)
    checks       by check, whether it was passed, with a note or without, failed, made in part, or not made
    not_proven   what the emulator has not checked, in words; "" for nothing
    implausible  the reason why a time is not possible, or ""
    sizes        for each size: its text, time, share of peak, and ratio of times to the other kernel with interval
    not_judged   the points of this name
    """

    candidate: str
    file: str
    verdict: str = RIGHT
    right: bool | None = True
    proven: bool = False
    points: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("run", "right", "drawn", "not_judged"), 0))
    findings: dict[str, list[str]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    checks: dict[str, str] = field(default_factory=dict)
    not_proven: str = ""
    implausible: str = ""
    sizes: list[dict[str, Any]] = field(default_factory=list)
    not_judged: list[str] = field(default_factory=list)

    @property
    def in_words(self) -> str:
        """The verdict in a line: "racy: wrong (results right at 13 of 52 points); race at racy.cu:34."."""
        head = f"{self.candidate}: {self.word}"
        if self.findings and self.points["run"]:
            head += " (results right at {right} of {run} points)".format(**self.points)
        words = [f"{head}; {self.why}." if self.why else f"{head}."]
        if self.ratio:
            verdicts = Counter(size["verdict"] for size in self.timed)
            counts = ", ".join(f"{count} {word}" for word, count in verdicts.items())
            words.append(f"Time {ratio_text(self.ratio)} times, over {len(self.timed)} sizes: {counts}.")
        return " ".join(words)

    @property
    def word(self) -> str:
        """What readers see for the verdict."""
        words = "not checked" if self.verdict == UNPROVEN else self.verdict
        return "does not compile" if "build" in self.findings else words

    @property
    def why(self) -> str:
        """Why it isn't right, in short: "race at racy.cu:34"; "" where it is."""
        found = {check: messages[0] for check, messages in self.findings.items()}
        if "build" in found and (diagnostics := _DIAGNOSTIC.split(found["build"])[1:]):
            return self.short(diagnostics[0])
        places = [(_FOUND.get(check, "fails"), line) for check, text in found.items() for line in _LINE.findall(text)]
        if places:
            what, line = min(places, key=lambda place: place[0] == "fails")
            return f"{what} at {Path(line).name}"
        why = next(iter(found.values()), "") or self.implausible or self.not_proven * (self.verdict == UNPROVEN)
        return shorten(self.short(why), _LETTERS, placeholder=" …").removesuffix(".")

    def short(self, text: str) -> str:
        """A text in a line, with the names of the candidate's files without their folder."""
        return " ".join(text.split()).replace(f"{Path(self.file).parent}/", "")

    @property
    def timed(self) -> list[dict[str, Any]]:
        """The sizes that have a ratio."""
        return [size for size in self.sizes if "ratio" in size]

    @property
    def size_rows(self) -> list[tuple[str, str, str]]:
        """Each size in the page's table: its text, its time, and its share of the peak where that is known."""
        shares = [f"{size['peak_fraction']:.0%}" if "peak_fraction" in size else "" for size in self.sizes]
        return [(size["size"], f"{size['time_us']:.3f}", share) for size, share in zip(self.sizes, shares, strict=True)]

    @property
    def ratio(self) -> Interval | None:
        """The geometric mean over sizes, and of their intervals' ends; None without one."""
        ends = [exp(fmean(log(size[end]) for size in self.timed)) for end in ("ratio", "low", "high") if self.timed]
        return Interval(*ends) if ends else None

    def lines(self, message: str) -> list[str]:
        """The lines of CUDA that a finding names, as source_lines()."""
        return [f"{Path(place).name}  {text}" for place, text in source_lines(message, self.file)]

    def find(self, check: str, message: str) -> None:
        """Add a finding, once."""
        messages = self.findings.setdefault(check, [])
        if message not in messages and len(messages) < _MOST_FINDINGS:
            messages.append(message)


def judged(
    candidate: Verdict,
    rows: Sequence[Row],
    others: Iterable[Row],
    proof: KernelProof | None,
    other: KernelProof | None,
    in_source: Mapping[str, str],
    drawn: Iterable[Mapping[str, Any]],
) -> Verdict:
    """A candidate's verdict but for its ratios.

    rows, others  of measurements.csv: of the candidate, and of the kernel that it is compared with
    proof, other  of both
    in_source     findings in its source, by check
    drawn         points that nobody could know
    """
    # A row has the grid of its first launch.
    points = [{axis: str(value) for axis, value in point.items() if axis != "grid_size"} for point in drawn]

    def is_drawn(row: Row) -> bool:
        values = with_parameters(row)
        return any(all(values.get(axis) == value for axis, value in point.items()) for point in points)

    wrong = {_point(row) for row in others if row["status"] not in ("ok", "skipped") and is_drawn(row)}
    for row in rows:
        if row["status"] != "skipped" and _point(row) in wrong:
            candidate.points["not_judged"] += 1
            candidate.not_judged.append(_point(row))
        elif _has_run(candidate, row, rows):
            candidate.points["run"] += 1
            candidate.points["drawn"] += is_drawn(row)
            candidate.points["right"] += row["status"] == "ok" or fault(row)[0] == OUT_OF_BOUNDS
    if "clock" in in_source:
        candidate.find("clock", in_source["clock"])
    candidate.not_proven = candidate.not_proven or in_source.get("assembly", "")
    _add_proof(candidate, proof, other, {_point(row): where_text(row, rows) for row in rows})
    # What no run reads before it writes it, as the emulator sees, is no state.
    for row in rows if not candidate.proven else ():
        if "leaves_state" in row["flags"].split():
            candidate.find("state", f"at {_point(row)}: it leaves something in a variable for the next run")
    candidate.notes = {row["check"]: row["message"] for row in reversed(proof.noted if proof else ())}
    candidate.checks = _checks(candidate, proof)
    is_wrong = candidate.findings or candidate.implausible
    candidate.right = False if is_wrong else True if candidate.points["right"] else None
    possible = RIGHT if candidate.right and candidate.proven else UNPROVEN
    candidate.verdict = WRONG if candidate.findings else IMPLAUSIBLE if candidate.implausible else possible
    return candidate


def _has_run(candidate: Verdict, row: Row, rows: Sequence[Row]) -> bool:
    """Whether the candidate was run at the point of one of its rows, as far as it compiles. Adds what was found."""
    status, message, flags = row["status"], row["message"], row["flags"].split()
    if row["reason"] in (Reason.STUDY_MISTAKE, Reason.HIDDEN_WORDS):
        candidate.find("source", message)
    elif row["reason"] in (Reason.NOT_JUDGED, Reason.NOT_SUPPLIED):
        candidate.not_proven = message
        return False
    elif status == IMPLAUSIBLE:
        candidate.implausible = candidate.implausible or message
    elif status == "build_failed":
        candidate.find("build", message)
        return False
    elif status not in ("ok", "skipped"):
        what, first = fault(row)
        is_outside, is_wrong = what == OUT_OF_BOUNDS, status == "wrong_result"
        told = first if is_outside else message if is_wrong else f"{what}: {message}"
        candidate.find("bounds" if is_outside else "result", f"{told}; at {where_text(row, rows)}")
    if "once_wrong" in flags:
        candidate.find("result", f"wrong in an earlier run at {where_text(row, rows)}")
    return bool(status != "skipped")


def _add_proof(
    candidate: Verdict, proof: KernelProof | None, other: KernelProof | None, places: Mapping[str, str]
) -> None:
    """Add what a candidate's proof has found, unless the other kernel's has; places has the points in short."""
    told = {"result" if check == "build" else check for check in candidate.findings}
    of_both = {row["point"] for row in (other.mistakes if other else ())} - {""}
    unexplained = [row for row in (proof.mistakes if proof else ()) if row["point"] not in of_both]
    for finding in unexplained:
        if finding["check"] not in told:  # Rows say it, too.
            place = places.get(finding["point"], finding["point"])
            candidate.find(finding["check"], message_at(finding) + f"; at {place}" * bool(place))
    for row in proof.missing if proof else ():
        if row["reason"] == Reason.HIDDEN_WORDS:  # The emulator's sweep has them in its points.
            candidate.find("source", row["message"])
    candidate.proven = bool(proof and not (proof.unchecked or proof.in_part or unexplained or candidate.not_proven))
    if not candidate.proven and not candidate.not_proven:
        missing = (
            [row["message"] for row in (*proof.missing, *proof.in_part)] if proof else ["the emulator has not run it"]
        )
        candidate.not_proven = next(iter(missing), proof.in_words if proof else "")


def _checks(candidate: Verdict, proof: KernelProof | None) -> dict[str, str]:
    found, ran = candidate.findings, "passed" if candidate.points["run"] else "not run"
    states = dict.fromkeys(CHECKS, "not checked")
    if proof:
        states |= {check: "in part" if proof.in_part else "passed" for check, _ in proof.points}
        states |= {check: "note" for check in candidate.notes if states[check] == "passed"}
    if "build" in found and ran == "not run":
        states = dict.fromkeys(CHECKS, ran)
    states |= {"result": ran, "state": ran, "source": "failed" if "clock" in found else "passed"}
    return states | {check: "failed" for check in found if check in states}


def add_ratios(
    candidate: Verdict, rows: Sequence[Row], records: Mapping[str, Record], axes: Sequence[str], margin: float
) -> None:
    """Add each size's fastest point, in pairs with the other kernel's fastest point of that size.

    records  of the candidate's journal, by the identity that rows have
    axes     those of size
    """
    of_rows = {row["identity_sha256"]: records.get(row["identity_sha256"]) for row in rows}
    pairs = {identity: pairs_of(one.outcome) if one and one.right else None for identity, one in of_rows.items()}
    scatter = scatter_of(filter(None, pairs.values()))
    fastest: dict[Size, Row] = {}
    for row in rows:
        if row["status"] == "ok" and row["time_us"]:
            size = size_of(row, axes)
            if size not in fastest or float(row["time_us"]) < float(fastest[size]["time_us"]):
                fastest[size] = row
    for size, row in sorted(fastest.items(), key=lambda item: item[0]):
        entry = {"size": size.text, "key": size.key, "time_us": float(row["time_us"])}
        entry |= {"peak_fraction": float(row["peak_fraction"])} if row["peak_fraction"] else {}
        of_row = pairs[row["identity_sha256"]]
        if of_row and (ratio := of_row.ratio(scatter)):
            interval = ratio.interval
            ends = {"ratio": interval.value, "low": interval.low, "high": interval.high}
            entry |= ends | {"verdict": verdict(interval, margin)}
        candidate.sizes.append(entry)


def faults_of(against: str, rows: Iterable[Row], proof: KernelProof | None) -> list[str]:
    """Sentences on what is wrong with the kernel that candidates are compared with; none where nothing is."""
    run = [row for row in rows if row["status"] != "skipped"]
    failed = [row for row in run if row["status"] != "ok"]
    found = [row for row in (proof.mistakes if proof else ()) if row["check"] != "result"]
    told = [
        f"{against} itself fails at {len(failed)} of {len(run)} points, such as {where_text(row, run)}. Random ones "
        "among these are held against no candidate."
        for row in failed[:1]
    ]
    told += [
        f"A check found in {against} itself: {message_at(row)}. There, it accuses no candidate." for row in found[:1]
    ]
    return told


def report(
    verdicts: Sequence[Verdict], study: str, against: str, margin: float, faults: Sequence[str] = ()
) -> tuple[dict[str, Any], list[list[str]], str]:
    """The content of verdict.json, the page's table with its heads first, and what follows as Markdown.

    faults  of the kernel `against`, as faults_of()
    """

    def rank(candidate: Verdict) -> tuple[int, bool, float, str]:
        ratio = candidate.ratio.value if candidate.ratio else 1.0
        return [*_STATUS].index(candidate.verdict), "build" in candidate.findings, ratio, candidate.candidate

    verdicts = sorted(verdicts, key=rank)
    lines = [candidate.in_words for candidate in verdicts]
    words = Counter(candidate.word for candidate in verdicts)
    counts = ", ".join(f"{count} {word.replace('does', 'do') if count > 1 else word}" for word, count in words.items())
    statuses = {_STATUS[candidate.verdict] for candidate in verdicts}
    summary = {
        "study": study,
        "against": against,
        "verdict": [*(lines if len(lines) == 1 else [f"{len(lines)} candidates for {study}: {counts}."]), *faults],
        "status": 1 if 1 in statuses else max(statuses),
        "candidates": [asdict(candidate) for candidate in verdicts],
        # As comparison.json has it, for the forest.
        "same_within": margin,
        "kernels": {
            candidate.candidate: _as_kernel(candidate, ratio, margin)
            for candidate in verdicts[:_SHOWN]
            if (ratio := candidate.ratio)
        },
    }
    states = {check: {one.checks.get(check, "not run") for one in verdicts} - {"not run"} for check in _HEADS}
    shown = [check for check in _HEADS if check == "result" or states[check] - {"passed"}]
    passed = [_HEADS[check] for check in _HEADS if check not in shown and states[check]]
    heads = ["verdict", "candidate", "why", *(_HEADS[check] for check in shown)]
    if any(candidate.ratio for candidate in verdicts):
        heads.append(f"time / that of {against}, over all sizes")
    rows = [
        [
            f"{_SIGNS[_STATUS[candidate.verdict]]} {candidate.word}",
            candidate.candidate,
            candidate.why,
            *(_cell(candidate, check) for check in shown),
            ratio_text(candidate.ratio) if candidate.ratio else "not timed",
        ][: len(heads)]
        for candidate in verdicts
    ]
    builds: dict[tuple[str, ...], list[str]] = {}
    for candidate in verdicts:
        for message in candidate.findings.get("build", ())[:1]:
            builds.setdefault(tuple(_DIAGNOSTIC.split(message)), []).append(candidate.candidate)
    of_all = list_texts(passed, most=len(_HEADS)) if passed else ""
    text = markdown(__file__, verdicts=verdicts, against=against, passed=of_all, builds=builds)
    return summary, [heads, *rows], text


def _cell(candidate: Verdict, check: str) -> str:
    state = candidate.checks.get(check, "not run")
    sign = {"passed": "✓", "failed": "✗"}.get(state, state)
    return f"{sign} {{right}} of {{run}}".format(**candidate.points) if check == "result" and sign != state else sign


def _as_kernel(candidate: Verdict, ratio: Interval, margin: float) -> dict[str, Any]:
    of_all = {"ratio": ratio.value, "low": ratio.low, "high": ratio.high, "verdict": verdict(ratio, margin)}
    counts = Counter(size["verdict"] for size in candidate.timed)
    sizes = {size["key"]: {"text": size["size"], "counts": {}, **size} for size in candidate.timed}
    return {**of_all, "counts": counts, "points": len(sizes), "is_shown": True, "sizes": sizes}


def _point(row: Row) -> str:
    # In the order of a study's axes, as what the emulator found has it.
    columns = {name: row[name] for name in ("cache", *POINT_COLUMNS) if row.get(name)}
    return in_words(columns | read_parameters(row["parameters"]))


def grade_answer(summary: Mapping[str, Any], page: str) -> Answer:
    """What a grading says at its end: the verdicts of verdict.json. It fails unless all are right and checked."""
    verdicts = [Verdict(**candidate) for candidate in summary["candidates"]]
    lines, alone = [fitted(line) for line in summary["verdict"]], verdicts[0]
    # One candidate's findings stand as those of `kernelsweep check`: each with the lines that it names.
    for check, messages in alone.findings.items() if len(verdicts) == 1 else ():
        lines.append(fitted(f"  {'' if check in _FOUND else f'{check}: '}{alone.short(messages[0])}"))
        lines += [f"    {line}" for line in alone.lines(messages[0])]
    listed = verdicts[:_LISTED] if len(verdicts) > 1 else []
    wide = min(max((len(candidate.candidate) for candidate in listed), default=0), 20)
    for candidate in listed:
        line = f"  {candidate.word:<18}{candidate.candidate:<{wide}}  {candidate.why}".rstrip()
        lines.append(line if len(line) <= COLUMNS else f"{line[: COLUMNS - 3].rpartition(' ')[0]} ...")
    bad = [candidate.candidate for candidate in verdicts if candidate.verdict != RIGHT]
    failed = [f"Not shown to be right: {list_texts(bad)}."] if bad else []
    return Answer("\n".join(lines), failed, page)
