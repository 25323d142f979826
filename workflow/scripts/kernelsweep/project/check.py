"""Check a kernel where it lies, without a study: `kernelsweep check file.cu`.

The call is guessed (guess.py), and what arrays hold is learnt (learnt_arrays.py). Then the emulator runs the kernel at
ragged sizes with arrays of exactly these sizes, and doubts.py tells mistakes from what may be a wrong guess.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from kernelsweep.base.user_cache import cache_folder
from kernelsweep.device.outcome import Outcome
from kernelsweep.errors import UserError
from kernelsweep.project.check_points import default_points, ragged_points, value_at
from kernelsweep.project.checked import Checked, Finding, Seen, judged, seen
from kernelsweep.project.compile_commands import flags_of
from kernelsweep.project.doubts import MOST_SECONDS, TimeOver, beyond, doubts
from kernelsweep.project.guess import Guess, folders_above, guess, kernels_in, missing_headers
from kernelsweep.project.host_code import names_of, python_name
from kernelsweep.project.learnt_arrays import Holds, learn, problem_text
from kernelsweep.study.kernels.launches import MOST_THREADS
from kernelsweep.study.point import Point
from kernelsweep.study.problem.array_values import read_dtype
from kernelsweep.study.study import checked_study
from kernelsweep.sweep.sweep_kernel import swept

Points = Sequence[Mapping[str, int]]
_SECONDS = 10.0  # for a point
_MADE_UP = "made up: the file has none that can be read"
_START_SECONDS = 1.0  # of a run, in which its process starts: on a busy machine, quick kernels would not get far else


def read_case(text: str) -> dict[str, int]:
    """Sizes by name from a text such as n=1000,m=3. Raises UserError."""
    parts = read_elements(text)
    if not all(name.isidentifier() and value.isdigit() for name, value in parts.items()):
        raise UserError(f"--case is {text!r}. Allowed: names with numbers, such as n=1000,m=3.")
    return {name: int(value) for name, value in parts.items()}


def read_elements(text: str) -> dict[str, str]:
    """Numbers of elements, over the sizes, by arrays from a text such as x=n*m,y=n."""
    parts = [part.partition("=") for part in text.split(",")]
    return {python_name(name.strip()): value.strip() for name, _, value in parts}


@dataclass(frozen=True)
class Given:
    """What the user says of a call in place of guesses; options are the compiler's, such as -DTILE=16.

    flags_from  the compile_commands.json that has further options
    above       the folders above the file that are searched for headers, too
    seeds       the number of orders of blocks, warps and lanes in which each point runs
    elements    how many there are of each array, over the sizes
    """

    cases: Sequence[Mapping[str, int]] = ()
    grid: str = ""
    block: str = ""
    shared: str = ""
    options: Sequence[str] = ()
    flags_from: str = ""
    above: Sequence[Path] = ()
    seeds: int = 1
    elements: Mapping[str, str] = field(default_factory=dict)

    def with_flags_of(self, file: Path) -> Given:
        """This, with what a compile_commands.json says of the file."""
        flags, place = flags_of(file)
        options = [*self.options, *flags]
        above = folders_above(file, folders_in(options))
        options += [f"-I{folder}" for folder in above]
        return replace(self, options=options, flags_from=os.path.relpath(place) if place else "", above=above)


def check_file(file: Path, kernel: str, given: Given) -> Iterator[Checked]:
    """Check a kernel of a file, or all of them. Raises UserError where the file hasn't it, or has none."""
    given = given.with_flags_of(file)
    include = folders_in(given.options)
    names = [kernel] if kernel else [*kernels_in(file, include)]
    if len(names) > 1 and (given.grid or given.block or given.shared or given.cases or given.elements):
        raise UserError(f"{file} has several kernels. Name one of them by --kernel: {', '.join(names)}.")
    guesses = [_with(guess(file, name, include, supposed=True), given) for name in names]
    together = [one.function for one in guesses if not why_not(one)]  # A unit of all takes the time of one.
    yield from (_checked(file, one, given, together) for one in guesses)


def _checked(file: Path, guessed: Guess, given: Given, together: list[str]) -> Checked:
    started = time.perf_counter()
    result = Checked(os.path.relpath(guessed.file), guessed.name, guessed.line)
    if not given.block and (finding := _too_large(guessed)):
        return replace(result, doubtful=[finding]) if finding.depends else replace(result, findings=[finding])
    try:
        runs = Runs(file.resolve(), given, together)
        guessed, holds = learnt(guessed, runs)
        holds = {one.name: holds[one.name].without_one_more("int" in one.dtype) for one in guessed.arrays}
        points = [{**ragged_points(guessed)[0], **case} for case in given.cases] or default_points(guessed)
        for name, size in given.elements.items():
            if name not in holds or any(value_at(size, point) < 1 for point in points):
                allowed = f"numbers over {', '.join(guessed.axes) or 'no sizes'}, of {', '.join(holds)}"
                raise UserError(f"--elements has {name}={size}. Allowed: {allowed}.")
            holds[name] = replace(holds[name], size=size, known=True, larger="", given=True)

        def run(at: Points, holds: Mapping[str, Holds] = holds) -> Seen:
            return seen(runs(guessed, at, holds, given.seeds), file, folders_in(given.options))

        runs.spent = 0.0
        outcomes = run(points)
        # A mistake's findings, such as a read and a write, ask for the same points.
        zeros = {name: replace(of, zeros=True) for name, of in holds.items()}
        further, with_zeros = cache(lambda point: run([point])), cache(lambda point: run([point], zeros))
        depends = doubts(outcomes, guessed, holds, bool(given.cases), further, with_zeros)
        past = beyond(outcomes, holds)
        outcomes = replace(outcomes, findings={key: one for key, one in outcomes.findings.items() if key not in past})
        in_source = {one.name: one.in_source for one in guessed.arrays}
        unjudged = [in_source[name] for name, of in holds.items() if not of.known]
        result = replace(judged(result, outcomes, depends, in_source), unjudged=unjudged)
    except UserError as error:
        return replace(result, unchecked={"": str(error)}, seconds=time.perf_counter() - started)
    told = _in_words(guessed, holds, points, {*past.values()}, given) | _of_files(file, given)
    return replace(result, guessed=told, seconds=time.perf_counter() - started)


def _too_large(guessed: Guess) -> Finding | None:
    """The finding that no GPU starts the file's launch; None for one that it may start."""
    threads = math.prod(int(side) for side in guessed.block) if all(map(str.isdigit, guessed.block)) else 0
    if threads <= MOST_THREADS or not guessed.launched:
        return None
    block = f"blocks of {' x '.join(guessed.block)} threads"
    message = f"{guessed.launched} launches {block}; a GPU starts at most {MOST_THREADS:,} threads a block"
    return Finding("launch", message, (), ("its launch",), (*guessed.doubts, "")[0])


def folders_in(options: Sequence[str]) -> list[Path]:
    """The folders of headers that options such as -Iinclude name."""
    return [Path(one[2:]) for one in options if one.startswith("-I")]


def _with(guessed: Guess, given: Given) -> Guess:
    """The guess with what the user says of the launch. Raises UserError."""
    grid, block = ([*filter(None, map(str.strip, text.split(",")))] for text in (given.grid, given.block))
    changed = replace(
        guessed,
        grid=grid or guessed.grid,
        block=block or guessed.block,
        shared=given.shared or guessed.shared,
        launched="given" if grid else guessed.launched,
        doubts=[] if grid else guessed.doubts,
    )
    named = {name for text in (*changed.grid, *changed.block, changed.shared) for name in names_of(text)}
    for case in given.cases:
        for name in {*case} - {*changed.axes}:
            raise UserError(f"--case has {name}. {guessed.name} has {', '.join(changed.axes) or 'no sizes'}.")
    of_sizes = {name for one in changed.parameters if one.is_size for name in names_of(one.value)}
    return replace(changed, axes={name: of for name, of in changed.axes.items() if name in named | of_sizes})


def why_not(guessed: Guess) -> str:
    """Why a call can't be guessed; "" where it can."""
    for one in guessed.parameters:
        if one.made or not one.dtype or (one.row > 1 and not one.is_array and "float" not in one.dtype):
            name = guessed.name if guessed.name.islower() else "NAME"
            return f"no argument can be made for `{one.text}`. A study can: kernelsweep new {name} {guessed.file}"
    if guessed.unread:
        return (
            f"the value of the template's parameter {guessed.unread[0]} in the launch can't be read. Name all: "
            f"--kernel '{guessed.function}'."
        )
    if not any(one.written for one in guessed.arrays):
        return "it has no array that it could write."
    if not guessed.grid:
        give = "Give" if guessed.file.suffix == ".cu" else "Check the file that includes and launches it, or give"
        return (
            "the file does not launch it in a way that can be read, and no guard such as `if (i < n)` tells the grid. "
            f"{give} --grid and --block, over {', '.join(guessed.axes) or 'numbers'}."
        )
    if not guessed.shared:
        return "the file does not say how many bytes of dynamic shared memory it gets. Give them: --shared."
    return ""


def learnt(guessed: Guess, runs: Runs) -> tuple[Guess, dict[str, Holds]]:
    """The guessed call, with which sizes have to be small, and what its arrays hold.

    Raises UserError where it can't be called, as without the package of a type.
    """
    if why := why_not(guessed):
        raise UserError(why)
    for one in guessed.parameters:
        read_dtype(one.dtype, f"`{one.text}`")
    guessed, holds = learn(guessed, runs)
    of_launch = names_of(" ".join((*guessed.grid, *guessed.block)))
    # All plain numbers of blocks together, and each size that is in no grid and no block.
    with suppress(TimeOver):
        for small in (guessed.counts, *([axis] for axis in guessed.sizes if axis not in of_launch)):
            if {*small} - {*guessed.small} and not all(one.known for one in holds.values()):
                smaller = replace(guessed, small=[*guessed.small, *small])
                smaller, again = learn(smaller, runs)
                if sum(one.known for one in again.values()) > sum(one.known for one in holds.values()):
                    guessed, holds = smaller, again
    return guessed, holds


def guessed_functions(file: Path, guessed: Guess, given: Given) -> dict[str, Any]:
    """The functions `inputs` and `outputs` for a kernel's guessed call. Raises UserError where it can't be guessed."""
    names: dict[str, Any] = {}
    exec(problem_text(*learnt(guessed, Runs(file.resolve(), given))), names)
    return {name: names[name] for name in ("inputs", "outputs") if name in names}


def arguments_of(guessed: Guess, inputs: Collection[str] = ()) -> list[str]:
    """What a study's launch passes: names of arrays and scalars, and expressions of sizes that are no input."""
    return [one.value if one.is_size and one.name not in inputs else one.made or one.name for one in guessed.parameters]


def launch_of(guessed: Guess, inputs: Collection[str] = ()) -> dict[str, Any]:
    """A guessed launch as a study has it, besides what is launched."""
    sides = {"grid": [*guessed.grid], "block": [*guessed.block], "shared": guessed.shared}
    further = {"cooperative": True} if guessed.cooperative else {}
    return {**sides, "arguments": arguments_of(guessed, inputs), **further}


@dataclass
class Runs:
    """Runs kernels of a file on the emulator with a problem that says which arrays there are, and judges nothing.

    together  the functions that are compiled in one unit, as long as the compiler takes them
    spent     the seconds on the emulator
    last      the message of the last outcome
    """

    file: Path
    given: Given
    together: list[str] = field(default_factory=list)
    spent: float = 0.0
    last: str = ""

    def __call__(
        self, guessed: Guess, points: Points, holds: Mapping[str, Holds], seeds: int = 1
    ) -> dict[Point, Outcome]:
        """The outcomes of points, with arrays that hold this, in so many orders of threads.

        Raises UserError for a kernel that does not compile, and TimeOver.
        """
        if self.spent > MOST_SECONDS:
            raise TimeOver(self.last)
        folder = cache_folder()
        place = hashlib.sha256(f"{self.file} {guessed.name}".encode()).hexdigest()
        name = f"{re.sub('[^a-z0-9_]', '_', guessed.name.lower())}_{place[:12]}"
        root = folder / "checked" / name
        root.mkdir(parents=True, exist_ok=True)
        (root / "problem.py").write_text(problem_text(guessed, holds), encoding="utf-8")
        options = [f"-I{Path(one[2:]).absolute()}" if one.startswith("-I") else one for one in self.given.options]
        launch = {"kernel": guessed.function, **launch_of(guessed)}
        settings = {
            "title": guessed.name,
            "problem": "problem.py",
            "axes": {axis: [value] for axis, value in points[0].items()},
            "kernels": [{"name": guessed.name, "launches": [launch], "options": options}],
        }
        study = checked_study(name, root, settings, str(self.file), {guessed.name: self.file}, judged=False)
        left = MOST_SECONDS - self.spent
        how: dict[str, Any] = dict(together=self.together, timeout_seconds=_SECONDS, seeds=seeds, seconds=left)
        made = swept(study, guessed.name, folder, points=points, **how)
        self.spent += max(0.0, made.seconds - _START_SECONDS)
        self.together[:] = [one for one in self.together if one not in made.refused]
        for outcome in made.outcomes.values():
            self.last = outcome.message
            if outcome.status == "build_failed":
                named = f"\nTypes that can't be read are float: --kernel '{guessed.name}<half, 4>' names others."
                raise UserError(outcome.message + named * ("<" in guessed.function))
        return made.outcomes


def _in_words(
    guessed: Guess, holds: Mapping[str, Holds], points: Points, larger: Collection[str], given: Given
) -> dict[str, str]:
    told = {}
    for one in guessed.parameters:
        if one.is_array:
            of = holds[one.name]
            does = "read" if not one.written else "updated" if of.updated else "written"
            does += ", zeros at first" * (of.zeros and does != "written")
            what = f"{'and it touches one more' if of.larger else 'as it touches'} at round sizes"
            if not of.known:
                than = "fewer" if one.name in larger else "more"
                what = f"{than} than it touches: its end is not known, so its bounds are not judged"
            told[one.text] = f"{does}; {of.size} elements, {'as given' if of.given else what}"
        elif one.value != one.name:
            told[one.text] = one.value
    told |= {name: f"{of} ({_MADE_UP})" for name, of in guessed.template.items() if name in guessed.made_up}
    for axis, is_size in guessed.axes.items():
        values = [str(point[axis]) for point in points]
        is_made_up = bool(guessed.launched) and not is_size and not any(axis in case for case in given.cases)
        values = values[:1] if is_made_up and len({*values}) == 1 else values
        told[axis] = ", ".join(values) + f" ({_MADE_UP})" * is_made_up
    told["launch"] = launch_in_words(guessed)
    return told


def _of_files(file: Path, given: Given) -> dict[str, str]:
    missing = missing_headers(file, folders_in(given.options))
    told = {"headers": f"{', '.join(missing)} not found, and left out"} if missing else {}
    if given.above:
        told["folders"] = f"{', '.join(map(os.path.relpath, given.above))}, above the file, searched for headers"
    return told | ({"flags": f"{' '.join(given.options)} (with {given.flags_from})"} if given.flags_from else {})


def launch_in_words(guessed: Guess) -> str:
    """A guess's launch, and where it is from."""
    where = f"as in {guessed.launched}" if guessed.launched else _MADE_UP
    where = "given" if guessed.launched == "given" else where
    launch = [f"grid {' x '.join(guessed.grid)}", f"block {' x '.join(guessed.block)}"]
    launch += [f"shared {guessed.shared}"] if guessed.shared != "0" else []
    return f"{', '.join(launch)} ({where}{', with fewer blocks' * guessed.has_few_blocks})"
