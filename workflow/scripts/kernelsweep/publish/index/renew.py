"""What the end of every run makes again: the page of all pages, which says what was found after a page was made."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kernelsweep.base.groups import grouped
from kernelsweep.base.json_files import read_json, write_json
from kernelsweep.home import COMMAND
from kernelsweep.publish.html_text import html_text, macro_text
from kernelsweep.publish.index.statuses import (
    PAGE_FILE,
    PlatformStatus,
    Status,
    StudyOutcome,
    counts_text,
    read_statuses,
    when,
)
from kernelsweep.publish.page.embed import link
from kernelsweep.publish.reach import reach

_FILES = ("summary.md", "best.md", "claims.md", "measurements.csv", "metrics.csv", "environment.json")
# The verdicts of a platform, each with its page: on an edit or two sweeps, and on candidates.
_VERDICTS = {"comparison/comparison.json": "comparison.html", "grade/verdict.json": "grade.html"}

# By study whose last compare failed: in words, and when.
_FAILED = "comparison/failures.json"

# Stands before and behind what a page says of itself, in page/since.html.
_MARK = "<!--since-->"

# What a study's row has of its outcome as it is.
_AS_IS = ("skipped", "why_skipped", "failed", "fault", "claims", "outputs", "kind", "answer", "device")

# A curve's width and height, in the units of its drawing.
_CURVE = (96, 32)


def renew_index(results: Path, mistakes: Mapping[str, str] = MappingProxyType({})) -> None:
    """Write results/index.html as a whole: a reader never sees half of it.

    mistakes  by study, for what the run of all leaves it out

    Every file of status.json was written by a job. Nothing is counted here, so that this takes milliseconds.
    Raises UserError where such a file can't be read.
    """
    platforms, verdicts = read_statuses(results), {path: read_json(path) for path in _verdict_files(results)}
    if platforms or verdicts:
        unfinished = results / f".index.html.{os.getpid()}"
        unfinished.write_text(_index(platforms, verdicts, results, mistakes), encoding="utf-8")
        unfinished.replace(results / "index.html")


def _verdict_files(results: Path) -> list[Path]:
    return [path for name in _VERDICTS for path in (*results.glob(f"*/{name}"), *results.glob(f"recording/*/{name}"))]


def _index(
    platforms: Sequence[PlatformStatus],
    contents: Mapping[Path, Mapping[str, Any]],
    results: Path,
    mistakes: Mapping[str, str],
) -> str:
    """The page of all pages as HTML: what is wrong comes first, then platforms with times."""
    comparisons = {path.parents[1]: content for path, content in contents.items() if "candidates" not in content}
    parts = [_part(one, results, mistakes, _compared(comparisons.get(one.folder, {}))) for one in platforms]
    parts.sort(key=lambda part: (part["sign"] != "✗", not any(row["answer"] for row in part["studies"])))
    of = {platform.folder: platform for platform in platforms}
    verdicts = [_verdict(path, content, of.get(path.parents[1]), results) for path, content in contents.items()]
    verdicts.sort(key=lambda one: str(one["made"]), reverse=True)
    return html_text(
        "index/index.html", "kernelsweep: results", parts=parts, verdicts=verdicts, left_out=_left_out(mistakes)
    )


def _verdict(path: Path, content: Mapping[str, Any], platform: PlatformStatus | None, results: Path) -> dict[str, Any]:
    """A verdict's lines, and its page.

    A comparison is older where a study that it is about was measured again: an edit may have been taken back.
    """
    made, compared = path.stat().st_mtime_ns, _compared(content)
    devices = content.get("devices", ())
    of = platform.studies if platform and "candidates" not in content else []
    written = [platform.changed(study) for study in of if platform and (study in compared or not compared)]
    page = path.with_name(_VERDICTS[f"{path.parent.name}/{path.name}"])
    return {
        "lines": [line for line in content["verdict"] if line not in content.get("left_out", ())],
        "kind": "Candidates" if "candidates" in content else "Two GPUs" if devices[1:] else "Before and after",
        "on": "" if devices[1:] else platform.device if platform else ", ".join(devices),
        "is_bad": bool(content.get("failed") or content.get("failed_proofs") or content.get("status")),
        "file": link(page if page.is_file() else path, results),
        "made": when(made),
        "is_older": made < max(written, default=0),
    }


def _compared(content: Mapping[str, Any]) -> set[str]:
    kernels = (kernel for name in ("kernels", "counted", "failed") for kernel in content.get(name, ()))
    return {kernel.partition("/")[0] for kernel in kernels}


def _found_since(platform: PlatformStatus) -> dict[str, tuple[str, str]]:
    """By study that was measured again for `compare`, which then failed: what it found, and when."""
    path = platform.folder / _FAILED
    return {
        study: (words, when(made))
        for study, (words, made) in (read_json(path) if path.is_file() else {}).items()
        if study in platform.studies and made > platform.changed(study) > platform.newest(study).made
    }


def keep_failed(folder: Path, studies: Iterable[str], summary: Mapping[str, Any]) -> None:
    """Note which of the compared studies failed, and when; what was found of others stays.

    folder   the platform's
    summary  comparison.json
    """
    path, failed = folder / _FAILED, {**dict.fromkeys(summary["mistaken"], 0), **summary["failed"]}
    kept = read_json(path) if path.is_file() else {}
    found = {study: of_study for study, of_study in kept.items() if study not in studies}
    for study, kernels in grouped(failed, lambda kernel: kernel.partition("/")[0]).items():
        count, names = sum(failed[kernel] for kernel in kernels), [kernel.partition("/")[2] for kernel in kernels]
        where = ", ".join(names) if len(names) < 4 else f"{len(names)} kernels"
        what = f"{count:,} point{'s' * (count > 1)}" if count else "a check"
        found[study] = (f"{what} of {where} failed in compare", time.time_ns())
    write_json(path, found)


def _mark(page: Path, **since: str) -> None:
    """Have a page say what since.html makes of these values, none of a page of today. Its time stays."""
    text, times = page.read_text(encoding="utf-8"), page.stat()
    before, *there = text.split(_MARK)
    marked = f"{before}{macro_text('page/since.html', 'since', **since)}{''.join(there[1:])}"
    if there and marked != text:
        unfinished = page.with_name(f".{page.name}.{os.getpid()}")
        unfinished.write_text(marked, encoding="utf-8")
        os.utime(unfinished, ns=(times.st_atime_ns, times.st_mtime_ns))
        unfinished.replace(page)


def _left_out(mistakes: Mapping[str, str]) -> str:
    """ "Left out: own (its file, line and mistake)."; "" without mistakes."""
    texts = [f"{study} ({mistake.splitlines()[0].removesuffix('.')})" for study, mistake in mistakes.items()]
    return f"Left out: {'; '.join(texts)}." if texts else ""


def _part(
    platform: PlatformStatus, results: Path, mistakes: Mapping[str, str], compared: Collection[str]
) -> dict[str, Any]:
    """A platform and its studies, by the names that the template has for them.

    mistakes  as those of renew_index()
    compared  the studies that its comparison is about
    """
    found = _found_since(platform)
    name = platform.folder.relative_to(results).as_posix()
    newest = {study: platform.newest(study) for study in platform.studies}
    uncounted = [study for study in newest if platform.is_uncounted(study)]
    outcomes = [platform.outcome(study) for study in newest if study not in uncounted]
    # What a study that was measured since has to do with an error is not known.
    is_right = all(outcome.is_right for outcome in outcomes)
    is_right &= bool(uncounted) or not any(status.errors for status in newest.values())
    is_right &= not found
    last, whole = max(newest.values(), key=lambda status: status.made), platform.whole
    provenance = (whole or last).provenance
    rows = [_study_row(study, platform, results, study in uncounted, found.get(study)) for study in newest]
    # What the report of all has comes first.
    rows.sort(key=lambda row: not (row["name"] in whole.studies if whole else row["page"]))
    others = [row for row in rows if (whole and row["name"] not in whole.studies) or not row["page"]]
    devices = [row["device"] for row in rows]
    pageless = [row["name"] for row in others if not row["page"] and row["name"] not in uncounted]
    provenances = grouped(newest, lambda study: newest[study].studies[study].provenance or newest[study].provenance)
    provenances.pop(provenance, None)
    together = [*whole.studies.values()] if whole else []
    is_as_told = whole and not any(platform.is_old(study, whole) for study in whole.studies)
    return {
        "name": name,
        "title": platform.device or name,
        # The heading has the days of all.
        "usual_device": max(devices, key=devices.count),
        "is_stale": bool(uncounted),
        "reach": reach({study: platform.outcome(study).answer for study in newest}),
        "is_checked": any(outcome.clean for outcome in outcomes),
        "page": _page(platform.whole, results),
        "sign": _sign(is_right, not uncounted and not any(outcome.edited for outcome in outcomes)),
        "points": _points(outcomes, len(uncounted), found),
        # The report of all, and the terminal, have fewer.
        "other": others[0]["name"] if others and (whole or pageless) else "",
        "together": f"has the {f'{len(together)} studies' if len(together) > 1 else 'study'} above"
        + (f" ({counts_text(together, ' points right')})" if is_as_told else "")
        if whole and _page(whole, results)
        else "",
        "counted": when(last.made),
        "provenance": provenance,
        "others": [f"{', '.join(names)} {one}" for one, names in provenances.items()],
        "files": [link(platform.folder / file, results, file) for file in _FILES if (platform.folder / file).is_file()],
        "older": list(
            filter(None, (_older(status, platform, results, found, mistakes, compared) for status in platform.statuses))
        ),
        "studies": rows,
        "makes_pages": f"{COMMAND} {pageless[0]}" if pageless else "",
    }


def _study_row(
    study: str, platform: PlatformStatus, results: Path, is_uncounted: bool, found: tuple[str, str] | None
) -> dict[str, Any]:
    """A study of a platform; its remark is what a reader must know of it."""
    status, outcome = platform.newest(study), platform.outcome(study)
    current = [one for one in platform.statuses if study in one.studies and not platform.is_old(study, one)]
    page = next(filter(None, (_page(one, results, study) for one in current or [status])), "")
    # Only a study of the run of all has another result there.
    is_apart = platform.whole and platform.whole not in current and study in platform.whole.studies
    remark = f"run by itself, {when(status.made)}" if is_apart else ""
    if is_uncounted:
        before = "" if outcome.is_right else f"before that, {outcome.fault}; "
        again = f"{found[1]}; " if found else f"{platform.again(study, status.made)}; "
        remark = f"{again}{before}{_renewed(bool(found), study)}"
    elif outcome.edited:
        remark = f"recorded before an edit of {', '.join(outcome.edited)}"
    answer, (width, height) = outcome.answer, _CURVE
    places = zip(answer["places"], answer["curve"], strict=True) if "places" in answer else ()
    points = [f"M{width * x:.0f},{height * (1 - min(y, 1.0)):.1f}" for x, y in places]
    runs = answer["runs"] if points else []
    joined = ["".join(points[number] for number in run).replace("M", "L").replace("L", "M", 1) for run in runs]
    return {
        "name": study,
        "title": outcome.title.partition(": ")[2],
        "page": page,
        "is_stale": is_uncounted,
        "sign": _sign((outcome.is_right or is_uncounted) and not found, not is_uncounted and not outcome.edited),
        # A verdict says all of a comparison.
        "is_told": bool(found),
        "points": found[0] if found else ("not counted" if is_uncounted else counts_text([outcome])),
        "remark": remark,
        **{name: getattr(outcome, name) for name in _AS_IS},
        "clean": [] if found else outcome.clean,
        "curve": "".join(joined),
    }


def _renewed(is_wrong: bool, target: str) -> str:
    """Which command renews what is out of date, in words."""
    return f"to bring up to date{', once corrected' * is_wrong}: {COMMAND} {target}"


def _sign(is_right: bool, is_known: bool) -> str:
    return ("✓" if is_known else "") if is_right else "✗"


def _points(outcomes: Sequence[StudyOutcome], uncounted: int, found: Mapping[str, tuple[str, str]]) -> str:
    """The points of studies that were counted, and what of those is known that were measured since."""
    texts = [f"{study}: {words}" for study, (words, _) in found.items()]
    texts += ["of the others, " * bool(found) + counts_text(outcomes, " points right")] if outcomes else []
    if rest := uncounted - len(found):
        texts.append(f"{rest} {'study was' if rest == 1 else 'studies were'} measured again, and not counted since")
    return "; ".join(texts)


def _page(status: Status | None, base: Path, study: str = "") -> str:
    """The address of a scope's page, and on the page of all studies of a study; "" without a page."""
    if status is None or not (status.folder / PAGE_FILE).is_file():
        return ""
    return link(status.folder / PAGE_FILE, base).target + (f"#study-{study}" if study else "")


def _older(
    status: Status,
    platform: PlatformStatus,
    results: Path,
    found: Mapping[str, tuple[str, str]],
    mistakes: Mapping[str, str],
    compared: Collection[str],
) -> dict[str, Any] | None:
    """A scope's page with what became of its studies after it was made, unless their rows say it; or None.

    The page says it, too.
    """
    page, old = status.folder / PAGE_FILE, [study for study in status.studies if platform.is_old(study, status)]
    if not page.is_file():
        return None
    several, since = len(status.studies) > 1, []
    for study in old:
        again = ", ".join(found.get(study, ())) or platform.again(study, status.made)
        since.append(again if platform.is_uncounted(study) else platform.outcome(study).in_words)
        since[-1] = f"{study}: {since[-1]}" if several else since[-1]
    lacking = {study: mistakes[study] for study in mistakes if status is platform.whole and study not in status.studies}
    since_then, words = "; ".join(since), {"left_out": _left_out(lacking)}
    if old:
        again = _renewed(not found.keys().isdisjoint(old), "all" if status is platform.whole else old[0])
        verdict = platform.folder / "comparison/comparison.html"
        if verdict.is_file() and verdict.stat().st_mtime_ns > status.made and not {*old}.isdisjoint(compared):
            words["compared"] = link(verdict, page.parent).target
        words |= {"told": since_then, "again": again[:1].upper() + again[1:]}
        words["kind"] = "old" if found.keys() & {*old} else "old again"
    _mark(page, **words)
    if all(platform.is_uncounted(study) for study in old):
        return None
    return {"page": link(page, results), "made": when(page.stat().st_mtime_ns), "since": since_then}
