"""Which tool finds the mistakes in small kernels, and which accuses right ones, as the table of docs/measured/truth.md.

    uv run --group test python benchmarks/truth/who_finds.py [TOOL ...]

The kernels are those of kernels/ here and of tests/planted/cases. The emulator runs each with its checks, in one order
of threads and in eight; g++'s thread, address and undefined-behaviour sanitizers run those that compile on threads of
the system (on_threads.hpp); what compute-sanitizer's tools say on a GPU is read from compute_sanitizer.json, if it is
there, which on_gpu.py writes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in ("workflow/scripts", "emulator", "emulator/tests", "tests/support"):
    sys.path.insert(0, str(ROOT / folder))

import memory_cases  # noqa: E402
from memory_cases import Case  # noqa: E402

OWN, PLANTED = Path(__file__).parent / "kernels", memory_cases.FOLDER
ON_GPU = Path(__file__).parent / "compute_sanitizer.json"
SANITIZERS = {"thread sanitizer": "thread", "address, undefined": "address,undefined"}
_DYNAMIC = re.compile(r"extern __shared__ (\w+) (\w+)\[\];")
_LONGEST_RUN = 10  # seconds: a barrier that part of a block skips never ends

# By tool, whether it accuses a kernel; without a tool that has not run it.
Said = dict[Case, dict[str, bool]]


def main() -> None:
    """Print the table: a row for each file, of wrong kernels, then of right ones; notes are in no column."""
    on_gpu = json.loads(ON_GPU.read_text(encoding="utf-8"))["cases"] if ON_GPU.exists() else {}
    tools = sys.argv[1:] or ["emulator", "in 8 orders", *(["compute-sanitizer"] if on_gpu else []), *SANITIZERS]
    heads = " | ".join([*tools, "right", *tools])
    print(f"| kernels | wrong | {heads} |\n|---|" + "---:|" * (2 * len(tools) + 2))
    of_all: dict[str, Said] = {}
    for folder in (OWN, PLANTED):
        memory_cases.FOLDER = folder
        in_orders = {
            tool: memory_cases.found_in_all(seeds)
            for tool, seeds in (("emulator", 1), ("in 8 orders", 8))
            if tool in tools
        }
        for topic in dict.fromkeys(case.topic for case in memory_cases.cases()):
            said: Said = {case: {} for case in memory_cases.cases() if case.topic == topic}
            for case, of_case in said.items():
                of_case.update((tool, bool(found[case])) for tool, found in in_orders.items())
                if of_tools := on_gpu.get(topic, {}).get(case.name):
                    of_case["compute-sanitizer"] = set(of_tools.values()) != {"nothing"}
            if SANITIZERS.keys() & {*tools}:
                by_sanitizers(folder, said)
            print(
                row(f"[{topic}]({os.path.relpath(folder / topic, ROOT / 'docs/measured')}.cu)", said, tools), flush=True
            )
            kind = "the files of benchmarks" if folder == OWN else "the planted ones"
            of_all.setdefault(kind, {}).update(said)
    for kind, said in of_all.items():
        print(row(kind, said, tools))


def row(name: str, said: Said, tools: list[str]) -> str:
    """A row of the table; where a tool ran some of the kernels alone, `3 of 5`."""
    cells = [name]
    for kind in ("wrong", "right"):
        of_kind = [of_case for case, of_case in said.items() if case.kind == kind]
        cells.append(str(len(of_kind)))
        for tool in tools:
            ran = [of_case[tool] for of_case in of_kind if tool in of_case]
            cells.append(str(sum(ran)) if len(ran) == len(of_kind) else f"{sum(ran)} of {len(ran)}" if ran else "–")
    return f"| {' | '.join(cells)} |"


def by_sanitizers(folder: Path, said: Said) -> None:
    """Add what g++'s sanitizers say of a file's kernels that compile on threads."""
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(os.cpu_count()) as compilers:

        def add(case: Case) -> None:
            said[case].update(by_sanitizer(folder, case, [*said], Path(place) / case.name))

        list(compilers.map(add, said))


def by_sanitizer(folder: Path, case: Case, of_topic: list[Case], program: Path) -> Iterator[tuple[str, bool]]:
    """Each sanitizer, and whether it accuses a kernel; none where it does not compile."""
    unit = program.with_suffix(".cpp")
    head = f'#include "{Path(__file__).parent}/on_threads.hpp"\n'
    unit.write_text(f"{head}{text_of(folder, case, of_topic)}\nint main() {{ return run({case.name}); }}\n")
    for name, how in SANITIZERS.items():
        command = ["g++", "-std=c++17", "-O1", "-w", "-pthread", f"-fsanitize={how}", str(unit), "-o", str(program)]
        if subprocess.run(command, capture_output=True).returncode != 0:
            return
        yield name, is_accused(program)


def text_of(folder: Path, case: Case, of_topic: list[Case]) -> str:
    """A file of kernels without the others of these."""
    lines = (folder / f"{case.topic}.cu").read_text().splitlines()
    for other in of_topic:
        is_one_line = lines[other.line].rstrip().endswith("}")
        for line in range(other.line, other.line + 1 if is_one_line else other.last_line) if other != case else ():
            lines[line] = ""
    return _DYNAMIC.sub(r"static \1 \2[512 / sizeof(\1)];", "\n".join(lines))


def is_accused(program: Path) -> bool:
    """Whether a sanitizer says something, or the program fails or doesn't end."""
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    try:
        done = subprocess.run([str(program)], capture_output=True, timeout=_LONGEST_RUN, env=environment)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0 or b"Sanitizer" in done.stderr or b"runtime error" in done.stderr


if __name__ == "__main__":
    main()
