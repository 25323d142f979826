"""The answer of a run: by study, whether its points are right, what to use, and how near that is to the limit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from kernelsweep.base.answer import Answer
from kernelsweep.base.groups import grouped
from kernelsweep.base.logs import COLUMNS, fitted
from kernelsweep.home import COMMAND, GPU_COMMAND, GPU_INSTALLATION
from kernelsweep.judge.best.best_words import libraries_text, use_rows
from kernelsweep.judge.best.find import LITTLE, Best, Use, of_reference
from kernelsweep.judge.claims.claim import FAILS, GOAL, HOLDS, NEEDS_COUNTERS, NEEDS_COUNTS, NOT_DECIDABLE, SOME_SIZES
from kernelsweep.judge.claims.report import held_text
from kernelsweep.judge.comparison.source import changed_lines
from kernelsweep.judge.data.proofs import (
    KernelProof,
    Proofs,
    clean_texts,
    message_at,
    mistakes_of,
    note_lines,
    proof_errors,
    proofs_in_words,
)
from kernelsweep.judge.data.published import OUTPUT
from kernelsweep.judge.data.reference import has_times
from kernelsweep.judge.data.row_counts import RowCounts
from kernelsweep.judge.data.words import list_texts, place_text
from kernelsweep.publish.index.statuses import counts_text
from kernelsweep.publish.share_chart import share_chart
from kernelsweep.publish.summary import Failure, all_right, failed_text
from kernelsweep.study.settings import StudySettings

VISITED_ONCE = "One visit per point can't show how processes differ: intervals are too narrow, and ties too few."
_HEADS = ("study", "sizes", "kernel to use", "", "loses", "of peak")
_LOSES = "  loses: at most so much slower than our fastest, without libraries, limits and undefined behaviour. "
_LOSES += f"Below {LITTLE:.0%} doesn't matter."
_OF_PEAK = "  of peak: the memory's{}, at the largest of the sizes."
_NEAREST = ", or the named arithmetic's if that is nearer"

# The least characters of the terminal's column with sizes that have more.
_SIZES = 18
# The terminal shows this many failed kernels, and of each so many lines that changed.
_LISTED_KERNELS = 10

_KEPT = "What is right is kept: after a correction, the same command runs what was corrected."

# Verdicts on a claim, and on several. Claims without times are left out.
_CLAIMS = {
    HOLDS: ("holds", "hold"),
    FAILS: ("does not hold", "do not hold"),
    SOME_SIZES: ("holds at some sizes", "hold at some sizes"),
    NOT_DECIDABLE: ("not decidable", "not decidable"),
    NEEDS_COUNTS: tuple(f"{verb} counters: {COMMAND} count" for verb in ("needs", "need")),
    NEEDS_COUNTERS: tuple(f"{verb} a GPU's counters: {GPU_COMMAND} profile" for verb in ("needs", "need")),
}
_JUDGED = (HOLDS, FAILS, SOME_SIZES)


# What status.json has of a study's answer as it is.
_AS_IS: tuple[str, ...] = ("right", "run", "excused", "skipped", "why_skipped", "mistaken", "edited", "uses", "claims")
_AS_IS += ("provenance", "kind", "other_kinds", "once")


@dataclass(frozen=True)
class StudyAnswer:
    """One study's answer.

    right, run  its points with the right result, and those that were run; without those in `excused`
    excused     its points with another result, which undefined behaviour explains
    skipped     its points that were not run; why_skipped: the most frequent reason, and the number of others
    uses        what to use (best_words.use_rows()); empty without times
    proofs      of its kernels, by name; none of a recording
    edited      its kernels that were edited after they were recorded
    flagged     its kernels in which a check had found a mistake when they were recorded
    claimed     the rows of claims.csv on it, with the kind of the verdict
    lacking     its kernels of which there is no point, as where a recording is older
    provenance  where its numbers come from
    once        whether one visit is behind each of its times
    kind        the element type and the like that the answer holds for, of those that were swept; "" for all
    other_kinds the others
    """

    study: str
    settings: StudySettings
    right: int
    run: int
    excused: int
    skipped: int
    why_skipped: str
    uses: Sequence[Mapping[str, Any]]
    proofs: Mapping[str, KernelProof]
    edited: Sequence[str]
    claimed: Sequence[Mapping[str, Any]]
    lacking: Sequence[str] = ()
    provenance: str = ""
    kind: str = ""
    other_kinds: Sequence[str] = ()
    once: bool = False
    flagged: Sequence[str] = ()

    @property
    def claims(self) -> Counter[str]:
        """The number of claims on it with each kind of verdict, without goals of ours that were judged."""
        return Counter(row["verdict"] for row in self.claimed if row["source"] != GOAL or row["verdict"] not in _JUDGED)

    @property
    def mistaken(self) -> int:
        """Its kernels in which a proof found a mistake."""
        return sum(bool(proof.mistakes) for proof in self.proofs.values())


def answers(
    studies: Mapping[str, StudySettings],
    uses: Sequence[Use],
    counted: RowCounts,
    proofs: Proofs,
    edited: Sequence[str] = (),
    claims: Sequence[Mapping[str, Any]] = (),
    provenances: Mapping[str, str] | None = None,
    flagged: Mapping[str, Sequence[str]] | None = None,
) -> list[StudyAnswer]:
    """The answer of each study.

    studies  title, problem, reference and search of each, by name
    uses     those of best.json
    proofs   of the kernels; none for a recording
    edited   the kernels that were edited after they were recorded, as `study/kernel`
    claims   the rows of claims.csv, with the kind of the verdict

    provenances  where each study's numbers come from
    flagged      each study's kernels that results.PROOF_FAILED flags
    """
    return [
        StudyAnswer(
            study=name,
            settings=study,
            right=counted.by_status(name)["ok"],
            run=counted.run_in(name),
            excused=counted.excused_in(name),
            skipped=counted.by_status(name)["skipped"],
            why_skipped=counted.why_skipped(name),
            uses=use_rows(of_reference(uses, name, study), study),
            proofs={kernel: proof for (of, kernel), proof in proofs.items() if of == name},
            edited=[kernel.removeprefix(f"{name}/") for kernel in edited if kernel.startswith(f"{name}/")],
            claimed=[row for row in claims if row["study"] == name],
            lacking=[one.name for one in study.kernels if not counted.has_points(name, one.name)],
            provenance=(provenances or {}).get(name, ""),
            once=counted.times[name, False] > 0 == counted.times[name, True],
            **_kinds_in_words([use.kind for use in uses if use.study == name], study),
            flagged=[kernel for kernel in (flagged or {}).get(name, ()) if (name, kernel) not in proofs],
        )
        for name, study in studies.items()
    ]


def _kinds_in_words(kinds: Sequence[Mapping[str, Any]], study: StudySettings) -> dict[str, Any]:
    """The reference's values on the axes on which what to use was found for several, "float32 sum", and the others."""
    varied = [axis for axis in (kinds[0] if kinds else ()) if len({kind[axis] for kind in kinds}) > 1]
    kind = place_text({axis: study.reference[axis] for axis in varied if axis in study.reference})
    texts = dict.fromkeys(place_text({axis: of[axis] for axis in varied}) for of in kinds)
    return {"kind": kind, "other_kinds": [text for text in texts if text != kind]}


def answer_text(studies: Sequence[StudyAnswer], provenance: str, proofs: Proofs) -> str:
    """The answer for the terminal: points, a line for each study with times, the claims, and what was checked.

    proofs  of the kernels; none for a recording
    """
    claims = sum((study.claims for study in studies), Counter())
    right, run, excused = (sum(getattr(study, kind) for study in studies) for kind in ("right", "run", "excused"))
    verdict = all_right(excused > 0) if 0 < run == right else "Not every point is right"
    of = f"{studies[0].study}: " if len(studies) == 1 else ""
    lines = [f"{verdict}. {of}{counts_text(studies, ' right')}; {provenance}"]
    if edited := [f"{study.study}/{kernel}" for study in studies for kernel in study.edited]:
        lines.append(f"  recorded before an edit of {list_texts(edited)}")
    if lacking := [f"{study.study}/{kernel}" for study in studies for kernel in study.lacking]:
        lines.append(f"  no point of {list_texts(lacking)} is among these")
    if flagged := [f"{study.study}/{kernel}" for study in studies for kernel in study.flagged]:
        lines.append(f"  no time of {list_texts(flagged)} counts: a check had found a mistake when it was recorded")
    lines += [f"  {one.study} was {one.provenance}" for one in studies if one.provenance not in ("", provenance)]
    lines = [fitted(line) for line in lines] + _uses_text(studies)
    counts = [f"{claims[kind]} {words[claims[kind] > 1]}" for kind, words in _CLAIMS.items() if claims.get(kind)]
    claimed = [row for study in studies for row in study.claimed if row["verdict"] in _CLAIMS]
    goals = [row for row in claimed if row["source"] == GOAL and row["verdict"] in _JUDGED]
    published = [row for row in claimed if row["source"] != GOAL]
    if claims[HOLDS]:
        counts[0] = held_text(published, counts[0])
    lines += [fitted(f"  claims: {', '.join(counts)}")] if counts else []
    lines += [fitted(f"  {held_text(goals).replace('Our', 'our', 1)}")] if goals else []
    are_told = all(proof.mistakes for proof in proofs.values())  # as errors
    checked = "" if are_told else f"  checked for races, bounds, uninitialised reads: {proofs_in_words(proofs)}"
    lines += [fitted(checked)] if checked else []
    lines += [fitted(f"  {line}") for line in note_lines(proofs)]
    return "\n".join(lines)


def status_text(
    device: Mapping[str, Any],
    answered: Sequence[StudyAnswer],
    best: Sequence[Best],
    beside: Sequence[Best],
    errors: int,
    files: Mapping[str, Sequence[str]],
    counted: RowCounts,
    proofs: Proofs,
    failed: Sequence[Failure],
) -> str:
    """A scope's status.json: what the page, and the page of all pages, say of its points.

    best    the entries of best.json
    beside  the same of libraries and limits
    files   each study's with its points
    """

    def drawn(answer: StudyAnswer) -> dict[str, Any]:
        if not answer.uses:
            return {}
        own, others = ([entry for entry in entries if entry.study == answer.study] for entries in (best, beside))
        chart = share_chart(answer.settings, own, others, answer.uses)
        return {
            **chart,
            "full_clock": device.get("multiprocessor_clock_mhz"),
            "uses": [row for row in answer.uses if not row["is_refined"]],
        }

    title, provenance = device["title"] or device["name"], device["provenance"]
    studies = {
        answer.study: {
            **{key: getattr(answer, key) for key in _AS_IS},
            "title": answer.settings.title,
            "is_searched": bool(answer.settings.search),
            "proofs": {
                kernel: {"is_proven": proof.is_proven, "in_words": proof.in_words}
                for kernel, proof in answer.proofs.items()
            },
            "clean": clean_texts(answer.proofs.values()),
            "answer": drawn(answer),
            "device": device["by_study"].get(answer.study, {}).get("title", title),
            "outputs": sum(row["kind"] == OUTPUT for row in answer.claimed),
            "failed": [one.sentence for one in failed if one.kernel.startswith(f"{answer.study}/")],
            "files": files[answer.study],
        }
        for answer in answered
    }
    content = {
        "provenance": provenance,
        "device": device.get("title_of_all", title),
        "errors": errors,
        "right": counted.by_status()["ok"],
        "facts": {"Numbers": provenance} | ({"Checked": proofs_in_words(proofs)} if proofs else {}),
        "failed": failed_text(counted, proofs, failed),
        "claims": held_text([row for answer in answered for row in answer.claimed]),
        "studies": studies,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _uses_text(studies: Sequence[StudyAnswer]) -> list[str]:
    """A table of what to use, by study, and notes on it."""
    of_rows = [(study, row) for study in studies for row in study.uses if not row["is_refined"]]
    if not of_rows:
        return []
    notes = ["* Some sizes have a better configuration: see the page."] * any(row["has_better"] for _, row in of_rows)
    for study in studies:
        faster = libraries_text([row for of, row in of_rows if of is study], study.settings)
        notes += [f"{faster}."] if faster else []
    kinds = dict.fromkeys(row["arithmetic"] for _, row in of_rows if row["arithmetic"])
    notes += [f"{kind} may round more than the first kernel's arithmetic, so it has rows of its own." for kind in kinds]
    of_kind = grouped((one for one in studies if one.uses and one.kind), lambda one: one.kind)
    shown = [f"{list_texts([one.study for one in of], len(of))} for {kind}" for kind, of in of_kind.items()]
    notes += [f"Shown here: {'; '.join(shown)}. best.json has the others."] if shown else []
    searched = [study.study for study in studies if study.uses and study.settings.search]
    once = [study.study for study in studies if study.uses and study.once]
    notes += [f"{VISITED_ONCE} Set measuring.quick_visits: 3 for {', '.join(once)}."] if once else []
    notes += [f"Of the configurations that a search measured: {', '.join(searched)}."] if searched else []
    has_peaks = _has_peaks(studies)
    rows = [
        (
            study.study,
            (row["sizes"] if "," in row["sizes"] else row["sizes"].replace("; ", ", ")) + "*" * row["has_better"],
            row["kernel"],
            row["configuration"],
            row["loses"],
            f"{row['of_peak']} {row['peak_of'] or ''}".strip() if has_peaks else row["of_peak"],
        )
        for study, row in of_rows
    ]
    return ["", *_table(rows), *(fitted(f"  {note}") for note in notes)]


def _has_peaks(studies: Sequence[StudyAnswer]) -> bool:
    """Whether a share is of another peak than the memory's."""
    return any(row["peak_of"] not in (None, "memory") for study in studies for row in study.uses)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of _HEADS in lines of COLUMNS, as few as there can be; sizes that are longer than _SIZES may be broken."""
    most = max(len(row[1]) for row in [_HEADS, *rows])
    tables = [_lines(rows, sizes) for sizes in range(most, min(most, _SIZES) - 1, -1)]
    return min(tables, key=lambda lines: (max(map(len, lines)) > COLUMNS, len(lines)))


def _lines(rows: Sequence[Sequence[str]], sizes: int) -> list[str]:
    """The table with so many characters of sizes. A configuration that has no room beside its kernel is below it.

    Studies are headings where their column would leave the others too little room.
    """
    names, _, kernels, _, *numbers = (max(map(len, column)) for column in zip(_HEADS, *rows, strict=True))
    room = COLUMNS - sum(numbers) - 2 * len(_HEADS[1:])
    are_headings = names + min(sizes, _SIZES) + kernels > room
    names = 0 if are_headings else names
    whole = [" ".join(row[2:4]).strip() for row in rows]
    firsts = [text if names + sizes + len(text) <= room else row[2] for text, row in zip(whole, rows, strict=True)]
    widths, room_below = [names, sizes, max(map(len, firsts))], max(COLUMNS - names - sizes - 8, _SIZES)

    def line(*cells: str) -> str:
        texts = [f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=False)]
        texts += [f"{cell:>{width}}" for cell, width in zip(cells[3:], numbers, strict=False)]
        return f"  {'  '.join(texts)}".rstrip()

    lines, last = [line("" if are_headings else _HEADS[0], *_HEADS[1:3], *_HEADS[4:])], ""
    for (study, size, _, configuration, *cells), first, text in zip(rows, firsts, whole, strict=True):
        name, last = "" if study == last else study, study
        if are_headings and name:
            lines.append(f"  {name}")
        parts = [size] if len(size) <= sizes else size.replace("; ", ";\n").split("\n")
        parts = [piece for part in parts for piece in wrap(part, sizes, subsequent_indent="  ")]
        below = [] if first == text else wrap(configuration, room_below, break_on_hyphens=False)
        lines.append(line("" if are_headings else name, parts[0], first, *cells))
        lines += [line("", *pair) for pair in zip_longest(parts[1:], [f"  {one}" for one in below], fillvalue="")]
    return lines


def run_answer(
    studies: Sequence[StudyAnswer],
    device: Mapping[str, Any],
    proofs: Proofs,
    counted: RowCounts,
    failed: Sequence[Failure],
    incomplete: Sequence[str],
    summary: str,
    page: str,
) -> Answer:
    """What a run says at its end. It fails where a point failed, rows are missing, or nothing was run.

    incomplete  why the run is incomplete
    summary     the file summary.md
    """
    text = answer_text(studies, device["provenance"], proofs)
    text += "".join(f"\n  {sentence}" for sentence in counted.differing())
    text += f"\n\n{fitted(_LOSES)}" if any(study.uses for study in studies) else ""
    if any(use["of_peak"] for study in studies for use in study.uses):
        text += f"\n\n{fitted(_OF_PEAK.format(_NEAREST * _has_peaks(studies)))}"
    shown = {one.kernel.partition("/")[::2]: one for one in failed[:_LISTED_KERNELS]}
    told = replace(counted, first_failed={of: rows for of, rows in counted.first_failed.items() if of in shown})
    errors = [*incomplete]
    for of, one in shown.items():
        found = mistakes_of(proofs[of], told) if of in proofs else []
        findings = [f"  A check found: {message_at(row)}." for row in found]
        errors.append("\n".join([f"{one.sentence}.", *findings, *changed_lines(one.since)]))
    others = [one.kernel for one in failed[_LISTED_KERNELS:]]
    errors += [f"And points of {', '.join(others)}."] if others else []
    errors += proof_errors({of: proof for of, proof in proofs.items() if of not in shown}, told)
    if failed:
        points = f"{counted.failed.total():,} point{'s' if counted.failed.total() > 1 else ''}"
        errors.append(fitted(f"{points} failed: {summary}. {_KEPT}"))
    if counted.run_again:
        errors.append(f"The same command runs {counted.run_again} of them again: the machine may have been at fault.")
    if errors:
        next_command = ""
    elif has_times(device):
        next_command = f"edit a kernel, then: {COMMAND} compare"
    else:
        which = f" {studies[0].study}" if len(studies) == 1 else ""
        next_command = f"times need a GPU: {' && '.join(filter(None, (GPU_INSTALLATION, GPU_COMMAND)))}{which}"
    return Answer(text, errors, page, next_command)
