"""The parts of the page: each study with its table and figures, and the chapters that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kernelsweep.base.json_files import read_json
from kernelsweep.publish.figure_files import FIGURES, TEXTS_FILE
from kernelsweep.publish.page.embed import Figure, embed, link
from kernelsweep.publish.page.markdown import coded, to_html
from kernelsweep.publish.page.render import Section


def html(file: Path, name: str, title: str, base: Path) -> str:
    """A result's Markdown as HTML, as the part of the page with this name and title."""
    return to_html(file.read_text(encoding="utf-8"), name, title, file.parent, base)


def study_figures(folder: Path, figures: Sequence[str], base: Path) -> tuple[list[Figure], list[str]]:
    """A study's figures in the order of its story, and sentences on those that would show nothing.

    folder  of the study's results
    """
    texts = read_json(folder / "figures" / TEXTS_FILE)
    embedded, undrawn = [], []
    for figure in figures:
        if reason := texts[figure].get("missing"):
            undrawn.append(f"{FIGURES[figure].title}: {reason}")
            continue
        title = texts[figure]["title"].partition(": ")[2]
        path = folder / f"figures/{figure}.svg"
        embedded.append(embed(path, f"{title[:1].upper()}{title[1:]}", base, texts[figure]))
    return embedded, undrawn


def study_section(name: str, study: Mapping[str, Any], folder: Path, base: Path) -> Section:
    """A study's story: its steps, its table, its figures, and the files that they come from.

    study   its title, description, figures, file and kernels' files
    folder  of its results
    """
    figures, undrawn = study_figures(folder, study["figures"], base)
    steps = html(folder / "steps.md", f"study-{name}-why", study["title"], base)
    is_story = steps.count('class="step"') > 1
    story = read_json(folder / "story.json")
    moved = " which counters move," if any(step["findings"] for step in story["steps"]) else ""
    why = f"Why: what each step changes,{moved} and the code" if is_story else "Who accesses what"
    table = html(folder / "table.md", f"study-{name}", study["title"], base)
    numbers = f"Numbers at {story['at']}" if story["at"] else "All numbers of the study"
    numbers = "What is published" if study["compares"] == "outputs" else numbers
    kernels = [link(Path(path), base, Path(path).stem) for path in study["kernels"]]
    has_times = study["compares"] == "times"
    for_papers = [file for name in ("best.tex", "counters.tex") if has_times and (file := folder / name).is_file()]
    return Section(
        name=name,
        title=study["title"],
        description=coded(study["description"]),
        largest=story["largest"],
        undrawn=undrawn,
        parts={why: steps, numbers: table},
        figures=figures,
        files={
            "The table": [link(folder / f"table.{suffix}", base, suffix.upper()) for suffix in ("csv", "tex", "md")]
            + [link(file, base, file.name) for file in for_papers],
            "The study": [link(Path(study["file"]), base, Path(study["file"]).name)],
            "Its kernels": kernels,
        },
    )


def claims_figures(folder: Path, file: Path, base: Path) -> list[Figure]:
    """The figure of the claims that name a number, which is in a folder; none where that is empty.

    file  claims.csv
    """
    if not (folder / TEXTS_FILE).is_file():
        return []
    texts = read_json(folder / TEXTS_FILE)
    figure = embed(folder / "claims.svg", texts["title"].partition(": ")[2].capitalize(), base, texts)
    return [replace(figure, files=[*figure.files, link(file, base)])]


def chapter_section(
    name: str, title: str, summary: str, files: Sequence[str], base: Path, figures: Sequence[Figure] = ()
) -> Section:
    """A chapter that follows the studies, of a result's two files: its Markdown, and the same for programs.

    summary  what its text is folded below, if at all
    """
    text, data = map(Path, files)
    return Section(
        name=name,
        title=title,
        parts={summary: html(text, f"chapter-{name}", title, base)},
        figures=figures,
        files={"For programs": [link(data, base)]},
    )
