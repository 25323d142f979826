"""What was checked of each kernel: read from proofs.csv, or from the kernels' parts of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kernelsweep.base.groups import grouped
from kernelsweep.judge.data.row_counts import RowCounts
from kernelsweep.judge.data.words import list_texts
from kernelsweep.reasons import Reason
from kernelsweep.results import CHECKS, NOT_CHECKED, NOTES, OTHER_CODE, PROOF_COLUMNS, each_row
from kernelsweep.study.kernels.units import EMULATOR

CsvRow = Mapping[str, str]

# What is known of a kernel's use of memory.
CLEAN, MISTAKES, UNDEFINED = "clean", "with mistakes", "undefined behaviour"
UNCHECKED, IN_PART = "not checked", "checked in part"


@dataclass
class KernelProof:
    """The proof of one kernel.

    points        by check and tool, the points that were checked
    mistakes      the rows with a finding that nothing explains
    expected      the rows with a finding that the study explains: of undefined behaviour, or acknowledged
    noted         the rows with a finding that decides nothing (results.NOTES), and that nobody has acknowledged
    acknowledged  those that somebody has
    missing       the rows that say why something was not checked
    in_part       the rows that say where the emulator ran other code than a GPU
    """

    points: Counter[tuple[str, str]] = field(default_factory=Counter)
    mistakes: list[CsvRow] = field(default_factory=list)
    expected: list[CsvRow] = field(default_factory=list)
    noted: list[CsvRow] = field(default_factory=list)
    acknowledged: list[CsvRow] = field(default_factory=list)
    missing: list[CsvRow] = field(default_factory=list)
    in_part: list[CsvRow] = field(default_factory=list)

    @property
    def is_proven(self) -> bool:
        """Whether all checks of its use of memory were made of the GPU's code, and nothing was found."""
        return self.kind == CLEAN

    @property
    def kind(self) -> str:
        """The kind of what is known of it: CLEAN or another, the worst first."""
        known = {MISTAKES: self.mistakes, UNDEFINED: self.expected, UNCHECKED: self.unchecked, IN_PART: self.in_part}
        return next((kind for kind, found in known.items() if found), CLEAN)

    @property
    def is_of_emulator(self) -> bool:
        """Whether the emulator has run it."""
        return any(tool == EMULATOR for _, tool in self.points)

    @property
    def unchecked(self) -> list[str]:
        """The checks of its use of memory that no tool has made."""
        made = {check for check, _ in self.points}
        return [check for check in CHECKS if check not in made and check != "result"]

    @property
    def in_words(self) -> str:
        """Such as "nothing found at 12 points"; the kinds of what was found; or that it isn't checked, or in part."""
        if self.mistakes:
            return ", ".join(_kinds(self.mistakes))
        if self.expected:
            return f"expected: {', '.join(_kinds(self.expected))}"
        if self.unchecked:
            return "not checked" if not self.points else f"not checked: {', '.join(self.unchecked)}"
        if self.in_part:
            return "checked in part: other code than a GPU's"
        by = "" if self.is_of_emulator else " by compute-sanitizer"
        points = self.fewest_points
        words = f"nothing found at {points} point{'s' * (points != 1)}{by}"
        return "; ".join([words, *(f"note: {note}" for note in _kinds(self.noted))])

    @property
    def fewest_points(self) -> int:
        """The points of the check that was made at the fewest of them."""
        checks = {check for check, _ in self.points}
        return min(max(points for (of, _), points in self.points.items() if of == check) for check in checks)


def _kinds(rows: Iterable[CsvRow]) -> list[str]:
    return list(dict.fromkeys(row["finding"].replace("_", " ") for row in rows))


# By study and kernel.
Proofs = Mapping[tuple[str, str], KernelProof]


def read_proofs(paths: Iterable[str | Path]) -> Proofs:
    """The proofs in these files. Raises UserError as each_row()."""
    proofs: dict[tuple[str, str], KernelProof] = {}
    for path in paths:
        for row in each_row(path, PROOF_COLUMNS[:-2], ["points"]):
            proof = proofs.setdefault((row["study"], row["kernel"]), KernelProof())
            if row["finding"] in (NOT_CHECKED, OTHER_CODE):
                (proof.missing if row["finding"] == NOT_CHECKED else proof.in_part).append(row)
                continue
            proof.points[row["check"], row["tool"]] += int(float(row["points"] or 0))
            if row["finding"] in NOTES:
                (proof.acknowledged if row["expected"] else proof.noted).append(row)
            elif row["finding"]:
                (proof.expected if row["expected"] else proof.mistakes).append(row)
    return proofs


def failed_proofs(proofs: Proofs) -> set[tuple[str, str]]:
    """The kernels in which a proof found what nothing explains, by study and name."""
    return {kernel for kernel, proof in proofs.items() if proof.mistakes}


def proofs_in_words(proofs: Proofs) -> str:
    """Such as "57 of 60 kernels, nothing found at 1,203 points; 2 of undefined behaviour; 1 not checked: matmul/mma".

    Kernels with mistakes, checked in part, and with notes are named, too: "2 of 2 kernels with mistakes: a/b and a/c".
    """
    of_kind = grouped(proofs, lambda name: proofs[name].kind)
    proven = [proofs[name] for name in of_kind.get(CLEAN, ())]
    points = sum(proof.fewest_points for proof in proven)
    by_sanitizer = sum(not proof.is_of_emulator for proof in proven)
    by = f", {by_sanitizer} of them by compute-sanitizer" if by_sanitizer else ""
    groups = {kind: of_kind.get(kind, []) for kind in (MISTAKES, UNCHECKED, IN_PART)}
    groups["with notes"] = [name for name, proof in proofs.items() if proof.noted]
    named = [
        (len(names), f" {how}: {list_texts(list(map('/'.join, names)))}") for how, names in groups.items() if names
    ]
    found = [
        (len(proven), f"{by}, nothing found at {points:,} points"),
        (len(of_kind.get(UNDEFINED, ())), f" of {UNDEFINED}"),
    ]
    first, *more = [*((count, how) for count, how in found if count), *named] or found[:1]
    return "; ".join([f"{first[0]} of {len(proofs)} kernels{first[1]}", *(f"{count}{how}" for count, how in more)])


def clean_texts(proofs: Iterable[KernelProof]) -> list[str]:
    """How many kernels are clean, and each other kind: "8 of 11", "undefined behaviour: 3"; nothing without proofs."""
    kinds = Counter(proof.kind for proof in proofs)
    others = [f"{kind}: {count}" for kind, count in kinds.items() if kind != CLEAN]
    return [f"{kinds[CLEAN]} of {kinds.total()}", *others] if kinds else []


def in_words(row: CsvRow) -> str:
    """A finding in a sentence: kernel, check, tool, and the first point at which it was found."""
    check = f", {row['check']} ({row['tool']})" if row["check"] else ""
    return f"{row['study']}/{row['kernel']}{check}: {row['message']}"


def message_at(row: CsvRow) -> str:
    """A finding's message without its point."""
    return row["message"].removeprefix(f"at {row['point']}: ")


def proof_errors(proofs: Proofs, counted: RowCounts | None = None) -> list[str]:
    """A sentence for each finding that must fail the run, one a kernel and check: kernel, check, point and lines.

    counted  as unproven() takes it
    """
    return [
        f"The check of {row['study']}/{row['kernel']} failed: {row['check']} ({row['tool']}), {row['message']}."
        for proof in proofs.values()
        for row in mistakes_of(proof, counted)
    ]


def mistakes_of(proof: KernelProof, counted: RowCounts | None = None) -> list[CsvRow]:
    """The first finding of each check that must fail the run; counted as unproven() takes it."""
    first = {row["check"]: row for row in reversed(proof.mistakes)}.values()
    return [row for row in first if not _is_told(row, counted)]


def tool_errors(proofs: Proofs) -> list[str]:
    """A sentence for each check that was not made because the tool has failed, or a point under it."""
    missing = [row for proof in proofs.values() for row in proof.missing]
    return [f"{in_words(row)}." for row in missing if row.get("reason") == Reason.TOOL_FAILED]


# Variants of a kernel tend to have the same mistakes.
_LISTED = 4


# The title of a list of them.
MISTAKES_TITLE = "Mistakes in kernels"


def unproven(proofs: Proofs, counted: RowCounts | None = None) -> dict[str, list[str]]:
    """Lists by title: mistakes, what was not checked and why, or in part, and notes that nobody has acknowledged.

    counted  the points, of which the reader finds the failed ones elsewhere: such a result is not listed again, nor the
             same access out of bounds, nor a kernel that did not compile
    """
    mistakes, missing, in_part, notes = [], [], [], []
    points = counted.points if counted else {}
    for proof in proofs.values():
        mistakes += [in_words(row) for row in mistakes_of(proof, counted)]
        unchecked = ["", *proof.unchecked] if proof.unchecked else []
        is_built = not any((row["study"], row["kernel"], "build_failed") in points for row in proof.missing)
        missing += _listed([row for row in proof.missing if row["check"] in unchecked]) if is_built else []
        in_part += _listed(proof.in_part)
        notes += _listed(proof.noted)
    return {
        MISTAKES_TITLE: mistakes,
        "Not checked": missing,
        "Checked in part: other code on the emulator than on a GPU": in_part,
        "Notes: findings that decide nothing": notes,
    }


def note_lines(proofs: Proofs) -> list[str]:
    """A line for the first note of each kernel that nobody has acknowledged, at most _LISTED, and how many more."""
    noted = [proof.noted[0] for proof in proofs.values() if proof.noted]
    more = [f"and notes on {len(noted) - _LISTED} more kernels"] if len(noted) > _LISTED else []
    return [*(f"note: {in_words(row)}" for row in noted[:_LISTED]), *more]


def explained_findings(proofs: Proofs) -> dict[str, list[str]]:
    """The findings that the study explains, a list by its title."""
    listed = [
        f"{in_words(row)}. Expected: {row['expected']}."
        for proof in proofs.values()
        # The first of each tool.
        for row in {
            (row["check"], row["tool"]): row for row in reversed([*proof.expected, *proof.acknowledged])
        }.values()
    ]
    return {"Findings that the study explains": listed}


def expected_lines(proofs: Proofs) -> list[str]:
    """A line for each reason for which findings are expected: their number, their kernels, and the reason."""
    kernels: dict[str, list[str]] = {}
    for proof in proofs.values():
        for row in (*proof.expected, *proof.acknowledged):
            kernels.setdefault(row["expected"], []).append(f"{row['study']}/{row['kernel']}")
    return [
        f"{len(names)} finding{'s' * (len(names) > 1)} of {list_texts([*dict.fromkeys(names)])}: expected, as {why}."
        for why, names in kernels.items()
    ]


def _is_told(row: CsvRow, counted: RowCounts | None) -> bool:
    """Whether the failed points, which the reader finds by name, tell it: any result, what is wrong with the first."""
    if counted is None or row["check"] == "result":
        return counted is not None and (row["study"], row["kernel"], row["finding"]) in counted.points
    failed = counted.first_failed.get((row["study"], row["kernel"]), ())
    first = min(failed, key=lambda one: one["status"] != "wrong_result", default={"status": ""})
    return row["finding"] in (first["status"], first.get("reason"))


def _listed(rows: list[CsvRow]) -> list[str]:
    lines = [in_words(row) for row in rows[:_LISTED]]
    if len(rows) > _LISTED:
        lines.append(f"{rows[0]['study']}/{rows[0]['kernel']}: {len(rows) - _LISTED} more")
    return lines
