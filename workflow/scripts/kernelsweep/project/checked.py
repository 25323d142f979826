"""What a check of a kernel says: findings, each once, with the points and the lines that show it; and its words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kernelsweep.base.cxx import cxx_code
from kernelsweep.device.outcome import Outcome
from kernelsweep.results import NOTES, ORDER
from kernelsweep.study.kernels.source import included_files, read_source
from kernelsweep.study.point import Point
from kernelsweep.sweep.proof_rows import findings

Key = tuple[Any, ...]
OF_ORDER = "result by order"
ANY_ARRAY = "?"
_OF_MEMORY = {"races": "race", "bounds": "out of bounds", "barriers": "barrier", "uninitialised": "uninitialised read"}
_OF_KIND = {"misaligned": "misaligned", "wrong_result": "wrong result", ORDER: OF_ORDER}
_FOLDERS = re.compile(r"(?<=\s)/\S*/(?=[^\s/:]+:\d)")
_PLACE = re.compile(r"([^\s/:(]+\.\w+):(\d+)")
_BARRIER = re.compile(r"__sync(?:threads|warp)|\bsync\(|arrive_and_wait|\bwait\(")


@dataclass(frozen=True)
class Finding:
    """A mistake in the use of memory or of barriers.

    kind     race, out of bounds, misaligned, barrier, uninitialised read, wrong result, result by order or launch
    lines    the source's lines that it names, each with its place
    points   that show it; the message is of the first
    depends  the guess on which it depends whether this is a mistake; "" where it is one
    more     the places of further races of the same array between the same barriers
    """

    kind: str
    message: str
    lines: tuple[tuple[str, str], ...]
    points: tuple[str, ...]
    depends: str = ""
    more: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Checked:
    """What a check says of a kernel.

    guessed    what nobody gave, by its name
    points     the values of the axes at which the kernel ran to its end
    findings   mistakes in the use of memory and of barriers
    doubtful   the same, where it depends on a guess whether they are mistakes
    notes      the same, where further runs showed that they decide nothing
    unchecked  why it was not checked, by point; by "" where it was not checked at all
    unjudged   the arrays whose sizes are not known, so that bounds could not be judged
    judged     whether results were compared with right ones
    """

    file: str
    kernel: str
    line: int
    guessed: Mapping[str, str] = field(default_factory=dict)
    points: Sequence[str] = ()
    findings: Sequence[Finding] = ()
    doubtful: Sequence[Finding] = ()
    notes: Sequence[Finding] = ()
    unchecked: Mapping[str, str] = field(default_factory=dict)
    unjudged: Sequence[str] = ()
    judged: bool = False
    seconds: float = 0.0

    @property
    def right(self) -> bool:
        """Whether every point was checked, and nothing was found."""
        return self.status == 0

    @property
    def status(self) -> int:
        """1 for a mistake, 3 for what may be one, 2 where not all could be checked; 0 for none of these."""
        return 1 if self.findings else 3 if self.doubtful else 2 if self.unchecked or self.unjudged else 0

    def __repr__(self) -> str:
        head = f"{self.file}:{self.line}  {self.kernel}"
        width = max(map(len, self.guessed), default=0)
        told = [f"    guessed  {name:{width}}  {value}" for name, value in self.guessed.items()]
        told += [f"  {line}" for one in (*self.findings, *self.doubtful, *self.notes) for line in self._of(one)]
        for point, why in self.unchecked.items():
            told += [f"  not checked{f' at {point}' if point else ''}: {why}".replace("\n", "\n    ")]
        return "\n".join([head, *told, f"  {self.verdict}"])

    def _of(self, finding: Finding) -> Iterator[str]:
        kind = "note: " if finding in self.notes else "perhaps: " * bool(finding.depends)
        clean = [point for point in self.points if point not in finding.points]
        but = f"; not at {', nor at '.join(clean)}" if clean else ""
        yield f"{kind}{finding.message}"
        yield from (f"    {place}  {text.strip()}" for place, text in finding.lines)
        if finding.more:
            others = ", ".join(" with ".join(places) for places in finding.more)
            yield f"    and {_counted(len(finding.more), 'more pair')} of lines: {others}"
        yield f"    at {finding.points[0]}{but}{f': {finding.depends}' if finding.depends else ''}"

    @property
    def verdict(self) -> str:
        """What was done and found, in a sentence."""
        if not self.points and not self.findings and not self.doubtful:
            return "Not checked."
        number, doubtful, ran = len(self.findings), len(self.doubtful), len(self.points)
        found = _counted(number, "mistake") if number else "No certain mistake" if doubtful else "No mistake"
        if not ran:
            return f"{found} found in its launch, so that it was not run."
        what = "results, accesses and barriers" if self.judged else "accesses and barriers"
        sizes = ",".join(f"{one}=1000" for one in self.unjudged)
        ends = f", but bounds of {', '.join(self.unjudged)} could not be judged: --elements {sizes} gives sizes"
        judged = "" if self.judged else " Results were not judged: nobody said which are right."
        is_of_call = any(one.kind != OF_ORDER for one in self.doubtful)
        meant = ": --case, --grid and --block say which call is meant" * is_of_call
        depend = f" {_counted(doubtful, 'finding')} may be {'mistakes' if doubtful > 1 else 'a mistake'}{meant}."
        where = f"at {_counted(ran, 'point')} on the emulator{ends * bool(self.unjudged)}"
        return f"{found} found in {what}, {where}.{depend * bool(doubtful)}{judged}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def as_values(checked: Checked) -> dict[str, Any]:
    """A check's result as JSON has it."""
    return {**asdict(checked), "status": checked.status, "verdict": checked.verdict}


@dataclass(frozen=True)
class Seen:
    """What the outcomes of points say.

    findings   by a key that is the same at every point
    points     that show each of them
    mistakes   a key that findings of one mistake share: races of one array between the same barriers
    arrays     the array of each; "" where the kernel declares it, or there is none; ANY_ARRAY for some in device memory
    below      those that begin before the start of their array
    ran        the points at which the kernel ran to its end
    unchecked  why one did not run, by point
    """

    findings: Mapping[Key, Finding]
    points: Mapping[Key, Sequence[Point]]
    mistakes: Mapping[Key, Key]
    arrays: Mapping[Key, str]
    below: Collection[Key]
    ran: Sequence[Point]
    unchecked: Mapping[str, str]


def seen(outcomes: Mapping[Point, Outcome], file: Path, folders: Sequence[Path]) -> Seen:
    """The findings of all points, each once. `folders` have the headers of the file."""
    sources = {one.name: one for one in (*included_files(file, [file.parent, *folders]), file)}
    found: dict[Key, Finding] = {}
    points: dict[Key, list[Point]] = {}
    mistake_of: dict[Key, Key] = {}
    arrays: dict[Key, str] = {}
    below: set[Key] = set()
    ran, unchecked = [], {}
    for point, outcome in outcomes.items():
        mistakes = [
            (check, kind, _FOLDERS.sub("", message), lines)
            for check, kind, message, lines in findings(outcome)
            if check in _OF_MEMORY or kind in (ORDER, "wrong_result")
        ]
        if outcome.status in ("ok", "wrong_result") or mistakes:
            ran.append(point)
        else:
            unchecked[point_text(point)] = outcome.message or outcome.status
        told = {_FOLDERS.sub("", one.message): one for one in outcome.mistakes}
        for check, kind, message, lines in mistakes:
            # What ends a launch has its lines in words alone.
            of_record = (one.rpartition("/")[2].rpartition(":")[::2] for one in lines)
            places = tuple(dict.fromkeys(of_record if lines else _PLACE.findall(message)))
            # The same of one array, wherever it is.
            key = (check, kind in NOTES, places, re.sub(r"\d+", "", message) if places else message.partition(":")[0])
            name = _OF_KIND.get(kind) or _OF_MEMORY[check]
            found.setdefault(key, Finding(name, message, tuple(_lines(places, sources)), ()))
            points.setdefault(key, []).append(point)
            of_array = re.sub(r"\d+|\[.*?\]", "", message.partition(":")[0])
            mistake_of[key] = (of_array, _between(places, sources)) if name == "race" and places else key
            arrays[key] = ANY_ARRAY if kind == "launch_failed" else told[message].array if message in told else ""
            below |= {key} if message in told and told[message].is_below else set()
    points_ = {key: [*dict.fromkeys(of)] for key, of in points.items()}
    return Seen(found, points_, mistake_of, arrays, below, ran, unchecked)


def point_text(point: Mapping[str, Any]) -> str:
    """A point as a check names it."""
    return ", ".join(f"{axis}={value}" for axis, value in point.items() if axis != "cache") or "its launch"


def judged(
    result: Checked, outcomes: Seen, depends: Mapping[Key, str], in_source: Mapping[str, str] = MappingProxyType({})
) -> Checked:
    """The result with what the outcomes of points say.

    depends    the guess on which a finding depends
    in_source  the name that an array has in the source, by that which it has here
    """

    def as_in_source(text: str) -> str:
        return re.sub(r"\w+", lambda word: in_source.get(word[0], word[0]), text)

    told: dict[Key, Finding] = {}
    for key, one in outcomes.findings.items():
        why = as_in_source(depends.get(key, ""))
        mistake = (key[1], why, outcomes.mistakes[key])
        points = map(point_text, outcomes.points[key])
        if first := told.get(mistake):
            more = (*first.more, tuple(place for place, _ in one.lines))
            told[mistake] = replace(first, points=tuple(dict.fromkeys((*first.points, *points))), more=more)
        else:
            told[mistake] = replace(one, message=as_in_source(one.message), points=tuple(points), depends=why)
    notes = [one for (is_note, *_), one in told.items() if is_note]
    others = [one for (is_note, *_), one in told.items() if not is_note]
    return replace(
        result,
        points=[*map(point_text, outcomes.ran)],
        findings=[one for one in others if not one.depends],
        doubtful=[one for one in others if one.depends],
        notes=notes,
        unchecked=outcomes.unchecked,
    )


def _between(places: Iterable[tuple[str, str]], sources: Mapping[str, Path]) -> frozenset[tuple[str, int]]:
    """The files of places, each with the number of barriers above it."""
    texts = {name: cxx_code(read_source(sources[name]), keep_leading=False) for name, _ in places if name in sources}
    above = {(name, number): texts.get(name, "").splitlines()[: int(number) - 1] for name, number in places}
    return frozenset((name, len(_BARRIER.findall("\n".join(lines)))) for (name, _), lines in above.items())


def _lines(places: Iterable[tuple[str, str]], sources: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    for name, number in places:
        if name in sources:
            text = read_source(sources[name]).splitlines()
            if int(number) <= len(text):
                yield f"{name}:{number}", text[int(number) - 1]
