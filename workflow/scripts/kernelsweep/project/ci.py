"""Check studies in a job of a forge: on the emulator, with each mistake at its line, and a table for people.

kernelsweep ci              all studies of this folder
kernelsweep ci axpy total   some
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from kernelsweep.base.running import environment
from kernelsweep.judge.data.proofs import MISTAKES_TITLE
from kernelsweep.project.annotations import Annotation, annotated, place_in_words
from kernelsweep.publish.summary import FAILED
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.study.settings import study_names

ALL = "all"
COMMENT = Path(f"results/{EMULATOR}/ci.md")
_TOLD = rf"(?ms)^## (?:{FAILED}|{MISTAKES_TITLE})$.*?(?=^## |\Z)"  # what a summary says besides the table
_MOST_TOLD = 50  # GitHub shows ten of a step, and keeps fifty.


def main(arguments: Sequence[str]) -> int:
    """Run the command; the exit status is that of the run."""
    parser = argparse.ArgumentParser(
        prog="kernelsweep ci",
        description="Check studies on the emulator, as a job of a forge does. Each mistake is printed with file and "
        f"line, on GitHub as an annotation. {COMMENT} has the table, which GitHub's page of the run shows, too.",
        epilog="Exit status: 0 if all is right.",
    )
    parser.add_argument("studies", nargs="*", default=[ALL], help="names of studies; left out, or all: every one")
    parser.add_argument("--cores", default=str(os.cpu_count() or 1), metavar="N", help="by default all")
    given = parser.parse_args(arguments)
    command = [sys.executable, "-m", "kernelsweep.project.command", "--cores", given.cores, *given.studies]
    run = subprocess.Popen(
        [*command, "--config", f"platform={EMULATOR}"],
        stderr=subprocess.PIPE,
        env=environment(),
        encoding="utf-8",
        errors="replace",
    )
    assert run.stderr
    said = []
    for line in run.stderr:
        print(line, end="", file=sys.stderr, flush=True)
        said.append(line)
    status = run.wait()
    words = "".join(said).strip().rpartition("\n\n")[2]
    found = _found(Path(), given.studies, words if status else "")
    is_github = os.environ.get("GITHUB_ACTIONS") == "true"
    for one in found[:_MOST_TOLD]:
        print(one.as_command if is_github else one, flush=True)
    text = _comment(given.studies, found, words if status else "")
    COMMENT.parent.mkdir(parents=True, exist_ok=True)
    COMMENT.write_text(text, encoding="utf-8")
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as page:
            page.write(text)
    return status


def _found(root: Path, studies: Sequence[str], words: str) -> list[Annotation]:
    """The mistakes of a run; `words` are the last ones of a failed run."""
    start = Path(os.environ.get("GITHUB_WORKSPACE") or ".")
    names = study_names(root) if ALL in studies else studies
    found = annotated(root, COMMENT.parent, names, start) if COMMENT.parent.is_dir() else []
    if words and not found and (mistake := place_in_words(words, root, start)):
        return [mistake]
    return found


def _comment(studies: Sequence[str], found: Sequence[Annotation], words: str) -> str:
    """A comment on a change: whether all is right, and the tables of the run, or its last words where it made none."""
    heading = "all is right" if not words else f"{len(found)} mistake{'s' if len(found) != 1 else ''}"
    folders = [COMMENT.parent] if ALL in studies else [COMMENT.parent / f"studies/{study}" for study in studies]
    files = [folder / "summary.md" for folder in folders]
    texts = [file.read_text(encoding="utf-8").replace("# Summary: ", "", 1) for file in files if file.is_file()]
    # What failed is above, each mistake once.
    tables = [re.sub(_TOLD, "", text) if found else text for text in texts]
    mistakes = [f"- `{one.file}:{one.line}` {one.title}: {one.text}" for one in found]
    body = "\n".join(tables) if tables else f"```\n{words}\n```\n"
    return "\n".join([f"# kernelsweep: {heading}", "", *mistakes, *([""] if mistakes else []), body])
