"""A comparison as Markdown: which kernels got faster or slower, at which sizes, and whether they are still right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log, sqrt

from kernelsweep.analysis.words import list_texts
from kernelsweep.intervals import Interval
from kernelsweep.judge.comparison.scatter import Scatter
from kernelsweep.judge.comparison.sides import NO_RECORD, SAME_CODE
from kernelsweep.judge.comparison.sizes import Size
from kernelsweep.judge.comparison.verdicts import (
    FASTER,
    NO_TIMES,
    NOT_COMPARED,
    SAME,
    SAME_MACHINE_CODE,
    SKIPPED,
    SLOWER,
    UNDECIDED,
    VERDICTS,
    ComparedPoint,
    Overall,
    by_kernel,
    by_size,
    overall,
    sizes_with_verdict,
)
from kernelsweep.results import ALL_POINT_COLUMNS
from kernelsweep.sweep.point import in_words

# A sentence names this many kernels and counts the others.
_NAMED_KERNELS = 3

# Further points are in comparison.csv only.
_LISTED_POINTS = 20
_LISTED_FAILED = 5

_REMARKS = ("throttled", "other_processes")


@dataclass(frozen=True)
class Sides:
    """The two sweeps in words.

    before, after  a description of each, for a sentence
    settings_...   the settings of each by readable names, as far as known
    unchanged      kernels whose latest edit did not change the machine code
    """

    before: str
    after: str
    settings_before: Mapping[str, object] = field(default_factory=dict)
    settings_after: Mapping[str, object] = field(default_factory=dict)
    unchanged: Sequence[str] = ()


def comparison_text(points: Sequence[ComparedPoint], scatter: Scatter | None, margin: float, sides: Sides) -> str:
    """The whole page. The part before the first section is the answer."""
    kernels = by_kernel(points)
    lines = [
        f"# {headline(points, margin, sides.unchanged)}",
        "",
        f"Before: {sides.before}. After: {sides.after}.",
        "",
        *_failed(points),
        *_warnings(points, sides),
        *_kernels_table(kernels, margin),
        *_sizes_table(kernels, margin),
        *_points_table(points),
        *_statuses(points),
        *_not_compared(points),
        *_method(points, scatter, margin),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _places_of_verdict(kernels: Mapping[str, Sequence[ComparedPoint]], margin: float, verdict: str) -> dict[str, str]:
    """The kernels with a verdict, over all their points or at some sizes, each with these sizes in words."""
    called = {}
    for kernel, points in kernels.items():
        whole, sizes = overall(points, margin), sizes_with_verdict(points, margin, verdict)
        if whole and (sizes or whole.verdict == verdict):
            called[kernel] = _where(sizes, list(by_size(points, margin))) if sizes else "over all sizes"
    return called


def _where(sizes: Sequence[Size], every: Sequence[Size]) -> str:
    """Sizes in words: "at every size", "from 2²⁴ up", "up to 2²⁰", "at 2¹⁸ and from 2²⁴ up", "at n=64 k=2"."""
    if len(sizes) == len(every):
        return "at every size" if len(every) > 1 else f"at {every[0].text}"
    if len(every[0].values) != 1:  # Sizes of several axes have no order that "from ... up" could mean.
        return f"at {list_texts([size.text for size in sizes])}"
    runs: list[list[Size]] = []
    for size in sizes:
        if runs and every.index(size) == every.index(runs[-1][-1]) + 1:
            runs[-1].append(size)
        else:
            runs.append([size])
    texts = []
    for run in runs:
        if len(run) > 1 and run[-1] == every[-1]:
            texts.append(f"from {run[0].text} up")
        elif len(run) > 1 and run[0] == every[0]:
            texts.append(f"up to {run[-1].text}")
        else:
            texts.append(f"at {run[0].text}" + (f" to {run[-1].text}" if len(run) > 1 else ""))
    return " and ".join(texts)


def headline(points: Sequence[ComparedPoint], margin: float, unchanged: Sequence[str] = ()) -> str:
    """Whether code changed, which kernels are faster or slower, at which sizes, and whether results are still right.

    unchanged  as in Sides
    """
    kernels = by_kernel(points)
    failed = [point for point in points if point.has_failed_since]
    both = [point for point in points if point.before and point.after and point.note != SKIPPED]
    compared = [point for point in both if point.ratio]
    parts = []
    if unchanged:
        parts.append(f"The latest edit of {_listed(unchanged)} changed no code; of the edit before it:")
    if failed:
        parts.append(f"{_failure(failed).upper()}: {_points_of(failed)}, right before.")
    if compared and all(point.note == SAME_MACHINE_CODE for point in compared):
        parts.append(f"No code changed{_other_device(compared)}.")
    called = {verdict: _places_of_verdict(kernels, margin, verdict) for verdict in VERDICTS}
    for verdict in (SLOWER, FASTER):
        texts = [f"{name} ({_times(kernels[name], margin, verdict)}, {at})" for name, at in called[verdict].items()]
        if texts:
            parts.append(f"{verdict.capitalize()}: {_listed(texts)}.")
    moved = {**called[SLOWER], **called[FASTER]}
    same = {kernel: at for kernel, at in called[SAME].items() if kernel not in moved}
    if same:
        parts.append(f"Same: {_listed([f'{kernel} ({at})' for kernel, at in same.items()])}.")
    undecided = [kernel for kernel in called[UNDECIDED] if kernel not in {**moved, **same}]
    if undecided:
        parts.append(f"Undecided: {_listed(undecided)}.")
    if not compared and any(point.note == NO_TIMES for point in both):
        parts.append(f"No times to compare at {_points_of(both)}.")
    elif not compared and not failed:
        parts.append(_why_nothing(points))
    if both and not failed:
        parts.append("Every result that was right still is.")
    failing = [point for point in points if point.fails and not point.has_failed_since]
    if failing:
        parts.append(f"Not right, nor known to have been right before: {_points_of(failing)}.")
    return " ".join(parts)


def _other_device(compared: Sequence[ComparedPoint]) -> str:
    """ "; another GPU of the same model", where one measured a point after; "" where the device is the same."""
    both = [(point.before, point.after) for point in compared if point.before and point.after]
    if any(before["device"] != after["device"] for before, after in both):
        return "; another device"
    other = any(_uuids(before) != _uuids(after) for before, after in both if _uuids(before) and _uuids(after))
    return "; another GPU of the same model" if other else ""


def _why_nothing(points: Sequence[ComparedPoint]) -> str:
    """A sentence with the most frequent reason; an edit without effect comes first: the user has just made it."""
    if edited := [point for point in points if point.note == SAME_CODE]:
        return f"No code changed: {SAME_CODE}, at {_points_of(edited)}."
    reasons = Counter(point.note for point in points if point.note != SKIPPED)
    return f"Nothing to compare: {reasons.most_common(1)[0][0] if reasons else 'no points'}."


def _times(points: Sequence[ComparedPoint], margin: float, verdict: str) -> str:
    """The mean ratio at the sizes with the verdict: "1.021 times the time"."""
    sizes = sizes_with_verdict(points, margin, verdict)
    found = overall([point for point in points if not sizes or point.size in sizes], margin)
    assert found is not None, "a verdict requires compared points"
    return f"{found.ratio.value:.3f} times the time"


def _points_of(points: Sequence[ComparedPoint]) -> str:
    """ "12 points of unrolling/interleaved"."""
    named = list(dict.fromkeys(point.kernel for point in points))
    return f"{len(points)} point{'s' if len(points) > 1 else ''} of {_listed(named)}"


def _listed(texts: Sequence[str]) -> str:
    shown = list(texts[:_NAMED_KERNELS])
    more = len(texts) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _interval(found: Interval) -> str:
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"


def _point(point: ComparedPoint) -> str:
    """A point in words."""
    values = {column: point.row.get(column) for column in ALL_POINT_COLUMNS}
    if values["array_size"]:
        values["array_size"] = point.size.text
    return f"{point.kernel}, {in_words(values)}"


def _failure(failed: Sequence[ComparedPoint]) -> str:
    """The name of the worst failure."""
    statuses = [point.after["status"] for point in failed if point.after]
    return "wrong results" if "wrong_result" in statuses else str(statuses[0]).replace("_", " ")


def _failed(points: Sequence[ComparedPoint]) -> list[str]:
    failed = [point for point in points if point.has_failed_since]
    if not failed:
        return []
    lines = [f"**{_points_of(failed)} came out right before, and not now:**", ""]
    for point in failed[:_LISTED_FAILED]:
        assert point.after is not None, "it has failed there"
        lines.append(f"- {_point(point)}: **{point.after['status']}**: {point.after['message']}")
    more = len(failed) - _LISTED_FAILED
    return [*lines, *([f"- {more} more, in comparison.csv"] if more > 0 else []), ""]


def _warnings(points: Sequence[ComparedPoint], sides: Sides) -> list[str]:
    """Differences between the sweeps other than the kernels, and remarks on the GPU."""
    compared = [(point.before, point.after) for point in points if point.ratio and point.before and point.after]
    lines = []
    devices = [sorted({str(row["device"]) for row in rows}) for rows in zip(*compared, strict=True)]
    if devices and devices[0] != devices[1]:
        names = [" and ".join(names) for names in devices]
        lines.append(f"- **Another device**: {names[0]} before, {names[1]} after. The ratios are of the devices, too.")
    other_gpu = sum(_uuids(before) != _uuids(after) for before, after in compared if _uuids(before) and _uuids(after))
    if other_gpu and devices[0] == devices[1]:
        lines.append(
            f"- **Another GPU of the same model** measured {other_gpu} of {len(compared)} points. Two of one model may "
            "differ by a percent, which no interval here has in it: measure on one."
        )
    lines += [
        f"- {name} was {sides.settings_before[name]}, and is {value} after."
        for name, value in sides.settings_after.items()
        if name in sides.settings_before and sides.settings_before[name] != value
    ]
    changed = Counter(name for before, _ in compared for name in str(before.get("changed") or "").split())
    lines += [
        f"- The {name.replace('_', ' ')} changed at {count} of {len(compared)} points."
        for name, count in changed.items()
        if name != "binary"
    ]
    same = sum(point.note == SAME_MACHINE_CODE for point in points)
    if same:
        lines.append(f"- {same} of {len(compared)} points ran the same machine code: it isn't the kernel that differs.")
    renewed = sum(
        before["source_sha256"] == after["source_sha256"] and before["binary_sha256"] != after["binary_sha256"]
        for before, after in compared
    )
    if renewed:
        lines.append(f"- {renewed} of {len(compared)} points have the same source, compiled to other machine code.")
    for remark in _REMARKS:
        flagged = [sum(remark in str(row.get("flags")).split() for row in rows) for rows in zip(*compared, strict=True)]
        if any(flagged):
            lines.append(f"- Flagged {remark}: {flagged[0]} points before, {flagged[1]} after.")
    return [*lines, ""] if lines else []


def _uuids(row: Mapping[str, object]) -> str:
    return str(row.get("device_uuid") or "")


def _kernels_table(kernels: Mapping[str, Sequence[ComparedPoint]], margin: float) -> list[str]:
    rows = []
    for kernel, points in kernels.items():
        found = overall(points, margin)
        if not found:
            continue
        counts = " | ".join(str(found.counts[verdict] or "") for verdict in VERDICTS)
        places = [
            f"{name} {where}"
            for name in VERDICTS
            if (where := _places_of_verdict({kernel: points}, margin, name).get(kernel))
        ]
        rows.append(
            f"| {kernel} | {sum(found.counts.values())} | {_interval(found.ratio)} | {counts} | {'; '.join(places)} |"
        )
    if not rows:
        return []
    return [
        "Time after over time before: the geometric mean over a kernel's points, and how many points are what.",
        "",
        f"| kernel | points | ratio (99% interval) | {' | '.join(VERDICTS)} | sizes |",
        "|---|---:|---:|---:|---:|---:|---:|---|",
        *rows,
        "",
    ]


def _sizes_table(kernels: Mapping[str, Sequence[ComparedPoint]], margin: float) -> list[str]:
    of_kernels = {kernel: found for kernel, points in kernels.items() if (found := by_size(points, margin))}
    sizes = sorted({size for found in of_kernels.values() for size in found})
    if len(sizes) < 2:
        return []
    lines = ["## By size", "", "Geometric means of the ratios. In brackets: undecided. Without a word: the same."]
    lines += ["", f"| kernel | {' | '.join(size.text for size in sizes)} |", f"|---|{'---:|' * len(sizes)}"]
    for kernel, found in of_kernels.items():
        cells = []
        for size in sizes:
            cells.append(_size_cell(found[size]) if size in found else "")
        lines.append(f"| {kernel} | {' | '.join(cells)} |")
    return [*lines, ""]


def _size_cell(found: Overall) -> str:
    """A kernel's mean ratio at a size, with the words of _sizes_table()."""
    text = f"{found.ratio.value:.3f}"
    if found.verdict in (FASTER, SLOWER):
        return f"**{text} {found.verdict}**"
    return f"({text})" if found.verdict == UNDECIDED else text


def _points_table(points: Sequence[ComparedPoint]) -> list[str]:
    called = called_points(points, FASTER, SLOWER)
    if not called:
        return []
    lines = ["## Points that are faster or slower", ""]
    if len(called) > _LISTED_POINTS:
        lines += [f"The {_LISTED_POINTS} that moved farthest, of {len(called)}; all are in comparison.csv.", ""]
    return [*lines, *point_rows(called[:_LISTED_POINTS]), ""]


def called_points(points: Sequence[ComparedPoint], *verdicts: str) -> list[ComparedPoint]:
    """The points with these verdicts, starting with the point that moved farthest."""
    return sorted((point for point in points if point.verdict in verdicts), key=_distance, reverse=True)


def point_rows(points: Sequence[ComparedPoint]) -> list[str]:
    """A table of compared points."""
    lines = ["| point | before (µs) | after (µs) | ratio (99% interval) | verdict |", "|---|---:|---:|---:|---|"]
    for point in points:
        assert point.before and point.after and point.ratio, "a compared point is in both sweeps"
        times = [f"{float(row['time_us']):.2f}" for row in (point.before, point.after)]
        lines.append(f"| {_point(point)} | {' | '.join(times)} | {_interval(point.ratio)} | {point.verdict} |")
    return lines


def _distance(point: ComparedPoint) -> float:
    return abs(log(point.ratio.value)) if point.ratio else 0.0


def _statuses(points: Sequence[ComparedPoint]) -> list[str]:
    """Statuses that changed, for better or worse."""
    changed = Counter(
        (point.kernel, point.before["status"], point.after["status"])
        for point in points
        if point.before and point.after and point.before["status"] != point.after["status"]
    )
    if not changed:
        return []
    lines = ["## Statuses that changed", "", "| kernel | before | after | points |", "|---|---|---|---:|"]
    lines += [f"| {kernel} | {before} | {after} | {count} |" for (kernel, before, after), count in changed.items()]
    return [*lines, ""]


def _not_compared(points: Sequence[ComparedPoint]) -> list[str]:
    """The reasons why points weren't compared, each with the number of points and the kernels."""
    reasons: dict[str, list[ComparedPoint]] = {}
    for point in points:
        if point.verdict == NOT_COMPARED:
            reasons.setdefault(point.note, []).append(point)
    if not reasons:
        return []
    lines = ["## Not compared", ""]
    lines += [f"- {_points_of(those)}: {reason}" for reason, those in reasons.items()]
    if NO_RECORD in reasons:
        lines += ["", "A kernel that is measured before it is edited has an earlier measurement, in the journal."]
    return [*lines, ""]


def _method(points: Sequence[ComparedPoint], scatter: Scatter | None, margin: float) -> list[str]:
    if scatter is None or not any(point.ratio for point in points):
        return []
    examples = ", ".join(f"{sqrt(scatter.variance(time)):.2%} at {time:g} µs" for time in (5, 50, 500, 5000))
    return [
        "## How this was judged",
        "",
        f"Slower: the whole interval of the ratio lies above {1 + margin:g}; faster: below {1 / (1 + margin):.4g}; "
        "same: between the two; undecided: anything else. In these sweeps the medians of a point's visits scatter by "
        f"{examples} (standard deviation), which is in every interval. The figure is `ratios`, each point's numbers "
        "are in comparison.csv, and docs/comparing.md has the method.",
    ]
