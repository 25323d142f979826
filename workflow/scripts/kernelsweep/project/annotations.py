"""What a run on the emulator has found, by file and line: annotations of a change on a forge, and failures of tests."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kernelsweep.errors import UserError
from kernelsweep.judge.data.proofs import message_at, read_proofs
from kernelsweep.judge.data.row_counts import is_failure
from kernelsweep.project.guess import kernels_in
from kernelsweep.reasons import Reason
from kernelsweep.results import STATUSES, read_rows
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.study import read_study

_PLACE = re.compile(r"(?:^|(?<=[\s(]))([^\s:()]+\.(?:cuh?|h|hpp|py|ya?ml))\b(?::(\d+))?")
_NUMBER = re.compile(r"-?\d[\d.,]*(?:e[-+]\d+)?")
_YET_RIGHT = "the values are right, but "  # begins a point's message, and none of a check
_STATUSES = {status.replace("_", " ") for status in STATUSES}


@dataclass
class Annotation:
    """A mistake at a line.

    file     the path from the folder that paths start from
    points   the number of points that show it
    """

    study: str
    kernel: str
    file: str
    line: int
    title: str
    message: str
    points: int = 0

    @property
    def text(self) -> str:
        """The message, with the number of points."""
        more = f" ({self.points} points)" if self.points > 1 else ""
        of = f"{self.study}/{self.kernel}: " if self.kernel else ""
        return f"{of}{self.message}{more}"

    @property
    def as_command(self) -> str:
        """The line with which a job of GitHub's annotates a line of a change."""
        place = f"file={_escaped(self.file, ':,')},line={self.line},title={_escaped(self.title, ':,')}"
        return f"::error {place}::{_escaped(self.text)}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: error: {self.title}: {self.text}"


def annotated(root: Path, folder: Path, studies: Iterable[str], start: Path) -> list[Annotation]:
    """The mistakes that a run of these studies found, each once, by study and kernel.

    start   the folder that paths start from

    A mistake without a line has that of the kernel's head. A mistake in a study's file hides none of another study.
    """
    found: list[Annotation] = []
    for study in studies:
        try:
            found += _of_study(root, folder, study, start)
        except UserError as error:
            found += filter(None, [place_in_words(str(error), root, start)])
    return found


def _of_study(root: Path, folder: Path, study: str, start: Path) -> Iterator[Annotation]:
    for kernel, source in read_study(study, root).kernels.items():
        found: dict[tuple[str, int, str], Annotation] = {}
        for title, message, point in _mistakes(folder, study, kernel):
            file, line = _place(message, root) or _head(source)
            place = os.path.relpath(file.resolve(), start.resolve()), line
            new = Annotation(study, kernel, *place, title, f"at {point}: {message}" if point else message)
            # Points tell of the same mistake with other numbers.
            first = found.setdefault((*place, _NUMBER.sub("", message.removeprefix(_YET_RIGHT))), new)
            first.points += title in _STATUSES
        yield from found.values()


def _mistakes(folder: Path, study: str, kernel: str) -> Iterator[tuple[str, str, str]]:
    """What is wrong, in a few words and in a sentence, and at which point: of checks of memory, then of points."""
    proofs = folder / f"proofs/{study}/{kernel}.csv"
    for proof in (read_proofs([proofs]) if proofs.is_file() else {}).values():
        for row in (row for row in proof.mistakes if row["check"] != "result"):  # Points have these.
            yield row["finding"].replace("_", " "), message_at(row), row["point"]
    points = folder / f"points/{study}/{kernel}.csv"
    for row in read_rows(points) if points.is_file() else []:
        if is_failure(row):
            yield row["status"].replace("_", " "), row["message"], row["parameters"] or row["array_size"]
        elif row["status"] == "skipped" and row["reason"] == Reason.STUDY_MISTAKE:
            yield "mistake in the study", row["message"], ""


def _place(message: str, root: Path) -> tuple[Path, int] | None:
    """The first file and line that a message names; a file alone has line 1. None where it names none."""
    for name, line in _PLACE.findall(message):
        if (root / name).is_file():
            return root / name, int(line or 1)
    return None


def _head(kernel: KernelSource) -> tuple[Path, int]:
    """Where a kernel's function begins, else the first of its file; line 1 where there is none."""
    names = [*(one.kernel for one in kernel.entry.launches), kernel.entry.function, kernel.name]
    with suppress(UserError):
        heads = kernels_in(kernel.path)
        name = next((name for one in names if one and (name := one.partition("<")[0]) in heads), next(iter(heads)))
        return heads[name][1], heads[name][0].line
    return kernel.path, 1


def place_in_words(words: str, root: Path, start: Path) -> Annotation | None:
    """The last words of a run that did not begin, as of a wrong key of a study, at the file that they name."""
    place = _place(words, root)
    if place is None:
        return None
    return Annotation("", "", os.path.relpath(place[0].resolve(), start.resolve()), place[1], "mistake", words)


def _escaped(text: str, further: str = "") -> str:
    for letter in f"%\r\n{further}":
        text = text.replace(letter, f"%{ord(letter):02X}")
    return text
