"""Which tool finds the mistakes in small kernels, and which accuses right ones, as the table of docs/measured/truth.md.

    uv run --group test python benchmarks/truth/who_finds.py

The kernels are those of kernels/ here and of tests/planted/cases. The emulator runs each with its checks; g++'s thread,
address and undefined-behaviour sanitizers run those that compile on threads of the system (on_threads.hpp); with a GPU,
`pytest -m gpu tests/planted/test_cases.py` has compute-sanitizer's tools.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in ("workflow/scripts", "emulator", "emulator/tests", "tests/support"):
    sys.path.insert(0, str(ROOT / folder))

import memory_cases  # noqa: E402
from memory_cases import Case  # noqa: E402

OWN, PLANTED = Path(__file__).parent / "kernels", memory_cases.FOLDER
SANITIZERS = {"thread": "thread", "address, undefined": "address,undefined"}
_DYNAMIC = re.compile(r"extern __shared__ (\w+) (\w+)\[\];")
_COMPILER = ("g++", "-std=c++17", "-O1", "-w", "-pthread")
_LONGEST_RUN = 10  # seconds: a barrier that part of a block skips never ends


def main() -> None:
    """Print the table."""
    names = list(SANITIZERS)
    of_right = " | ".join(f"right, that run by {name} | accused" for name in names)
    of_wrong = " | ".join(f"wrong, that run by {name} | found" for name in names)
    print(f"| kernels | wrong | found by the emulator | {of_wrong} | right | accused by the emulator | {of_right} |")
    print("|---|" + "---:|" * (4 * len(names) + 4))
    for folder in (OWN, PLANTED):
        memory_cases.FOLDER = folder
        found = memory_cases.found_in_all()
        for topic in dict.fromkeys(case.topic for case in found):
            of_topic = [case for case in found if case.topic == topic]
            by_name = by_sanitizers(folder, of_topic)
            cells: list[int] = []
            for those in (
                {case for case in of_topic if case.kind == "wrong"},
                {case for case in of_topic if case.kind == "right"},
            ):
                cells += [len(those), sum(bool(found[case]) for case in those)]
                cells += [len(those & cases) for name in names for cases in by_name[name]]
            link = os.path.relpath(folder / f"{topic}.cu", ROOT / "docs/measured")
            print(f"| [{topic}]({link}) | {' | '.join(map(str, cells))} |", flush=True)


def by_sanitizers(folder: Path, of_topic: list[Case]) -> dict[str, tuple[set[Case], set[Case]]]:
    """By sanitizer, the kernels that compile on threads, and those of them that it accuses."""
    found: dict[str, tuple[set[Case], set[Case]]] = {name: (set(), set()) for name in SANITIZERS}
    head = f'#include "{Path(__file__).parent}/on_threads.hpp"\n'
    with tempfile.TemporaryDirectory() as place:
        unit, program = Path(place) / "unit.cpp", Path(place) / "program"
        for case in of_topic:
            unit.write_text(f"{head}{text_of(folder, case, of_topic)}\nint main() {{ return run({case.name}); }}\n")
            for name, how in SANITIZERS.items():
                command = [
                    "g++",
                    "-std=c++17",
                    "-O1",
                    "-w",
                    f"-fsanitize={how}",
                    "-pthread",
                    str(unit),
                    "-o",
                    str(program),
                ]
                if subprocess.run(command, capture_output=True).returncode != 0:
                    break
                found[name][0].add(case)
                if is_accused(program):
                    found[name][1].add(case)
    return found


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
