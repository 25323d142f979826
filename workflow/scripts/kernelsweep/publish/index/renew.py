"""What the end of every run makes again: the page of all pages, and what older pages say of studies that ran since."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from kernelsweep.home import COMMAND
from kernelsweep.publish.html_files import INDEX_TEMPLATE
from kernelsweep.publish.html_text import html_text
from kernelsweep.publish.index.statuses import PAGE_FILE, PlatformStatus, Status, StudyOutcome, read_statuses, when
from kernelsweep.publish.page.embed import Link, link

_FILES = ("summary.md", "best.md", "claims.md", "measurements.csv", "environment.json")
_COMPARISON = "comparison/comparison.md"


@dataclass(frozen=True)
class Entry:
    """A line of the table: a platform, or below it a study that is not as the platform's page has it.

    page      its page, if there is one
    is_right  whether all is right; None where that is not known
    points    how its points came out, in words
    counted   when that was counted, in words
    remark    where its numbers come from, or why a study has its own line
    files     its other results for readers
    """

    name: str
    page: Link | None
    is_right: bool | None
    points: str
    counted: str
    remark: str
    files: Sequence[Link] = ()
    is_study: bool = False


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
    """The page of all pages as HTML."""
    entries, comparisons = [], []
    for platform in platforms:
        entries += _entries(platform, results)
        changed = max((platform.changed(study) for study in platform.studies), default=0)
        path = platform.folder / _COMPARISON
        if path.is_file():
            headline = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
            made = path.stat().st_mtime_ns
            comparisons.append(Comparison(headline, link(path, results), when(made), made < changed))
    return html_text(INDEX_TEMPLATE, "kernelsweep: results", entries=entries, comparisons=comparisons)


def _entries(platform: PlatformStatus, results: Path) -> list[Entry]:
    """A platform's line, and a line for each study that ran after the platform's page was made, or that it lacks."""
    name = platform.folder.relative_to(results).as_posix()
    newest = {study: platform.newest(study) for study in platform.studies}
    uncounted = [study for study in newest if platform.changed(study) > newest[study].made]
    outcomes = [platform.outcome(study) for study in newest if study not in uncounted]
    is_right = all(one.is_right for one in outcomes) and not any(status.errors for status in newest.values())
    is_known = not uncounted and not any(one.edited for one in outcomes)
    last = max(newest.values(), key=lambda status: status.made)
    entries = [
        Entry(
            name=name,
            page=_page(platform.whole, results, name),
            is_right=is_right if is_known or not is_right else None,
            points=_points(outcomes, len(uncounted)),
            counted=when(last.made),
            remark=(platform.whole or last).provenance,
            files=[link(platform.folder / one, results, one) for one in _FILES if (platform.folder / one).is_file()],
        )
    ]
    for study, status in newest.items():
        outcome, whole = platform.outcome(study), platform.whole
        is_on_page = whole is not None and study in whole.studies and not platform.is_old(study, whole)
        if is_on_page and not outcome.edited:
            continue
        remark = "run by itself"
        if study in uncounted:
            remark = f"measured again on {when(platform.changed(study))}; {COMMAND} {study} counts its points"
        elif outcome.edited:
            remark = f"recorded before your edit of {', '.join(outcome.edited)}"
        is_known = study not in uncounted and not outcome.edited
        entries.append(
            Entry(
                name=study,
                page=_page(status, results, study, study),
                is_right=outcome.is_right if is_known or not outcome.is_right else None,
                points=_points([] if study in uncounted else [outcome], 0),
                counted=when(status.made),
                remark=remark,
                is_study=True,
            )
        )
    return entries


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
