"""The answer of a run: by study, whether its points are right, what is fastest, and how near that is to the limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from textwrap import shorten

from kernelsweep.analysis.places import place_words
from kernelsweep.analysis.proofs import KernelProof, Proofs, proofs_in_words
from kernelsweep.analysis.row_counts import RowCounts
from kernelsweep.analysis.words import list_texts
from kernelsweep.home import COMMAND
from kernelsweep.intervals import Interval, ratio, time_interval
from kernelsweep.judge.best.best_words import configuration_text
from kernelsweep.judge.best.find import Best, Fastest, at_reference_kind, fastest_by_size
from kernelsweep.judge.claims.relations import FAILS, HOLDS, NOT_DECIDABLE
from kernelsweep.publish.summary import all_right
from kernelsweep.sweep.settings import StudySettings

_HEADS = ("fastest, largest size", "kernel", "configuration")

# Characters of a cell on the terminal. best.md has the whole words.
_LONGEST_CELL = 36

# Verdicts on several claims. Claims that were not measured are left out.
_CLAIMS = {HOLDS: "hold", FAILS: "do not hold", NOT_DECIDABLE: "not decidable"}


@dataclass(frozen=True)
class StudyAnswer:
    """One study's answer.

    right, run  its points with the right result, and those that were run; without those in `excused`
    excused     its points with another result, which undefined behaviour explains
    skipped     its points that were not run
    largest     the fastest at the largest size; None without times
    first       the story's first kernel with a time
    gain        its best time over the fastest at the largest size; None where it has none there
    proven      its kernels that are proven, and all that have a proof; none have for a recording
    mistaken    its kernels in which a proof found a mistake
    searched    whether a search chose which configurations were measured
    edited      its kernels that were edited after they were recorded
    """

    study: str
    title: str
    right: int
    run: int
    excused: int
    skipped: int
    largest: Fastest | None
    first: str
    gain: Interval | None
    proven: tuple[int, int]
    mistaken: int
    searched: bool
    edited: Sequence[str] = ()


def answers(
    studies: Mapping[str, StudySettings],
    found: Sequence[Best],
    counted: RowCounts,
    proofs: Proofs,
    edited: Sequence[str] = (),
) -> list[StudyAnswer]:
    """The answer of each study.

    studies  title, problem, reference and search of each, by name
    found    the entries of best.json
    proofs   of the kernels; none for a recording
    edited   the kernels that were edited after they were recorded, as `study/kernel`
    """
    of_study = [
        _answer(name, study, found, counted, [proof for (of, _), proof in proofs.items() if of == name])
        for name, study in studies.items()
    ]
    since = [name.partition("/") for name in edited]
    return [replace(one, edited=[kernel for study, _, kernel in since if study == one.study]) for one in of_study]


def _answer(
    name: str,
    study: StudySettings,
    found: Sequence[Best],
    counted: RowCounts,
    proofs: Sequence[KernelProof],
) -> StudyAnswer:
    counts = counted.by_status(name)
    shown = at_reference_kind((best for best in found if best.study == name), study)
    largest = next(reversed(fastest_by_size(shown, study)), None)
    first = next((best.kernel for best in shown if not best.undefined), "")
    there = next((best for best in shown if largest and best.kernel == first and best.point == largest.point), None)
    gain = None
    if largest and there:
        gain = ratio(over=time_interval(asdict(there.fastest)), under=time_interval(asdict(largest.configuration)))
    return StudyAnswer(
        study=name,
        title=study.title,
        right=counts["ok"],
        run=counted.run_in(name),
        excused=counted.excused_in(name),
        skipped=counts["skipped"],
        largest=largest,
        first=first,
        gain=gain,
        proven=(sum(proof.is_proven for proof in proofs), len(proofs)),
        mistaken=sum(bool(proof.found) for proof in proofs),
        searched=bool(study.search),
    )


def rate_of(fastest: Fastest) -> str:
    """A point's throughput with its unit: GFLOP/s where the work names flops, else GB/s; "" where it names neither."""
    one = fastest.configuration
    if one.gflops:
        return f"{one.gflops:,.0f} GFLOP/s"
    return f"{one.bandwidth_gbs:,.0f} GB/s" if one.bandwidth_gbs else ""


def answer_text(
    found: Sequence[StudyAnswer],
    studies: Mapping[str, StudySettings],
    provenance: str,
    claims: Mapping[str, int],
    proofs: Proofs,
) -> str:
    """The answer for the terminal: points, a line for each study with times, the claims, and what was proven.

    claims  the number of claims with each verdict
    proofs  of the kernels; none for a recording
    """
    kinds = ("right", "run", "excused", "skipped")
    right, run, excused, skipped = (sum(getattr(one, kind) for one in found) for kind in kinds)
    verdict = all_right(excused > 0) if 0 < run == right else "Not every point is right"
    undefined = f", {excused:,} wrong as expected of undefined behaviour" if excused else ""
    lines = [f"{verdict}. {right:,} of {run:,} right, {skipped:,} skipped{undefined}; {provenance}"]
    if edited := [f"{one.study}/{kernel}" for one in found for kernel in one.edited]:
        lines.append(f"  recorded before your edit of {list_texts(edited)}")
    timed = [(one, one.largest) for one in found if one.largest is not None]
    names = [
        (
            shorten(f"{one.study}, {place_words(largest.point, studies[one.study])}", _LONGEST_CELL, placeholder=" …"),
            largest.kernel + ("*" if largest.ties else ""),
            shorten(configuration_text(largest.configuration), _LONGEST_CELL, placeholder=" …"),
        )
        for one, largest in timed
    ]
    widths = [max(map(len, column)) + 2 for column in zip(_HEADS, *names, strict=True)]
    padded = ["".join(map(str.ljust, row, widths)) for row in (_HEADS, *names)]
    if timed:
        lines += ["", f"  {padded[0]}{'time':>12} {'throughput':>16} {'of peak':>8} {'× first':>8}"]
    for row, (one, largest) in zip(padded[1:], timed, strict=True):
        gain, share = f"{one.gain.value:.1f}×" if one.gain else "", largest.configuration.peak_fraction
        lines.append(
            f"  {row}{largest.configuration.time_us:>9,.1f} µs {rate_of(largest):>16}"
            f" {f'{share:.1%}' if share is not None else '':>8} {gain:>8}"
        )
    if any(largest.ties for _, largest in timed):
        lines.append("  * others are as fast: see best.md")
    if searched := [one.study for one, _ in timed if one.searched]:
        lines.append(f"  of the configurations that a search measured: {', '.join(searched)}")
    counts = [f"{claims[verdict]} {words}" for verdict, words in _CLAIMS.items() if claims.get(verdict)]
    lines += [f"  claims: {', '.join(counts)}"] if counts else []
    lines += [f"  proven: {proofs_in_words(proofs)}"] if proofs else []
    return "\n".join(lines)


def places_text(found: Sequence[StudyAnswer], page: Path) -> str:
    """The page's address; and where all points are right and have times, what may come next."""
    lines = ["", f"  Page  {page.resolve().as_uri()}"]
    if all(one.right == one.run for one in found) and any(one.largest for one in found):
        lines.append(f"  Next  edit a kernel, then: {COMMAND} compare")
    return "\n".join(lines)
