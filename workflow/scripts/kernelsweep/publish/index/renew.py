"""What the end of every run makes again: the page of all pages, and what older pages say of studies that ran since."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from kernelsweep.home import COMMAND
from kernelsweep.publish.html_files import INDEX_TEMPLATE
from kernelsweep.publish.html_text import html_text
from kernelsweep.publish.index.statuses import PAGE_FILE, PlatformStatus, Status, StudyOutcome, read_statuses, when
from kernelsweep.publish.page.embed import Link, link

_FILES = ("summary.md", "best.md", "claims.md", "measurements.csv", "environment.json")
_COMPARISON = "comparison/comparison.md"

# A curve's width and height, in the units of its drawing.
_CURVE = (96, 20)


@dataclass(frozen=True)
class StudyRow:
    """A study's line.

    page      its part of a page, if there is one
    is_right  whether all is right; None where that is not known
    points    how its points came out, in words
    remark    what a reader must know of it: that it is edited, not counted, or on a page of its own
    answer    what to use (StudyOutcome.answer)
    curve     the line of the share of the peak over the sizes, as the points of an SVG polyline; "" for none
    """

    name: str
    title: str
    page: Link | None
    is_right: bool | None
    points: str
    remark: str
    answer: Mapping[str, Any]
    curve: str


@dataclass(frozen=True)
class PlatformRows:
    """A platform's part of the page.

    page        its page, if there is one
    is_right    whether all is right; None where that is not known
    points      how its points came out, in words
    counted     when that was counted, in words
    provenance  where its numbers come from
    files       its other results for readers
    """

    name: str
    page: Link | None
    is_right: bool | None
    points: str
    counted: str
    provenance: str
    files: Sequence[Link]
    studies: Sequence[StudyRow]


@dataclass(frozen=True)
class Comparison:
    """A comparison that was made, by its headline.

    is_older  whether points were measured since
    """

    headline: str
    file: Link
    made: str
    is_older: bool


def renew_pages(results: Path, edited: Mapping[str, Sequence[str]]) -> None:
    """Write results/index.html, and mark pages on which a study is older than its points.

    Every file of status.json was written by a job. Nothing is counted here, so that this takes milliseconds.
    Raises UserError where such a file can't be read.

    edited  by recording's platform, the kernels that were edited after they were recorded, as `study/kernel`
    """
    platforms = read_statuses(results, edited)
    if not platforms:
        return
    for platform in platforms:
        for status in filter(None, (platform.whole, *platform.alone.values())):
            _mark(status, platform)
    write(results / "index.html", _index(platforms, results))


def write(path: Path, text: str) -> None:
    """Write a file as a whole: a reader never sees half of it."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _index(platforms: Iterable[PlatformStatus], results: Path) -> str:
    """The page of all pages as HTML: platforms with times come first."""
    parts, comparisons = [], []
    for platform in platforms:
        parts.append(_part(platform, results))
        changed = max((platform.changed(study) for study in platform.studies), default=0)
        path = platform.folder / _COMPARISON
        if path.is_file():
            headline = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
            made, page = path.stat().st_mtime_ns, path.with_suffix(".html")
            file = link(page if page.is_file() else path, results)
            comparisons.append(Comparison(headline, file, when(made), made < changed))
    parts.sort(key=lambda part: not any(row.answer for row in part.studies))
    comparisons.sort(key=lambda one: one.made, reverse=True)
    return html_text(INDEX_TEMPLATE, "kernelsweep: results", parts=parts, comparisons=comparisons)


def _part(platform: PlatformStatus, results: Path) -> PlatformRows:
    """A platform and its studies."""
    name = platform.folder.relative_to(results).as_posix()
    newest = {study: platform.newest(study) for study in platform.studies}
    uncounted = [study for study in newest if platform.changed(study) > newest[study].made]
    outcomes = [platform.outcome(study) for study in newest if study not in uncounted]
    is_right = all(one.is_right for one in outcomes) and not any(status.errors for status in newest.values())
    is_known = not uncounted and not any(one.edited for one in outcomes)
    last = max(newest.values(), key=lambda status: status.made)
    return PlatformRows(
        name=name,
        page=_page(platform.whole, results, name),
        is_right=is_right if is_known or not is_right else None,
        points=_points(outcomes, len(uncounted)),
        counted=when(last.made),
        provenance=(platform.whole or last).provenance,
        files=[link(platform.folder / one, results, one) for one in _FILES if (platform.folder / one).is_file()],
        studies=[_study_row(study, platform, results, study in uncounted) for study in newest],
    )


def _study_row(study: str, platform: PlatformStatus, results: Path, is_uncounted: bool) -> StudyRow:
    """A study of a platform."""
    status, whole, outcome = platform.newest(study), platform.whole, platform.outcome(study)
    is_on_page = whole is not None and study in whole.studies and not platform.is_old(study, whole)
    page = _page(whole if is_on_page else status, results, study, study)
    remark = "" if is_on_page else f"run by itself, {when(status.made)}"
    if page is None:
        remark = f"{COMMAND} {study} makes its page"
    if is_uncounted:
        remark = f"measured again on {when(platform.changed(study))}; {COMMAND} {study} counts its points"
    elif outcome.edited:
        remark = f"recorded before an edit of {', '.join(outcome.edited)}"
    is_known = not is_uncounted and not outcome.edited
    curve: Sequence[float] = outcome.answer.get("curve", ())
    width, height = _CURVE
    points = (
        [(width * x / (len(curve) - 1), height * (1 - min(y, 1.0))) for x, y in enumerate(curve)] if curve[1:] else []
    )
    return StudyRow(
        name=study,
        title=outcome.title.partition(": ")[2],
        page=page,
        is_right=outcome.is_right if is_known or not outcome.is_right else None,
        points=_points([] if is_uncounted else [outcome], 0),
        remark=remark,
        answer=outcome.answer,
        curve=" ".join(f"{x:.0f},{y:.1f}" for x, y in points),
    )


def _points(outcomes: Sequence[StudyOutcome], uncounted: int) -> str:
    """The points of studies that were counted, and how many studies were not since they were measured."""
    more = f", {uncounted} {'study' if uncounted == 1 else 'studies'} not counted" if uncounted else ""
    points = f"{sum(one.right for one in outcomes):,} of {sum(one.run for one in outcomes):,}"
    return f"{points}{more}" if outcomes else "not counted"


def _page(status: Status | None, base: Path, text: str, study: str = "") -> Link | None:
    """A link to the page of a scope, and on the page of all studies to a study."""
    if status is None or not (status.folder / PAGE_FILE).is_file():
        return None
    found = link(status.folder / PAGE_FILE, base, text)
    return replace(found, target=f"{found.target}#study-{study}") if study else found


# Notes on older pages, at places that template.html has for them: between <!--newer--> and <!--/newer-->, ...


def _mark(status: Status, platform: PlatformStatus) -> None:
    """Have a scope's page name the studies that are not as on the page, and how they came out."""
    page = status.folder / PAGE_FILE
    if not page.is_file():
        return
    text = marked = page.read_text(encoding="utf-8")
    old = [study for study in status.studies if platform.is_old(study, status)]
    if not old and "<!--newer--><!--/newer-->" in text:
        return
    for study in status.studies:
        shown = ("see above<span hidden>", "</span>") if study in old else ("", "")
        for name, content in zip(("points of", "end of"), shown, strict=True):
            marked = _replaced(marked, f"{name} {study}", content)
    notes = [_note(study, platform, status) for study in old]
    note = f'<p class="newer">This page is older than its results: {"; ".join(notes)}.</p>' if notes else ""
    marked = _replaced(marked, "newer", note)
    marked = _replaced(marked, "before", "<p>Before that:</p>" if notes else "")
    if marked != text:
        made = page.stat()
        write(page, marked)
        # The jobs that read this page, and that it is made from, don't see this.
        os.utime(page, ns=(made.st_atime_ns, made.st_mtime_ns))


def _note(study: str, platform: PlatformStatus, status: Status) -> str:
    """What became of a study after a scope's page was made, as HTML."""
    newest, changed, name = platform.newest(study), platform.changed(study), escape(study)
    if newest.made < changed:
        return f"{name} was measured again on {when(changed)}, and <code>{COMMAND} {name}</code> counts its points"
    outcome = platform.outcome(study)
    colour = "good" if outcome.is_right and not outcome.edited else "bad"
    words = f'<strong class="{colour}">{escape(outcome.in_words)}</strong>'
    if newest is status:
        return f"{name} now has {words}"
    page = _page(newest, status.folder, when(newest.made), study)
    ran = f'<a href="{escape(page.target)}">{page.text}</a>' if page else when(newest.made)
    return f"{name} was run again on {ran}: {words}"


def _replaced(text: str, name: str, content: str) -> str:
    """The text with this content at the place of that name."""
    opening, closing = f"<!--{escape(name)}-->", f"<!--/{escape(name)}-->"
    before, found, rest = text.partition(opening)
    if not found:
        return text
    return f"{before}{opening}{content}{closing}{rest.partition(closing)[2]}"
