"""The kernels of tests/planted/cases: which are right, which are wrong, and what the emulator's checks say of each.

    uv run python tests/support/memory_cases.py

prints the table of docs/measured/planted-mistakes.md.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2] / "workflow/scripts"))

import numpy as np
from checkout import ROOT
from emulator_units import INCLUDE, runtime, write_unit

from kernelsweep.build import gcc, nvcc
from kernelsweep.errors import LaunchError
from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.proof_rows import findings
from kernelsweep.measure.worker.serve import run_watched
from kernelsweep.observe.sanitizer import TOOLS
from kernelsweep.observe.sanitizer.compute_sanitizer import command
from kernelsweep.observe.sanitizer.log import parse_log
from kernelsweep.platforms.counting.counting_platform import CountingPlatform
from kernelsweep.sweep.kernels.plan import Attributes
from kernelsweep.sweep.point import Point

FOLDER = ROOT / "tests/planted/cases"
_CASE = re.compile(
    r"^// (?P<kind>right|note|wrong)(?: \((?P<check>\w+): (?P<finding>\w+)\))?: (?P<told>.*)\n"
    r"__global__ void (?P<name>\w+)\(",
    re.MULTILINE,
)
# Kernels whose mistake is in a function that they call; so are all with fences.
_CALLS_OTHERS = ("both_branches_call", "block_pipeline_unwaited", "block_pipeline_kept", "producer_runs_ahead")
# The file of those whose launches are cooperative.
_TOGETHER = "grid"
_GRID, _BLOCK, _SHARED, _COUNT = (2, 1, 1), (64, 1, 1), 512, 256


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
        return self.topic == "fences" or self.name in _CALLS_OTHERS

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
    """As measure.point.runner.Runner, for the launch that all cases have."""

    def __init__(self, platform: CountingPlatform, topic: str) -> None:
        self._platform, self._topic = platform, topic
        self._memory: list[np.ndarray[Any, Any]] = []
        self._before: list[np.ndarray[Any, Any]] = []

    def free_memory(self) -> None:
        while self._memory:
            self._platform.free(self._memory.pop())

    def buffers(self) -> Iterator[tuple[Any, str, np.dtype[Any]]]:
        return ((memory, name, np.dtype(np.int32)) for memory, name in zip(self._memory, "xyz", strict=True))

    def result_bytes(self) -> dict[str, bytes]:
        # What is not written holds what uninitialised memory is full of.
        pairs = zip((memory.view(np.int32) for memory in self._memory), self._before, strict=True)
        changed = [now[now != then].tobytes() for now, then in pairs]
        return dict(zip("xyz", changed, strict=True))

    def run(self, point: Point, variant: str) -> Outcome:
        platform = self._platform
        self._memory = [platform.allocate(4 * _COUNT) for _ in "xyz"]
        x, y, z = self._memory
        platform.upload(x, np.random.default_rng(1).integers(0, 100, _COUNT).astype(np.int32))
        platform.fill(y, y.nbytes, 0x7FC00123)
        platform.upload(z, np.zeros(_COUNT, np.int32))
        self._before = [memory.view(np.int32).copy() for memory in self._memory]
        try:
            attributes = Attributes(cooperative=self._topic == _TOGETHER)
            platform.launch(variant, _GRID, _BLOCK, _SHARED, self._memory, attributes)
        except LaunchError as error:
            return Outcome("launch_failed", str(error))
        return Outcome("ok", "")


def found_in_all() -> dict[Case, list[tuple[str, str, str]]]:
    """What is found in each case: check, finding and message of each."""
    by_topic: dict[str, list[Case]] = {}
    for case in cases():
        by_topic.setdefault(case.topic, []).append(case)
    runtime()  # once, before the threads
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as compilers:
        libraries = list(compilers.map(lambda topic: _compiled(topic, by_topic[topic], Path(folder)), by_topic))
        found = {}
        for library, (topic, of_topic) in zip(libraries, by_topic.items(), strict=True):
            platform = CountingPlatform()
            platform.load(library, {case.name: {"unit": 0, "entry": n} for n, case in enumerate(of_topic)})
            runner = _Runner(platform, topic)
            for case in of_topic:
                outcome = run_watched(platform, runner, Point({}), case.name)  # type: ignore[arg-type]
                found[case] = list(findings(outcome))
                runner.free_memory()
    return found


def _compiled(topic: str, of_topic: list[Case], folder: Path) -> Path:
    sources = [FOLDER / "thread.cuh", FOLDER / f"{topic}.cu"]
    unit = write_unit(folder / f"{topic}.cpp", sources, [case.name for case in of_topic])
    gcc.compile_for_emulator(unit, folder / f"{topic}.so", runtime(), INCLUDE)
    return folder / f"{topic}.so"


# Launches each kernel that it is given the name of, on memory of its own.
_MAIN = """#include <cstdio>
#include <cstring>
#include "{folder}/thread.cuh"
#include "{folder}/{topic}.cu"
#undef i
#undef t
int main(int count, char **names)
{{
    for (int at = 1; at < count; ++at) {{
        int *arrays[3], values[{elements}];
        for (int &value : values)
            value = int(&value - values) * 37 % 100;
        for (int *&array : arrays)
            cudaMalloc(&array, sizeof values);
        cudaMemcpy(arrays[0], values, sizeof values, cudaMemcpyHostToDevice);
        cudaMemset(arrays[2], 0, sizeof values);
        {launches}
        cudaDeviceSynchronize();
    }}
}}
"""
_COOPERATIVELY = (
    'if (!strcmp(names[at], "{name}")) {{ void *given[] = {{arrays, arrays + 1, arrays + 2}}; '
    "cudaLaunchCooperativeKernel({name}, {grid}, {block}, given, {shared}); }}"
)
_LAUNCH = 'if (!strcmp(names[at], "{name}")) {name}<<<{grid}, {block}, {shared}>>>(arrays[0], arrays[1], arrays[2]);'


# The tool that makes each check.
_TOOLS = {"races": "racecheck", "bounds": "memcheck", "barriers": "synccheck", "uninitialised": "initcheck"}


def found_by_sanitizer(compute_sanitizer: str, folder: Path) -> tuple[dict[str, str], set[str]]:
    """What compute-sanitizer's tools say of the right cases, by topic and tool, and the wrong ones that they find.

    Each wrong one runs under the tool that makes its check, and may hang.
    """
    known = cases()
    topics = sorted({case.topic for case in known})
    with ThreadPoolExecutor(14) as workers:
        list(workers.map(lambda topic: _compile_for_gpu(topic, known, folder), topics))

        def said(tool: str, topic: str, names: Iterable[str]) -> str:
            run = [*command(compute_sanitizer, tool), str(folder / topic), *names]
            try:
                log = parse_log(subprocess.run(run, capture_output=True, text=True, timeout=20).stdout)
            except subprocess.TimeoutExpired:
                return ""
            return "; ".join(finding.message for finding in log.findings)

        def of_right(job: tuple[str, str]) -> str:
            return said(*job, [case.name for case in known if case.topic == job[1] and case.kind == "right"])

        jobs = [(tool, topic) for tool in TOOLS for topic in topics]
        accused = {" ".join(job): told for job, told in zip(jobs, workers.map(of_right, jobs), strict=True) if told}
        wrong = [case for case in known if case.kind == "wrong" and case.check in _TOOLS]
        found = workers.map(lambda case: said(_TOOLS[case.check], case.topic, [case.name]), wrong)
        return accused, {case.name for case, told in zip(wrong, found, strict=True) if told}


def _compile_for_gpu(topic: str, known: Sequence[Case], folder: Path) -> None:
    sizes = {"grid": _GRID[0], "block": _BLOCK[0], "shared": _SHARED}
    text = _COOPERATIVELY if topic == _TOGETHER else _LAUNCH
    launches = "\n        ".join(text.format(name=case.name, **sizes) for case in known if case.topic == topic)
    source = folder / f"{topic}.main.cu"
    source.write_text(_MAIN.format(folder=FOLDER, topic=topic, elements=_COUNT, launches=launches))
    options = ["-arch=native", "-std=c++17", "-lineinfo", "-w"]
    subprocess.run([nvcc.find(), *options, "-o", str(folder / topic), str(source)], check=True)


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
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(found_in_all()))
