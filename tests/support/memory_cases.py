"""The kernels of tests/planted/cases: which are right, which are wrong, and what the emulator's checks say of each.

    uv run python tests/support/memory_cases.py

prints the table of docs/measured/planted-mistakes.md.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    for folder in ("workflow/scripts", "emulator", "emulator/tests"):
        sys.path.insert(0, str(Path(__file__).parents[2] / folder))

import numpy as np
from checkout import ROOT
from emulator_units import INCLUDE, runtime, write_unit

from cuda_emulator.compiling import compile_for_emulator
from kernelsweep.device.emulator import EmulatorPlatform
from kernelsweep.device.outcome import Outcome
from kernelsweep.device.request import VisitRequest
from kernelsweep.device.worker.serve import run_watched
from kernelsweep.errors import LaunchError
from kernelsweep.study.kernels.plan import PLAIN, Attributes, Launch
from kernelsweep.study.point import Point
from kernelsweep.sweep.proof_rows import findings

FOLDER = ROOT / "tests/planted/cases"
HEAD = FOLDER / "thread.cuh"  # what the cases share
_CASE = re.compile(
    r"^// (?P<kind>right|note|wrong)(?: \((?P<check>\w+): (?P<finding>\w+)\))?: (?P<told>.*)\n"
    r"(?:__launch_bounds__.*\) )?__global__ void (?P<name>\w+)\(",
    re.MULTILINE,
)
# Kernels whose mistake is in a function that they call; so are all with fences.
_CALLS_OTHERS = ("both_branches_call", "block_pipeline_unwaited", "block_pipeline_kept", "producer_runs_ahead")
_CALLS_OTHERS += ("endless_recursion", "barrier_by_hand_left_out")
# How the blocks of a file's launches run together.
_TOGETHER = {"grid": Attributes(cooperative=True), "clusters": Attributes(cluster=(2, 1, 1))}
_GRID, _BLOCK, _SHARED, _COUNT = (2, 1, 1), (64, 1, 1), 512, 256
# The file whose cases are the last of a chain: `<case>_1` and so on come before. All but the first are programmatic.
_CHAINS = "launches"
_UNITS = 3  # into which the files are compiled; no two of one have a name in common
_BYTES_OF_X = {"bytes": 254}  # of a topic; else those of _COUNT elements


@dataclass(frozen=True)
class Case:
    """A kernel of a file of cases.

    kind            right, wrong or, where what is found decides nothing, note
    check, finding  by which it is to be found; empty for a right one
    line            of its comment
    """

    topic: str
    name: str
    kind: str
    check: str
    finding: str
    told: str
    line: int

    @property
    def calls_others(self) -> bool:
        """Whether its mistake is in a function that it calls."""
        return (
            self.topic in ("fences", "orders", "proxies", _CHAINS)
            or self.name in _CALLS_OTHERS
            or self.name.startswith("bulk_copy_")
        )

    @property
    def last_line(self) -> int:
        """The last line of the kernel."""
        text = (FOLDER / f"{self.topic}.cu").read_text().splitlines()
        return next(number for number in range(self.line + 1, len(text) + 1) if text[number - 1].startswith("}"))


def cases() -> list[Case]:
    """All cases, in the order of the files' names."""
    return [
        Case(file.stem, *(match[key] or "" for key in ("name", "kind", "check", "finding", "told")), number)
        for file in sorted(FOLDER.glob("*.cu"))
        for match in _CASE.finditer(file.read_text())
        for number in [file.read_text().count("\n", 0, match.start()) + 1]
    ]


class _Runner:
    """As device.point.runner.Runner, for the launch that all cases have, whose results are right in any order."""

    judges = compares = True

    def __init__(self, platform: EmulatorPlatform, topic: str, seeds: int) -> None:
        self.seeds = seeds
        self._platform, self._topic = platform, topic
        self._memory: list[np.ndarray[Any, Any]] = []
        self._variant = ""
        self._written: dict[str, np.ndarray[Any, Any]] = {}  # where y was changed, by variant

    @property
    def memory(self) -> _Runner:
        return self

    def free(self) -> None:
        while self._memory:
            self._platform.free(self._memory.pop())

    def buffers(self) -> Iterator[tuple[Any, str, np.dtype[Any]]]:
        return ((memory, name, np.dtype(np.int32)) for memory, name in zip(self._memory, "xyz", strict=True))

    def fetched_results(self) -> dict[str, np.ndarray[Any, Any]]:
        return {name: np.frombuffer(held, np.uint8) for name, held in self.result_bytes().items()}

    def result_bytes(self) -> dict[str, bytes]:
        # What is not written holds what uninitialised memory is full of.
        x, y, z = self._memory
        return {"x": x.tobytes(), "y": y[self._written[self._variant]].tobytes(), "z": z.tobytes()}

    def run(self, request: VisitRequest) -> Outcome:
        platform = self._platform
        values = np.random.default_rng(1).integers(0, 100, _COUNT).astype(np.int32).view(np.uint8)
        values = values[: _BYTES_OF_X.get(self._topic)]
        self._memory = [platform.allocate(size) for size in (values.size, 4 * _COUNT, 4 * _COUNT)]
        x, y, z = self._memory
        platform.upload(x, values)
        platform.fill(y, y.nbytes, 0x7FC00123)
        platform.upload(z, np.zeros(_COUNT, np.int32))
        before, self._variant = y.copy(), request.variant
        try:
            attributes = _TOGETHER.get(self._topic, PLAIN)
            for earlier in earlier_launches(self._topic, request.variant):
                platform.launch(Launch(_GRID, _BLOCK, (), earlier, _SHARED, attributes), self._memory)
                attributes = Attributes(programmatic=True)
            platform.launch(Launch(_GRID, _BLOCK, (), request.variant, _SHARED, attributes), self._memory)
        except LaunchError as error:
            return Outcome("launch_failed", str(error), reason=error.reason)
        self._written.setdefault(request.variant, y != before)
        return Outcome("ok", "")


def earlier_launches(topic: str, name: str) -> list[str]:
    """The kernels that are launched before a case."""
    text = (FOLDER / f"{topic}.cu").read_text() if topic == _CHAINS else ""
    return [match[0] for match in re.finditer(rf"\b{name}_\d\b", text)]


def _entries(topic: str, of_topic: list[Case]) -> list[str]:
    return [name for case in of_topic for name in (*earlier_launches(topic, case.name), case.name)]


def found_in_all(seeds: int = 1, seeds_of_wrong: int = 0) -> dict[Case, list[tuple[str, str, str]]]:
    """What is found in each case, in so many orders of threads: check, finding and message of each.

    seeds_of_wrong  the orders for wrong cases; 0 for as many as for right ones
    """
    by_topic: dict[str, list[Case]] = {}
    for case in cases():
        by_topic.setdefault(case.topic, []).append(case)
    runtime()  # once, before the threads
    topics, found = list(by_topic), {}
    # Few units, since most of g++'s time goes by before it reads a kernel.
    units = [topics[first::_UNITS] for first in range(_UNITS)]
    entries = [[name for topic in unit for name in _entries(topic, by_topic[topic])] for unit in units]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as compilers:
        libraries = [Path(folder, f"{unit[0]}.so") for unit in units]
        list(compilers.map(_compile, units, entries, libraries))
        platforms = [EmulatorPlatform() for _ in units]
        for platform, library, names in zip(platforms, libraries, entries, strict=True):
            platform.load(library, {name: {"unit": 0, "entry": number} for number, name in enumerate(names)})
        for number, (topic, of_topic) in enumerate(by_topic.items()):
            platform = platforms[number % _UNITS]
            runner = _Runner(platform, topic, seeds)
            for case in of_topic:
                runner.seeds = (seeds_of_wrong or seeds) if case.kind == "wrong" else seeds
                outcome = run_watched(platform, runner, VisitRequest(Point({}), case.name))  # type: ignore[arg-type]
                found[case] = [finding[:3] for finding in findings(outcome)]
                runner.memory.free()
    return found


def _compile(topics: Sequence[str], entries: Sequence[str], library: Path) -> None:
    sources = [HEAD, *(FOLDER / f"{topic}.cu" for topic in topics)]
    unit = write_unit(library.with_suffix(".cpp"), sources, [*entries])
    compile_for_emulator(unit, library, runtime(), INCLUDE)


def table(found: dict[Case, list[tuple[str, str, str]]]) -> str:
    """What is found in the cases, as Markdown: a row a file of them, with the first mistakes as examples."""
    lines = ["| kernels | right | notes | wrong | such as | found as |", "|---|---:|---:|---:|---|---|"]
    for topic in dict.fromkeys(case.topic for case in found):
        of_topic = [case for case in found if case.topic == topic]
        counts = [sum(case.kind == kind for case in of_topic) for kind in ("right", "note", "wrong")]
        wrong = [case for case in of_topic if case.kind == "wrong"]
        examples = "; ".join(case.told for case in wrong[:: len(wrong) // 4 + 1])
        said = Counter(f"{case.check}: {case.finding}".replace("_", " ") for case in wrong)
        told = ", ".join(f"{each} ({count})" for each, count in said.items())
        name = f"[{topic}](../../tests/planted/cases/{topic}.cu)"
        lines.append(f"| {name} | {' | '.join(map(str, counts))} | {examples} | {told} |")
    of_all = Counter(case.kind for case in found)
    return "\n".join([*lines, f"| all | {of_all['right']} | {of_all['note']} | {of_all['wrong']} | | |"])


if __name__ == "__main__":
    print(table(found_in_all()))
