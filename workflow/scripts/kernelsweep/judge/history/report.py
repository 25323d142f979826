"""Kernels' versions as Markdown and as rows of history.csv."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernelsweep.analysis.words import list_texts, markdown_table, point_text
from kernelsweep.judge.history.versions import BROKEN, Version
from kernelsweep.measure.pairs import SLOWER
from kernelsweep.results import Row, point_columns

# history.csv, one row a version of a kernel, with the point columns of its best configuration between the two parts.
HISTORY_COLUMNS = ("study", "kernel", "revision", "source_sha256", "measured")
TIME_COLUMNS = ("time_us", "time_low_us", "time_high_us", "ratio", "ratio_low", "ratio_high", "verdict", "remark")


_HEADS = {
    **dict.fromkeys(("kernel", "version", "swept"), False),
    **{"best time (µs)": True, "configuration": False, "time over that before": True, "verdict": False},
}


def by_kernel(versions: Sequence[Version]) -> dict[str, list[Version]]:
    """The versions of each kernel, in their order."""
    found: dict[str, list[Version]] = {}
    for version in versions:
        found.setdefault(version.kernel, []).append(version)
    return found


def headline(versions: Sequence[Version]) -> str:
    """The kernels whose latest version is broken or slower than the one before it."""
    kernels = by_kernel(versions)
    latest = [of_kernel[-1] for of_kernel in kernels.values()]
    broken = [f"{one.kernel} ({one.remark}, {one.label})" for one in latest if one.verdict == BROKEN]
    slower = [
        f"{one.kernel} ({one.ratio.value:.3f} times the time, {one.label})"
        for one in latest
        if one.ratio and one.verdict == SLOWER
    ]
    several = sum(len(of_kernel) > 1 for of_kernel in kernels.values())
    sentences = [f"Broken: {list_texts(broken)}."] if broken else []
    sentences += [f"Slower than the version before: {list_texts(slower)}." if slower else "None is slower."]
    return " ".join([*sentences, f"Kernels with several versions: {several} of {len(kernels)}."])


def history_text(versions: Sequence[Version], provenance: str, places: Mapping[str, Mapping[str, Any]]) -> str:
    """The page: the kernels with several versions.

    places  by study, the values of the axes at which its kernels are compared
    """
    lines = [f"# {headline(versions)}", "", f"The best time of each version; {provenance}."]
    lines += ["A version is a state of the kernel's source that was swept. A star: files differed from the commit."]
    lines += ["history.csv has the kernels of one version, too."]
    studies: dict[str, list[Version]] = {}
    for kernel, of_kernel in by_kernel(versions).items():
        if len(of_kernel) > 1:
            studies.setdefault(kernel.partition("/")[0], []).extend(of_kernel)
    for study, of_study in studies.items():
        lines += ["", f"## {study}, {point_text(places[study])}", ""]
        lines += markdown_table(_HEADS, [_row(version, places[study]) for version in of_study])
    return "\n".join(lines) + "\n"


def _row(version: Version, place: Mapping[str, Any]) -> tuple[str, ...]:
    time, low, high = (float(version.row.get(name, 0)) for name in ("time_us", "time_low_us", "time_high_us"))
    free = {axis: value for axis, value in version.point.items() if axis not in place and value not in (None, "")}
    change = version.ratio
    ratio = f"{change.value:.3f} ({change.low:.3f} to {change.high:.3f})" if change else ""
    verdict = f"**{version.verdict}**" if version.is_worse else version.verdict
    verdict = ": ".join(filter(None, (verdict, version.remark)))
    return (
        version.kernel.partition("/")[2],
        version.label,
        version.measured[:10],
        f"{time:,.2f} ({low:,.2f} to {high:,.2f})" if version.row else "none is right",
        point_text(free),
        ratio,
        verdict,
    )


def history_rows(versions: Sequence[Version]) -> list[Row]:
    """The rows of history.csv."""
    rows = []
    for version in versions:
        study, _, kernel = version.kernel.partition("/")
        change = version.ratio
        ends = (f"{change.value:.5f}", f"{change.low:.5f}", f"{change.high:.5f}") if change else ("", "", "")
        rows.append(
            {"study": study, "kernel": kernel, "revision": version.revision, "source_sha256": version.source}
            | {"measured": version.measured, "verdict": version.verdict, "remark": version.remark}
            | point_columns(version.point)
            | {name: version.row.get(name) for name in TIME_COLUMNS[:3]}
            | dict(zip(TIME_COLUMNS[3:6], ends, strict=True))
        )
    return rows
