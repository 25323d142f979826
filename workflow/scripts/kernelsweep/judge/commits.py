"""What commits did to kernels: `compare` over git's revisions, one by one or by halves.

Each revision runs in a folder of its own, beside the results of the revision that is known to be good, so that its
points run in pairs with that one's; without a GPU, their counts are compared. Nothing in the user's folder changes.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError
from kernelsweep.home import HOME
from kernelsweep.json_files import read_json
from kernelsweep.judge.comparison.counts import MIXED, MORE
from kernelsweep.judge.comparison.verdicts import kernels_with_verdict
from kernelsweep.measure.pairs import SLOWER

_LETTERS = 200  # of a step's line


@dataclass(frozen=True)
class Commit:
    """A commit, with git's line on it: the abbreviated hash, the day, and the subject."""

    revision: str
    line: str


def commits_since(good: str, paths: Sequence[str]) -> list[Commit]:
    """The commits after a revision up to HEAD that touch some of the paths, the oldest first.

    Raises UserError where this is no repository, there is no such revision, or no commit touches the paths since.
    """
    listing = _git("log", "--reverse", "--format=%H %h %cs %s", f"{good}..HEAD", "--", *paths)
    found = [Commit(*line.split(" ", 1)) for line in listing.splitlines()]
    if not found:
        raise UserError(f"No commit since {good} touches {', '.join(paths)}.")
    return found


def first_bad(commits: Sequence[Commit], is_bad: Callable[[Commit], bool]) -> Commit | None:
    """The first of the commits that is bad, where all after it are, too; None where the last is good.

    Asks for the last one, and then for as few as halving takes.
    """
    if not is_bad(commits[-1]):
        return None
    good, bad = -1, len(commits) - 1
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (good, middle) if is_bad(commits[middle]) else (middle, bad)
    return commits[bad]


class Revisions:
    """Runs `compare` on revisions of the repository, each against the good one.

    folder    for copies of the repository with their results
    settings  of this run, as config.yaml has them: only the revisions differ
    cores     of each run
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any], cores: int) -> None:
        self._folder, self._cores = folder, cores
        self._settings = folder / "settings.json"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self._settings.write_text(json.dumps(dict(settings)), encoding="utf-8")

    def measure(self, good: str) -> None:
        """Measure the good revision. Raises UserError if it doesn't run."""
        self._compared(self._folder / "good", good)

    def compare(self, revision: str) -> tuple[bool, str]:
        """Whether a revision is bad, with its verdict in words. Raises UserError if it doesn't run."""
        place = self._folder / "tried"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self._folder / "good", place, symlinks=True)
        for old in place.iterdir():
            if old.name not in ("results", ".snakemake"):
                shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
        comparison = self._compared(place, revision)
        found = read_json(comparison / "comparison.json")
        counted = {one["verdict"] for one in found["counted"].values()}
        is_bad = found["failed"] or found["failed_proofs"] or kernels_with_verdict(found, SLOWER)
        return bool(is_bad or counted & {MORE, MIXED}), " ".join(found["verdict"])[:_LETTERS]

    def _compared(self, place: Path, revision: str) -> Path:
        """The folder with the comparison of a revision, whose files are put into a folder."""
        place.mkdir(exist_ok=True)
        for old in place.glob("results/*/comparison"):
            shutil.rmtree(old)
        archive = self._folder / "files.tar"
        _git("archive", f"--output={archive}", revision)
        # With the time of now: git's times are older than the results.
        subprocess.run(["tar", "-xmf", str(archive), "-C", str(place)], check=True)
        command = [sys.executable, "-m", "snakemake", "-s", str(HOME / "Snakefile"), "--cores", str(self._cores)]
        command += ["compare", "--configfile", str(self._settings.resolve())]
        run = subprocess.run(command, cwd=place, capture_output=True, encoding="utf-8", errors="replace")
        (self._folder / "run.log").write_text(run.stdout + run.stderr, encoding="utf-8")
        # A wrong result fails it, and is an answer.
        found = [*place.glob("results/**/comparison/comparison.json")]
        if not found:
            last = [line for line in run.stderr.splitlines() if line.strip()][-1:] or ["no message"]
            raise UserError(f"`snakemake compare` does not run at {revision}: {last[0].strip()}")
        return found[0].parent


def _git(*arguments: str) -> str:
    """Git's answer. Raises UserError with its message where it fails."""
    try:
        run = subprocess.run(["git", *arguments], capture_output=True, encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"git can't be started: {error}") from error
    if run.returncode:
        raise UserError(f"git {arguments[0]}: {run.stderr.strip()}")
    return run.stdout
