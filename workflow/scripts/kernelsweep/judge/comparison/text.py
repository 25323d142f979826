"""A comparison as Markdown: which kernels got faster or slower, at which sizes, and whether they are still right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from statistics import geometric_mean, median
from textwrap import fill, indent, wrap
from types import MappingProxyType
from typing import Any

from tabulate import tabulate

from kernelsweep.base.answer import Answer
from kernelsweep.base.groups import grouped
from kernelsweep.base.templates import markdown
from kernelsweep.device.pairs import FASTER, SLOWER
from kernelsweep.home import COMMAND
from kernelsweep.judge.comparison.counts import (
    COUNT_HEADS,
    MIXED,
    MORE,
    count_rows,
    counted_in_words,
    counted_points,
    counted_rank,
)
from kernelsweep.judge.comparison.sides import NO_RECORD, TAKEN_BACK
from kernelsweep.judge.comparison.verdicts import (
    NOT_COMPARED,
    ONLY_AFTER,
    ONLY_BEFORE,
    PAIRED,
    SAME_MACHINE_CODE,
    SKIPPED,
    VERDICTS,
    ComparedPoint,
    Group,
    Size,
    by_kernel,
    devices,
    in_order_of_verdict,
    is_edited,
    kernels_with_verdict,
    overall,
    shown_kernels,
)
from kernelsweep.judge.data.row_counts import is_excused
from kernelsweep.judge.data.words import fault, list_texts, where_text
from kernelsweep.results import Row
from kernelsweep.statistics import Interval, ratio_text
from kernelsweep.study.captured import share_of_program

# Readers see so many lines of a verdict; more unfold, or are on the page.
VERDICT_LINES = 10
# A longer name takes two lines of the terminal's 80 columns.
_NAME = 27


@dataclass(frozen=True)
class VerdictLines:
    """What a comparison says, a sentence a line.

    wrong    which results became wrong, and one of them
    first    what the kernels that the verdict is about have in common
    kernels  on each of these, in shown_kernels()' order
    last     on all else
    left_out how many kernels were not edited, or never measured
    by_size  how many times as fast another device is, by the sentences in `first` that say it: a row of cells, the name
             first; and the row of sizes, by ""
    table    what `kernels` say, in short: heads, and a row for each, or for each study if readers see fewer kernels;
             empty for one kernel
    """

    wrong: Sequence[str]
    first: Sequence[str]
    kernels: Sequence[str]
    last: Sequence[str]
    table: Sequence[Sequence[str]]
    left_out: Sequence[str]
    by_size: Mapping[str, Sequence[str]]

    @property
    def all(self) -> list[str]:
        """Every line."""
        return [*self.wrong, *self.first, *self.kernels, *self.last, *self.left_out]

    @property
    def beside_table(self) -> list[str]:
        """Those lines that the table doesn't say in short."""
        return [*self.wrong, *self.first, *([] if self.table else self.kernels), *self.last, *self.left_out]

    @property
    def on_page(self) -> list[str]:
        """Those lines that the page does not say in a table, a forest or small letters."""
        elsewhere = {*self.left_out, *self.by_size}
        return [line for line in self.beside_table if line not in elsewhere]


def comparison_text(
    points: Sequence[ComparedPoint],
    margin: float,
    verdict: VerdictLines | None = None,
    sides: str = "",
    is_comment: bool = False,
) -> str:
    """The comparison in Markdown.

    verdict     the text begins after it and after `sides` without one
    sides       says what was compared
    is_comment  whether it ends before the first section, as a comment for a pull request
    """
    compared = [point for point in points if point.ratio]
    text = markdown(
        __file__,
        verdict=verdict,
        sides=sides,
        is_comment=is_comment,
        warnings=_warnings(points),
        count_heads=COUNT_HEADS,
        counts=count_rows(points),
        reasons=_reasons(points),
        margin=margin,
        compared=len(compared),
        paired=sum(point.note == PAIRED for point in compared),
    )
    return text.strip() + "\n"


def verdict_lines(
    points: Sequence[ComparedPoint],
    margin: float,
    unchanged: Sequence[str] = (),
    registers: Mapping[str, str] = MappingProxyType({}),
    never_measured: int = 0,
) -> VerdictLines:
    """What is wrong, the verdict on each edited kernel, or why there is none.

    unchanged       kernels whose latest edit did not change the machine code
    registers       by kernel, what ptxas changed, in words that follow on those on counts
    never_measured  the number of kernels that are left out
    """
    failed = [point for point in points if point.has_failed_since]
    compared = [point for point in points if point.ratio]
    taken_back = list(by_kernel(point for point in points if point.note == TAKEN_BACK))
    run = by_kernel(point for point in points if point.after and point.after["status"] != "skipped")
    # Where no code and no device changed, it is about none.
    is_same = all(point.note == SAME_MACHINE_CODE for point in compared) and len(devices(compared)) < 2
    names, kernels = _names(points), {} if is_same else shown_kernels(compared, margin)
    wrong, first, last, left_out = list[str](), list[str](), list[str](), list[str]()
    by_size: Mapping[str, Sequence[str]] = {}
    if failed:
        faults = ", ".join(dict.fromkeys(fault(point.row)[0] for point in failed)).upper().replace("RESULT", "RESULTS")
        every = sum(len(run[kernel]) for kernel in by_kernel(failed))
        wrong = [f"{faults}: {len(failed)} of {_points_of(every, failed)}, right before.", *_examples(failed, run)]
    if failing := [point for point in points if point.fails and not point.has_failed_since]:
        first.append(f"Not right, nor known to have been right before: {_points_of(len(failing), failing)}.")
    if unchanged:
        first.append(f"The latest edit of {list_texts(unchanged)} changed no code; of the edit before it:")
    if kernels:
        by_size, rest = _by_size(kernels)
        first += _heading(kernels, run, [*filter(None, by_size), *rest])
        if same := len(by_kernel(compared)) - len(kernels):
            left_out.append(f"The machine code of {same} other kernel{'s' if same > 1 else ''} is the same.")
    elif compared:
        last.append("; ".join(filter(None, ["No code changed", _other_device(compared)])) + ".")
    elif counted := counted_points(points):
        broken = {point.kernel for point in failed}
        last += [
            f"{names[kernel]}: {counted_in_words(of_kernel, _where(of_kernel, run))}{registers.get(kernel, '')}, "
            f"{_right(run[kernel])}"
            for kernel, of_kernel in sorted(counted.items(), key=lambda item: counted_rank(item[1]))
            if kernel not in broken
        ]
        if same := len({point.kernel for point in points if point.note == NO_RECORD} - {*counted, *broken}):
            left_out.append(f"Not edited: {same} other kernel{'s' if same > 1 else ''}.")
    elif not failed:
        # An edited kernel's reason comes before that of all others.
        notes = Counter(point.note for point in points if point.note != SKIPPED)
        reasons = sorted(notes.items(), key=lambda item: (item[0] == NO_RECORD, -item[1]))
        reason = "" if taken_back else f": {reasons[0][0] if reasons else 'no points'}"
        last.append(f"Nothing to compare{reason}.")
    if taken_back:
        last.append(f"Edit taken back: {list_texts([names[kernel] for kernel in taken_back])}.")
    of_kernels = [
        f"{names[kernel]} {_verdict_on(group, margin, _where(group.points, run))}, {_right(run[kernel])}"
        for kernel, group in kernels.items()
    ]
    last += _program_lines(kernels, names)
    if never_measured:
        left_out.append(f"Not compared, because never measured: {never_measured} of the kernels.")
    table = _table(kernels, names, margin) if len(kernels) > 1 else []
    return VerdictLines(wrong, first, of_kernels, last, table, left_out, by_size)


def _examples(
    failed: Sequence[ComparedPoint], run: Mapping[str, Sequence[ComparedPoint]], most: int = 4
) -> Iterator[str]:
    """What is wrong at a point of each kernel that failed, of `most` kernels: a wrong result, if there is one."""
    kernels = by_kernel(failed)
    for kernel, points in [*kernels.items()][:most]:
        point = min(points, key=lambda point: fault(point.row)[0] != "wrong result")
        of = f"{kernel} at" if len(kernels) > 1 else "At"
        yield f"{of} {values_in_words(point, run[kernel])}: {fault(point.row)[1]}."


def _table(kernels: Mapping[str, Group], names: Mapping[str, str], margin: float) -> list[list[str]]:
    """The verdicts on kernels: heads, and a row for each, or for each study if readers see fewer kernels."""
    groups, are_many = kernels, len(kernels) > VERDICT_LINES
    if are_many:
        judged = [point for group in kernels.values() for point in group.points]
        groups = in_order_of_verdict(grouped(judged, lambda point: str(point.row["study"])), margin)
    rows = [[*(("study", "kernels") if are_many else ("kernel",)), "ratio (99% interval)", "all sizes", "single sizes"]]
    for name, group in groups.items():
        verdicts = Counter(size.verdict for size in group.sizes.values())
        differ = ", ".join(f"{verdicts[word]} {word}" for word in (SLOWER, FASTER) if verdicts[word])
        cells = [ratio_text(group.whole.ratio, "×"), group.whole.verdict, f"{differ or 'none'} of {len(group.sizes)}"]
        rows.append([*((name, str(len(by_kernel(group.points)))) if are_many else (names[name],)), *cells])
    return rows


def _program_lines(kernels: Mapping[str, Group], names: Mapping[str, str]) -> list[str]:
    """What edits of kernels that were captured from programs do to these, by the kernels' share: a line each."""
    lines = []
    for kernel, group in kernels.items():
        if share := share_of_program(kernel.partition("/")[0], Path()):
            (program, part), ratio = share, group.whole.ratio
            ends = (1 + part * (one - 1) for one in (ratio.value, ratio.low, ratio.high))
            lines.append(
                f"`{program}`: all kernels {ratio_text(Interval(*ends), '×')}, as {part:.1%} of their time was "
                f"{names[kernel]}'s"
            )
    return lines


def _heading(
    kernels: Mapping[str, Group], run: Mapping[str, Sequence[ComparedPoint]], by_size: Sequence[str]
) -> list[str]:
    """Of two devices, or of several kernels: "44 kernels on B, beside A: 25 faster.", "Each takes ..."."""
    groups = kernels.values()
    names = devices(point for group in groups for point in group.points)
    if len(kernels) < 2 and len(names) < 2:
        return []
    verdicts = Counter(group.whole.verdict for group in groups)
    ratios = sorted(group.whole.ratio.value for group in groups)
    words = ", ".join(f"{verdicts[name]} {name}" for name in VERDICTS if verdicts[name])
    of_sizes = [{size.verdict for size in group.sizes.values()} for group in groups]
    partly = sum(SLOWER in of_size for of_size in of_sizes) - verdicts[SLOWER]
    words += f"; {partly} of the others slower at some sizes" if partly > 0 else ""
    span = f"{ratios[0]:.2f} to {ratios[-1]:.2f}" if ratios[1:] else f"{ratios[0]:.2f}"
    points = [point for kernel in kernels for point in run[kernel]]
    takes = f"{'Each' if ratios[1:] else 'It'} takes {span} times as long on average over sizes."
    takes += f" Right at {sum(not point.fails for point in points):,} of {len(points):,} points."
    many = f"{len(kernels)} kernel{'s' if len(kernels) > 1 else ''}"
    if len(names) < 2:
        return [f"{many}: {words}.", takes]
    edited = [kernel for kernel, group in kernels.items() if any(map(is_edited, group.points))]
    too = [f"The machine code of {len(edited)} differs, too: {list_texts(edited)}."] if edited else []
    return [f"{many} on {names[1]}, beside {names[0]}: {words}.", *by_size, takes, *too]


def _by_size(kernels: Mapping[str, Group]) -> tuple[dict[str, list[str]], list[str]]:
    """How many times as fast the second of two devices is at each size, as VerdictLines has it; and a line on the rest.

    The kernels are those of which most have the same sizes: all of them, and each study's fastest on either device,
    without undefined behaviour, in the element type, operation and cache state of _usual().
    """
    alike = max(grouped(kernels.values(), lambda group: tuple(group.sizes)).values(), key=len)
    sizes, points = [*alike[0].sizes], [point for group in alike for point in group.points]
    if not (sizes[1:] and devices(points)[1:]):
        return {}, []
    sides = [[*filter(None, rows)] for rows in zip(*((one.before, one.after) for one in points), strict=True)]
    defined = grouped((one for one in points if not is_excused(one.row)), lambda point: str(point.row["study"]))
    usual = {study: _usual(of_study) for study, of_study in sorted(defined.items())}
    usual = {study: of_study for study, of_study in usual.items() if {one.size for one in of_study} == {*sizes}}
    others = sorted({kernel.partition("/")[0] for kernel in kernels} - {point.row["study"] for point in points})
    each = f"kernel{'s' * (len(usual) > 1)} of {list_texts([*usual], len(usual))}"
    of = f"{'the mean of ' * (len(usual) > 1)}the fastest {each}"
    caches = {str(point.row["cache"]) for of_study in usual.values() for point in of_study}
    of += f", {caches.pop()} cache" if len(caches) == 1 else ""
    rows = {of: [[_times_as_fast(of_study, size) for of_study in usual.values()] for size in sizes]} if usual else {}
    if alike[1:]:
        every = [[1 / group.sizes[size].ratio.value for group in alike] for size in sizes]
        rows[f"the mean of {len(alike)} kernels"] = every
    by_size = {"": ["times as fast", *(size.text for size in sizes)]}
    for name, ratios in rows.items():
        cells = [f"{geometric_mean(of_size):.2f}×" for of_size in ratios]
        texts = [f"{size.text}\N{NO-BREAK SPACE}{cell}" for size, cell in zip(sizes, cells, strict=True)]
        by_size[f"Times as fast by size, {name}: {', '.join(texts)}."] = [name, *cells]
    peaks = [*map(_peaks, sides)]
    rest = [f"The memory's peak is {median(peaks[1]) / median(peaks[0]):.2f}×."] if all(peaks) else []
    rest += [f"Not by size, because their sizes differ: {list_texts(others, len(others))}."] if others else []
    return by_size, [" ".join(rest)] if rest else []


def _usual(points: Sequence[ComparedPoint]) -> list[ComparedPoint]:
    """The points of the element type, operation and cache state that has the most sizes or, of several, is cold."""
    kinds = grouped(points, lambda point: tuple(point.row[name] for name in ("dtype", "operation", "cache")))
    return max(kinds.values(), key=lambda of: (len({one.size for one in of}), of[0].row["cache"] == "cold", len(of)))


def _times_as_fast(points: Iterable[ComparedPoint], size: Size) -> float:
    """The least time at a size before over that after."""
    rows = [(point.before or {}, point.after or {}) for point in points if point.size == size]
    before, after = (min(float(row["time_us"]) for row in of_side) for of_side in zip(*rows, strict=True))
    return before / after


def _peaks(rows: Iterable[Row]) -> list[float]:
    """The memory's peak bandwidth by each row that has a share of it."""
    of_memory = (row for row in rows if row.get("peak_fraction") and row.get("peak_of") in (None, "", "memory"))
    return [float(row["bandwidth_gbs"]) / float(row["peak_fraction"]) for row in of_memory if row["bandwidth_gbs"]]


def _verdict_on(group: Group, margin: float, where_compared: str) -> str:
    """ "1.017× (1.002 to 1.033), undecided; slower at 4 of 8 sizes (1.021×), undecided at 4": all sizes, then some.

    Points follow whose verdict is not their size's: "; slower at 4 single points besides".
    """
    compared, whole, sizes = group.points, group.whole, group.sizes
    called = {name: [size for size, at_size in sizes.items() if at_size.verdict == name] for name in VERDICTS}
    where: list[str] = []
    for name in filter(called.get, VERDICTS):
        mean = overall([point for point in compared if point.size in called[name]], margin)
        ratio = f" ({mean.ratio.value:.3f}×)" if mean and name in (SLOWER, FASTER) else ""
        where.append(f"{name} at {len(called[name])}{'' if where else f' of {len(sizes)} sizes'}{ratio}")
    rest = ", ".join(where)
    words = rest if whole.verdict == next(filter(called.get, VERDICTS)) else f"{whole.verdict}; {rest}"
    if len(called[whole.verdict]) == len(sizes):
        words = f"{whole.verdict} at all {len(sizes)} sizes" if len(sizes) > 1 else whole.verdict
    others = Counter(point.verdict for point in compared if point.verdict != sizes[point.size].verdict)
    apart = [
        f"; {name} at {others[name]} single point{'s' * (others[name] > 1)} besides"
        for name in (SLOWER, FASTER)
        if others[name]
    ]
    return f"{ratio_text(whole.ratio, '×')}{where_compared}, {words}{''.join(apart)}"


def _names(points: Sequence[ComparedPoint]) -> dict[str, str]:
    """The kernels' names, with the study where several studies have one of that name, or two devices have several."""
    short = {point.kernel: point.kernel.partition("/")[2] for point in points}
    are_all = len(devices(points)) > 1 and len({kernel.partition("/")[0] for kernel in short}) > 1
    return {kernel: kernel if are_all or [*short.values()].count(name) > 1 else name for kernel, name in short.items()}


def _where(of_kernel: Sequence[ComparedPoint], run: Mapping[str, Sequence[ComparedPoint]]) -> str:
    """ " at 20 of 84 points" that were run; "" where these are all of a kernel's."""
    every = len(run[of_kernel[0].kernel])
    return f" at {len(of_kernel)} of {every} points" if len(of_kernel) < every else ""


def _right(run: Sequence[ComparedPoint]) -> str:
    """ "right at 88 of 88"."""
    return f"right at {sum(not point.fails for point in run)} of {len(run)}"


def _other_device(compared: Sequence[ComparedPoint]) -> str:
    """ "another GPU of the same model", where one measured a point after; "" where the device is the same."""
    sides = [[(row or {}).get("device_uuid") for row in (point.before, point.after)] for point in compared]
    other = any(before and after and before != after for before, after in sides)
    return "another GPU of the same model" if other and len(devices(compared)) < 2 else ""


def _points_of(count: int, points: Sequence[ComparedPoint]) -> str:
    """ "12 points of unrolling/interleaved"."""
    named = list(dict.fromkeys(point.kernel for point in points))
    return f"{count} point{'s' if count > 1 else ''} of {list_texts(named)}"


def values_in_words(point: ComparedPoint, points: Sequence[ComparedPoint]) -> str:
    """Its values on the axes on which the points of its kernel differ."""
    return where_text(point.row, [one.row for one in points], array_size=point.size.text)


def _warnings(points: Sequence[ComparedPoint]) -> list[str]:
    """Differences between the sweeps other than the kernels."""
    compared = [(point.before, point.after) for point in points if point.ratio and point.before and point.after]
    other = _other_device([point for point in points if point.ratio])
    texts = [f"**{other[:1].upper()}{other[1:]}**: ratios include the difference of the two."] if other else []
    changed = Counter(name for before, _ in compared for name in before.get("changed") or ())
    return texts + [
        f"The {name} changed at {count} of {len(compared)} points."
        for name, count in changed.items()
        if name != "binary"
    ]


def in_order(points: Sequence[ComparedPoint]) -> list[ComparedPoint]:
    """The points, starting with the one that moved farthest."""
    return sorted(points, key=lambda point: abs(log(point.ratio.value)) if point.ratio else 0.0, reverse=True)


def _reasons(points: Sequence[ComparedPoint]) -> dict[str, list[ComparedPoint]]:
    """The points that were neither compared nor counted, by the reason, without those that the verdict has."""
    counted = {id(point) for of_kernel in counted_points(points).values() for point in of_kernel}
    others = (point for point in points if point.verdict == NOT_COMPARED and id(point) not in counted)
    told = {TAKEN_BACK, *([NO_RECORD] if counted else ())}
    names = [f"only on {name}" for name in devices(points)]
    of_devices = dict(zip((ONLY_BEFORE, ONLY_AFTER), names, strict=True)) if names[1:] else {}
    left = (point for point in others if point.note not in told and not point.has_failed_since)
    return grouped(left, lambda point: of_devices.get(point.note, point.note))


def comparison_answer(
    verdict: VerdictLines,
    summary: Mapping[str, Any],
    fail_on: str,
    text: str,
    page: str,
    failed_proofs: Sequence[str] = (),
    changes: Sequence[str] = (),
    others: Sequence[str] = (),
) -> Answer:
    """What a comparison says at its end: its verdict.

    It fails if results became wrong, if a kernel's proof failed, or by `fail_on` if kernels became slower or, on the
    emulator, count more.

    failed_proofs  sentences of what checks found, besides what the verdict has
    changes        the lines that changed in kernels which failed
    others         measured studies that are not compared: the edit may be in one of these
    """
    lines = verdict.beside_table[len(verdict.wrong) :]
    lines, more = lines[:VERDICT_LINES], lines[VERDICT_LINES:]
    lines += [f"... {len(more)} more lines are on the page."] * bool(more)
    lines += [f"Checked: {summary['proven']}"] * bool(summary["proven"])
    lines = [_filled(line) for line in lines]
    if verdict.table:
        rows = [["\n".join(wrap(name, _NAME)), *cells] for name, *cells in verdict.table]
        lines.append("\n" + indent(tabulate(rows, tablefmt="plain", disable_numparse=True), "  "))
    errors = ["\n".join([*map(_filled, verdict.wrong), *changes])] if verdict.wrong else []
    errors += map(_filled, failed_proofs)
    if errors:
        return Answer("\n".join(lines), errors, page, "correct the kernel, then the same command")
    worse = {
        "Slower": kernels_with_verdict(summary, SLOWER),
        "Counts rose": [name for name, counts in summary["counted"].items() if counts["verdict"] in (MORE, MIXED)],
    }
    words = "; ".join(f"{what}: {', '.join(kernels)}" for what, kernels in worse.items() if kernels)
    if words and fail_on == SLOWER:
        errors = [f"{words} (compare.fail_on is slower). See {text}."]
    is_nothing = not (errors or summary["kernels"] or summary["counted"])
    of_others = f"if the edit is in another study: {COMMAND} compare --config 'studies=[{', '.join(others)}]'"
    then = of_others if others else "edit a kernel, then the same command"
    return Answer("\n".join(lines), errors, page, then if is_nothing else "")


def _filled(line: str) -> str:
    return fill(line, 80, subsequent_indent="  ", break_long_words=False)
