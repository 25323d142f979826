"""Check a kernel where it lies, without a study: `kernelsweep check file.cu`.

The call is guessed (guess.py). Two runs at sizes that blocks divide tell how large each array is, and which arrays the
kernel reads before it writes them. Then the emulator runs the kernel at ragged sizes with arrays of exactly that size.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import math
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from kernelsweep.device.outcome import Outcome
from kernelsweep.errors import UserError
from kernelsweep.project.compile_commands import flags_of
from kernelsweep.project.guess import SIDES_OF_BLOCK, Guess, Parameter, guess, kernels_in, missing_headers, names_of
from kernelsweep.results import INDIFFERENT_READ, NOTES
from kernelsweep.study.kernels.source import included_files
from kernelsweep.study.point import Point
from kernelsweep.study.study import checked_study
from kernelsweep.sweep.proof_rows import findings
from kernelsweep.sweep.sweep_kernel import compiled_runtime, sweep_kernel

# Sizes at which arrays are learnt: different ones, so that products tell them apart; then sizes that no block divides.
_ROUND = {1: ((512,), (256,)), 2: ((96, 128), (160, 64)), 3: ((32, 64, 96), (96, 32, 64))}
_ROUND_OF_MANY = ((4, 32, 64, 8, 2, 16), (2, 96, 32, 8, 4, 3))
_RAGGED = {1: ((1000,), (37,)), 2: ((75, 100), (33, 7)), 3: ((33, 50, 70), (17, 5, 9))}
_OF_PLANE = ({1: ((128,), (64,))}, {1: ((100,), (37,))})
_RAGGED_OF_MANY = ((3, 20, 33, 6, 2, 5), (5, 7, 9, 3, 1, 2))
# The elements of an array whose size is to be learnt, or is not known.
_MOST = 2**20
_LEAST_SHARE = 0.85  # of a size, which is touched: kernels leave out borders

_SECONDS = 10.0  # for a point
_KEPT_DAYS = 30

_OF_MEMORY = {"races": "race", "bounds": "out of bounds", "barriers": "barrier", "uninitialised": "uninitialised read"}
_OF_KIND = {"misaligned": "misaligned", "wrong_result": "wrong result"}
_FOLDERS = re.compile(r"(?<=\s)/\S*/(?=[^\s/:]+:\d)")
_PLACE = re.compile(r"([^\s/:(]+\.\w+):(\d+)")


@dataclass(frozen=True)
class Holds:
    """What an array holds.

    size     its elements, as an expression over the axes
    updated  whether the kernel reads it before it writes it
    known    whether the size is that of what the kernel accesses; else it is larger than all that it accesses
    """

    size: str = str(_MOST)
    updated: bool = True
    known: bool = False


@dataclass(frozen=True)
class Finding:
    """A mistake in the use of memory or of barriers.

    kind    race, out of bounds, misaligned, barrier or uninitialised read
    lines   the source's lines that it names, each with its place
    points  that show it; the message is of the first
    """

    kind: str
    message: str
    lines: tuple[tuple[str, str], ...]
    points: tuple[str, ...]


@dataclass(frozen=True)
class Checked:
    """What a check says of a kernel.

    guessed    what nobody gave, by its name
    points     the values of the axes at which the kernel ran to its end
    findings   mistakes in the use of memory and of barriers
    notes      the same, where further runs showed that they decide nothing
    unchecked  why it was not checked, by point; by "" where it was not checked at all
    judged     whether results were compared with right ones
    """

    file: str
    kernel: str
    line: int
    guessed: Mapping[str, str] = field(default_factory=dict)
    points: Sequence[str] = ()
    findings: Sequence[Finding] = ()
    notes: Sequence[Finding] = ()
    unchecked: Mapping[str, str] = field(default_factory=dict)
    judged: bool = False
    seconds: float = 0.0

    @property
    def right(self) -> bool:
        """Whether every point was checked, and nothing was found."""
        return not self.findings and not self.unchecked

    @property
    def status(self) -> int:
        """0 where nothing was found, 1 where something was, 2 where a point could not be checked."""
        return 1 if self.findings else 2 if self.unchecked else 0

    def __repr__(self) -> str:
        head = f"{self.file}:{self.line}  {self.kernel}"
        width = max(map(len, self.guessed), default=0)
        told = [f"    guessed  {name:{width}}  {value}" for name, value in self.guessed.items()]
        told += [f"  {line}" for one in (*self.findings, *self.notes) for line in self._of(one)]
        told += [f"  not checked{f' at {point}' if point else ''}: {why}" for point, why in self.unchecked.items()]
        return "\n".join([head, *told, f"  {self.verdict}"])

    def _of(self, finding: Finding) -> Iterator[str]:
        kind = "note: " * (finding in self.notes)
        clean = [point for point in self.points if point not in finding.points]
        but = f"; not at {', nor at '.join(clean)}" if clean else ""
        yield f"{kind}{finding.message}"
        yield from (f"    {place}  {text.strip()}" for place, text in finding.lines)
        yield f"    at {finding.points[0]}{but}"

    @property
    def verdict(self) -> str:
        """What was done and found, in a sentence."""
        if not self.points and not self.findings:
            return "Not checked."
        number = len(self.findings)
        found = f"{number} mistake{'s' if number > 1 else ''} found" if number else "No mistake found"
        ran = len(self.points)
        judged = "" if self.judged else " Results were not judged: nobody said which are right."
        at = f"at {ran} point{'s' if ran != 1 else ''} on the emulator"
        what = "results, accesses and barriers" if self.judged else "accesses and barriers"
        return f"{found} in {what}, {at}.{judged}"


def as_values(checked: Checked) -> dict[str, Any]:
    """A check's result as JSON has it."""
    return {**asdict(checked), "status": checked.status, "verdict": checked.verdict}


def read_case(text: str) -> dict[str, int]:
    """Sizes by name from a text such as n=1000,m=3. Raises UserError."""
    parts = [part.partition("=") for part in text.split(",")]
    if not all(name.strip().isidentifier() and value.strip().isdigit() for name, _, value in parts):
        raise UserError(f"--case is {text!r}. Allowed: names with numbers, such as n=1000,m=3.")
    return {name.strip(): int(value) for name, _, value in parts}


@dataclass(frozen=True)
class Given:
    """What the user says of a call in place of guesses; options are the compiler's, such as -DTILE=16.

    flags_from  the compile_commands.json that has further options
    """

    cases: Sequence[Mapping[str, int]] = ()
    grid: str = ""
    block: str = ""
    shared: str = ""
    options: Sequence[str] = ()
    flags_from: str = ""

    def with_flags_of(self, file: Path) -> Given:
        """This, with what a compile_commands.json says of the file."""
        flags, place = flags_of(file)
        return replace(self, options=[*self.options, *flags], flags_from=os.path.relpath(place)) if place else self


def check_file(file: Path, kernel: str, given: Given) -> Iterator[Checked]:
    """Check a kernel of a file, or all of them side by side. Raises UserError where the file hasn't it, or has none."""
    given = given.with_flags_of(file)
    names = [*kernels_in(file, folders_in(given.options))]
    if kernel or len(names) == 1:
        yield _checked(file, kernel, given)
        return
    if given.grid or given.block or given.shared or given.cases:
        raise UserError(f"{file} has several kernels. Name one of them by --kernel: {', '.join(names)}.")
    compiled_runtime(cache_folder())  # Before each process would.
    with ProcessPoolExecutor(min(len(names), os.cpu_count() or 1), get_context("fork")) as others:
        yield from others.map(_checked, itertools.repeat(file), names, itertools.repeat(given))


def _checked(file: Path, kernel: str, given: Given) -> Checked:
    started = time.perf_counter()
    guessed = _with(guess(file, kernel, folders_in(given.options)), given)
    result = Checked(os.path.relpath(guessed.file), guessed.name, guessed.line)
    try:
        holds = learnt(file, guessed, given)
        points = [_case(guessed, case) for case in given.cases] or default_points(guessed)
        outcomes = _Runs(file.resolve(), guessed, given)(points, holds)
    except UserError as error:
        return replace(result, unchecked={"": str(error)}, seconds=time.perf_counter() - started)
    result = replace(result, guessed=_in_words(guessed, holds, points, given) | _of_files(file, given))
    return replace(judged(result, outcomes, file, given.options), seconds=time.perf_counter() - started)


def folders_in(options: Sequence[str]) -> list[Path]:
    """The folders of headers that options such as -Iinclude name."""
    return [Path(one[2:]) for one in options if one.startswith("-I")]


def _with(guessed: Guess, given: Given) -> Guess:
    """The guess with what the user says of the launch. Raises UserError."""
    changed = replace(
        guessed,
        grid=_sides(given.grid) or guessed.grid,
        block=_sides(given.block) or guessed.block,
        shared=given.shared or guessed.shared,
        launched="given" if given.grid else guessed.launched,
    )
    named = {name for text in (*changed.grid, *changed.block, changed.shared) for name in names_of(text)}
    for case in given.cases:
        for name in {*case} - {*changed.axes}:
            raise UserError(f"--case has {name}. {guessed.name} has {', '.join(changed.axes) or 'no sizes'}.")
    of_sizes = {name for one in changed.parameters if one.is_size for name in names_of(one.value)}
    axes = {name: is_size for name, is_size in changed.axes.items() if name in named | of_sizes}
    return replace(changed, axes=axes)


def _sides(text: str) -> list[str]:
    return [side.strip() for side in text.split(",") if side.strip()]


def _check_arguments(guessed: Guess) -> None:
    """Raise UserError for a call that can't be guessed."""
    for one in guessed.parameters:
        if one.made or not one.dtype or (one.row > 1 and not one.is_array):
            raise UserError(f"no argument can be made for `{one.text}`. A study can: kernelsweep new NAME FILE.cu.")
    if guessed.unread:
        raise UserError(
            f"the value of the template's parameter {guessed.unread[0]} in the launch can't be read. A study can have "
            "it: kernelsweep new NAME FILE.cu."
        )
    if not any(one.written for one in guessed.arrays):
        raise UserError("it has no array that it could write.")
    if not guessed.grid:
        raise UserError(
            "the file does not launch it in a way that can be read, and no guard such as `if (i < n)` tells the grid. "
            f"Give --grid and --block, over {', '.join(guessed.axes) or 'numbers'}."
        )
    if not guessed.shared:
        raise UserError("the file does not say how many bytes of dynamic shared memory it gets. Give them: --shared.")


# Points


def _points(
    guessed: Guess, of_few: Mapping[int, Sequence[Sequence[int]]], of_many: Sequence[Sequence[int]]
) -> list[dict[str, int]]:
    """Values of all axes for a check."""
    sizes = guessed.sizes
    is_plane = len(sizes) == 1 and sum(side != "1" for side in guessed.block) > 1
    if is_plane:  # A thread may go through a row.
        of_few = _OF_PLANE[0] if of_few is _ROUND else _OF_PLANE[1]
    other = SIDES_OF_BLOCK[max(1, sum(side != "1" for side in guessed.block))]
    threads = math.prod(int(one) if one.isdigit() else other for one in guessed.block)
    found = []
    for row in of_few.get(len(sizes), of_many) if sizes else [()]:
        values = dict(zip(sizes, itertools.cycle(row), strict=False)) if row else {}
        if len(sizes) == 1 and of_few is _ROUND and threads > 256:
            values = {name: value * threads // 256 for name, value in values.items()}
        found.append(_with_blocks(guessed, {name: values.get(name, other) for name in guessed.axes}))
    return found


def _with_blocks(guessed: Guess, point: dict[str, int]) -> dict[str, int]:
    """The point, or one with sizes larger by a power of two at which each side of the grid has a block."""
    for factor in (1, 2, 4, 8, 16):
        larger = {name: value * factor if guessed.axes[name] else value for name, value in point.items()}
        if all(_value(side, larger) for side in guessed.grid):
            return larger
    return point


def default_points(guessed: Guess) -> list[dict[str, int]]:
    """The points at which a kernel is checked that nobody says others of: a round one, and ragged ones."""
    points = _points(guessed, _ROUND, _ROUND_OF_MANY)[:1] + _points(guessed, _RAGGED, _RAGGED_OF_MANY)
    return [point for point in points if all(_value(side, point) for side in guessed.grid)] or points


def learnt(file: Path, guessed: Guess, given: Given) -> dict[str, Holds]:
    """What the arrays of a kernel's guessed call hold. Raises UserError where it can't be called."""
    _check_arguments(guessed)
    return learn(guessed, _Runs(file.resolve(), guessed, given))


def guessed_functions(file: Path, guessed: Guess, given: Given) -> dict[str, Any]:
    """The functions `inputs` and `outputs` for a kernel's guessed call. Raises UserError where it can't be guessed."""
    names: dict[str, Any] = {}
    exec(problem_text(guessed, learnt(file, guessed, given)), names)
    return {name: names[name] for name in ("inputs", "outputs") if name in names}


def arguments_of(guessed: Guess, inputs: Collection[str] = ()) -> list[str]:
    """What a study's launch passes: names of arrays and scalars, and expressions of sizes that are no input."""
    return [one.value if one.is_size and one.name not in inputs else one.made or one.name for one in guessed.parameters]


def _case(guessed: Guess, case: Mapping[str, int]) -> dict[str, int]:
    return {**_points(guessed, _RAGGED, _RAGGED_OF_MANY)[0], **case}


# What arrays hold


Run = Callable[[Sequence[Mapping[str, int]], Mapping[str, Holds]], Mapping[Point, Outcome]]


def learn(guessed: Guess, run: Run) -> dict[str, Holds]:
    """What each array holds, from two runs at round sizes with arrays that are large enough. Raises UserError."""
    first, last = _points(guessed, _ROUND, _ROUND_OF_MANY)[:1], _points(guessed, _ROUND, _ROUND_OF_MANY)[-1:]
    holds = {one.name: Holds() for one in guessed.arrays}
    # The second run finds what nothing has written; where that is an index, it fails.
    unwritten = {one.name: Holds(updated=not one.written) for one in guessed.arrays}
    touched: list[Mapping[str, int]] = []
    for place, given in ((first[0], holds), (last[0], unwritten), (last[0], holds)):
        if len(touched) == 2:
            break
        (outcome,) = run([place], given).values()
        read = {mistake.array for mistake in outcome.mistakes if mistake.kind in ("uninitialised", INDIFFERENT_READ)}
        if outcome.status in ("ok", "wrong_result"):
            touched.append(outcome.touched)
            holds = {name: replace(one, updated=given[name].updated or name in read) for name, one in holds.items()}
        elif not touched:
            break
    if len(touched) < 2:
        return holds
    places = [*first, *last]
    return {
        name: _sized(guessed, one, [_rows(guessed, name, of) for of in touched], places) for name, one in holds.items()
    }


def _rows(guessed: Guess, name: str, touched: Mapping[str, int]) -> int:
    row = next(one.row for one in guessed.arrays if one.name == name)
    return -(-touched.get(name, 0) // row)


def _sized(guessed: Guess, holds: Holds, touched: Sequence[int], places: Sequence[Mapping[str, int]]) -> Holds:
    """The smallest size over the axes that is what was touched, or a little more."""
    if not all(touched):
        return holds
    near = []
    for is_simple, text in _sizes(guessed):
        values = [_value(text, place) for place in places]
        if values == [*touched] and (is_simple or guessed.launched):
            return replace(holds, size=text, known=True)
        if is_simple and all(_LEAST_SHARE * value <= of <= value for value, of in zip(values, touched, strict=True)):
            near.append((sum(values), text))
    if len({*touched}) == 1:
        return replace(holds, size=str(touched[0]), known=True)
    return replace(holds, size=min(near)[1], known=True) if near else holds


def _sizes(guessed: Guess) -> Iterator[tuple[bool, str]]:
    """Expressions that sizes of arrays may have, simple ones first; each with whether it is of one or two sizes."""
    axes = guessed.sizes
    simple = [*axes, *(f"{name} * {name}" for name in axes), *map(" * ".join, itertools.combinations(axes, 2))]
    yield from ((True, text) for text in simple)
    sides = [f"ceil({side})" if re.search("(?<!/)/(?!/)", side) else f"({side})" for side in guessed.grid]
    blocks = ast.unparse(ast.parse(" * ".join(sides), mode="eval"))
    others = [blocks, *(f"{name} * ({blocks})" for name in axes), *map(" * ".join, itertools.combinations(axes, 3))]
    products = [*simple, *others]
    others += [f"{factor} * {product}" for factor in (2, 3, 4) for product in products]
    others += [f"{product} + {more}" for product in products for more in (1, 2)]
    yield from ((False, text) for text in (*others, *map(" * ".join, itertools.combinations(axes, 4))))


def _value(text: str, place: Mapping[str, int]) -> int:
    try:
        return int(eval(text, {"__builtins__": {}, "ceil": math.ceil, "min": min, "max": max}, dict(place)))
    except ArithmeticError:
        return -1


# The runs


@dataclass(frozen=True)
class _Runs:
    """Runs a kernel on the emulator with a problem that says which arrays there are, and judges nothing."""

    file: Path
    guessed: Guess
    given: Given

    def __call__(self, points: Sequence[Mapping[str, int]], holds: Mapping[str, Holds]) -> dict[Point, Outcome]:
        folder = cache_folder()
        place = hashlib.sha256(f"{self.file} {self.guessed.name}".encode()).hexdigest()
        name = f"{re.sub('[^a-z0-9_]', '_', self.guessed.name.lower())}_{place[:12]}"
        root = folder / "checked" / name
        root.mkdir(parents=True, exist_ok=True)
        (root / "problem.py").write_text(problem_text(self.guessed, holds), encoding="utf-8")
        settings = study_settings(self.guessed, points[0], "problem.py")
        options = [f"-I{Path(one[2:]).absolute()}" if one.startswith("-I") else one for one in self.given.options]
        settings["kernels"][0]["options"] = options
        study = checked_study(name, root, settings, str(self.file), {self.guessed.name: self.file}, judged=False)
        outcomes = sweep_kernel(study, self.guessed.name, folder, points=points, timeout_seconds=_SECONDS)
        for outcome in outcomes.values():
            if outcome.status == "build_failed":
                raise UserError(outcome.message)
        return outcomes


def cache_folder() -> Path:
    """The folder of the user's in which compiled kernels are kept. What was not used for a month is deleted."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kernelsweep"
    until = time.time() - _KEPT_DAYS * 24 * 3600
    for file in folder.glob("**/*"):
        if file.is_file() and file.stat().st_mtime < until:
            file.unlink(missing_ok=True)
    return folder


def problem_text(guessed: Guess, holds: Mapping[str, Holds], head: str = "") -> str:
    """The functions `inputs` and `outputs` of a problem file, for what the arrays hold."""
    high = f"min({', '.join(guessed.sizes)})" if len(guessed.sizes) > 1 else (*guessed.sizes, "100")[0]
    inputs = {
        one.name: _drawn(one, holds[one.name].size, high)
        for one in guessed.arrays
        if not one.written or holds[one.name].updated
    }
    inputs |= {
        one.name: f"np.{one.dtype or 'float32'}({one.value})"
        for one in guessed.parameters
        if not one.is_array and not one.is_size and one.dtype != "bfloat16"
    }
    outputs = {
        one.name: f"({_shape(one, holds[one.name].size)}, {_dtype(one)})" for one in guessed.arrays if one.written
    }
    text = f"{head or '# Written by `kernelsweep check`.'}\nimport numpy as np\n"
    text += "from math import ceil\n" * ("ceil(" in str(holds))
    text += "import ml_dtypes\n" * ("bfloat16" in "".join(inputs.values()))
    for function, arrays, given in (("inputs", inputs, ["random"]), ("outputs", outputs, [])):
        named = re.findall(r"[A-Za-z_]\w*", " ".join(arrays.values()))
        parameters = ", ".join([*given, *(axis for axis in guessed.axes if axis in named)])
        lines = "".join(f'        "{name}": {value},\n' for name, value in arrays.items())
        text += f"\n\ndef {function}({parameters}):\n    return {{\n{lines}    }}\n" if arrays else ""
    return text


def _dtype(one: Parameter) -> str:
    """NumPy's type as a problem file has it; float32 in place of one that is not known."""
    return '"bfloat16"' if one.dtype == "bfloat16" else f"np.{one.dtype or 'float32'}"


def _shape(one: Parameter, size: str) -> str:
    return size if one.row == 1 else f"({size}, {one.row})"


def _drawn(one: Parameter, size: str, high: str) -> str:
    shape = _shape(one, size)
    if one.dtype in ("float32", "float64", ""):
        return f"random.standard_normal({shape}, {_dtype(one)})"
    if one.dtype == "float16":
        return f"random.standard_normal({shape}).astype(np.float16)"
    if one.dtype == "bfloat16":
        return f"random.standard_normal({shape}).astype(ml_dtypes.bfloat16)"
    if one.dtype == "bool":
        return f"random.integers(0, 2, {shape}).astype(bool)"
    most = {"int8": 127, "uint8": 255}.get(one.dtype)
    return f"random.integers(0, {f'min({most}, {high})' if most else high}, {shape}).astype(np.{one.dtype})"


def study_settings(guessed: Guess, point: Mapping[str, Any], problem: str) -> dict[str, Any]:
    """The keys of a study that runs a kernel at a point."""
    launch = {
        "kernel": guessed.function,
        "grid": [*guessed.grid],
        "block": [*guessed.block],
        "shared": guessed.shared,
        "arguments": arguments_of(guessed),
    }
    kernels = [{"name": guessed.name, "launches": [launch]}]
    return {
        "title": guessed.name,
        "problem": problem,
        "axes": {axis: [value] for axis, value in point.items()},
        "kernels": kernels,
    }


# What is said


def _in_words(
    guessed: Guess, holds: Mapping[str, Holds], points: Sequence[Mapping[str, int]], given: Given
) -> dict[str, str]:
    told = {}
    for one in guessed.parameters:
        if one.is_array:
            of = holds[one.name]
            does = "read" if not one.written else "updated" if of.updated else "written"
            what = (
                f"{of.size} elements, as it touches at round sizes"
                if of.known
                else (f"{of.size} elements, more than it touches: its end is not known, so its bounds are not judged")
            )
            told[one.text] = f"{does}; {what}"
        elif one.value != one.name:
            told[one.text] = one.value
    if points and guessed.axes:
        for axis in guessed.axes:
            told[axis] = ", ".join(str(point[axis]) for point in points)
    told["launch"] = launch_in_words(guessed)
    return told


def _of_files(file: Path, given: Given) -> dict[str, str]:
    missing = missing_headers(file, folders_in(given.options))
    told = {"headers": f"{', '.join(missing)} not found, and left out"} if missing else {}
    return told | ({"flags": f"{' '.join(given.options)} (with {given.flags_from})"} if given.flags_from else {})


def launch_in_words(guessed: Guess) -> str:
    """A guess's launch, and where it is from."""
    where = f"as in {guessed.launched}" if guessed.launched else "the file has none"
    where = "given" if guessed.launched == "given" else where
    launch = [f"grid {' x '.join(guessed.grid)}", f"block {' x '.join(guessed.block)}"]
    launch += [f"shared {guessed.shared}"] if guessed.shared != "0" else []
    return f"{', '.join(launch)} ({where})"


def judged(result: Checked, outcomes: Mapping[Point, Outcome], file: Path, options: Sequence[str]) -> Checked:
    """The result with what the outcomes of points say."""
    sources = {one.name: one for one in (*included_files(file, [file.parent, *folders_in(options)]), file)}
    found: dict[Any, Finding] = {}
    ran, unchecked = [], {}
    for point, outcome in outcomes.items():
        at = ", ".join(f"{axis}={value}" for axis, value in point.items() if axis != "cache") or "its launch"
        mistakes = [
            (check, kind, _FOLDERS.sub("", message))
            for check, kind, message, _ in findings(outcome)
            if check in _OF_MEMORY
            or (kind == "wrong_result" and not any(message.endswith(one.message) for one in outcome.mistakes))
        ]
        if outcome.status in ("ok", "wrong_result") or mistakes:
            ran.append(at)
        else:
            unchecked[at] = outcome.message or outcome.status
        for check, kind, message in mistakes:
            places = tuple(dict.fromkeys(_PLACE.findall(message)))
            # The same of one array, wherever it is.
            key = (check, kind in NOTES, places, re.sub(r"\d+", "", message) if places else message.partition(":")[0])
            if key in found:
                found[key] = replace(found[key], points=tuple(dict.fromkeys([*found[key].points, at])))
                continue
            name = _OF_KIND.get(kind) or _OF_MEMORY[check]
            found[key] = Finding(name, message, tuple(_lines(places, sources)), (at,))
    mistakes_, notes = (
        [one for (_, is_note, *_), one in found.items() if is_note == wanted] for wanted in (False, True)
    )
    return replace(result, points=ran, findings=mistakes_, notes=notes, unchecked=unchecked)


def _lines(places: Iterable[tuple[str, str]], sources: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    for name, number in places:
        if name in sources:
            text = sources[name].read_text(encoding="utf-8", errors="replace").splitlines()
            if int(number) <= len(text):
                yield f"{name}:{number}", text[int(number) - 1]
