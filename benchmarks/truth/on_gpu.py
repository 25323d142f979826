"""What compute-sanitizer's four tools say of who_finds.py's kernels, on a GPU: prints JSON, as who_finds.py reads it.

    python benchmarks/truth/on_gpu.py build FOLDER      # needs nvcc
    python benchmarks/truth/on_gpu.py run FOLDER > benchmarks/truth/compute_sanitizer.json

It needs Python alone, so that programs may be built on one machine and run on another. A tool finds a kernel if its
report names it; a kernel that fails or takes 3 s without a report is kept as `fails` or `hangs`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLANTED, OWN = ROOT / "tests/planted/cases", Path(__file__).parent / "kernels"
_CASE = re.compile(r"^// (?:right|note|wrong)\b.*\n(?:__launch_bounds__.*\) )?__global__ void (\w+)\(", re.MULTILINE)
_LONGEST_RUN, _LONGEST_PROCESS = 3, 25  # seconds
_TOGETHER = {"grid": "grid", "clusters": "cluster"}
# Arrays lie far apart, an access out of bounds ends its kernel alone, and all errors of all kernels are printed.
_ARGUMENTS = {
    "memcheck": ("--padding", "4096", "--destroy-on-device-error", "kernel"),
    "racecheck": ("--racecheck-report", "all"),
    "initcheck": (),
    "synccheck": (),
}
_OPTIONS = ("-std=c++17", "-O3", "-lineinfo", "-w", f"-DLONGEST_RUN={_LONGEST_RUN}", f"-I{ROOT / 'kernels/include'}")


def topics() -> dict[str, Path]:
    """The files of kernels, by name."""
    return {path.stem: path for folder in (OWN, PLANTED) for path in sorted(folder.glob("*.cu"))}


def chains(path: Path) -> dict[str, list[str]]:
    """The kernels that each case of a file launches, itself last, as in tests/support/memory_cases.py."""
    text = path.read_text(encoding="utf-8")
    return {name: [*sorted({*re.findall(rf"\b{name}_\d\b", text)}), name] for name in _CASE.findall(text)}


def build(folder: Path, architecture: str) -> None:
    """Compile a program for each file of kernels."""
    folder.mkdir(parents=True, exist_ok=True)

    def compile_one(topic: str) -> None:
        path = topics()[topic]
        of_file = chains(path)
        cases = ", ".join(
            f'{{"{name}", {{{", ".join(f"(const void *){one}" for one in of)}}}}}' for name, of in of_file.items()
        )
        source = folder / f"{topic}.cu"
        source.write_text(
            f'#include "{PLANTED}/thread.cuh"\n#undef t\n#undef i\n#include "{Path(__file__).parent}/on_gpu.cuh"\n'
            f"#define t int(threadIdx.x)\n#define i int(blockIdx.x * 64 + threadIdx.x)\nnamespace {{\n"
            f'#include "{path}"\n}}\n#undef t\n#undef i\nconst Case cases[] = {{{cases}}};\n'
            f"int main(int, char **arguments)\n{{\n    return run(cases, {len(of_file)}, atoi(arguments[1]), "
            f"{_TOGETHER.get(topic, 'apart')}, {254 if topic == 'bytes' else 1024});\n}}\n"
        )
        command = ["nvcc", *_OPTIONS, f"-arch={architecture}", str(source), "-o", str(folder / topic), "-Xlinker", "-s"]
        done = subprocess.run(command, capture_output=True, text=True)
        print(topic, "compiled" if done.returncode == 0 else done.stderr[:2000], file=sys.stderr, flush=True)

    with ThreadPoolExecutor() as compilers:
        list(compilers.map(compile_one, topics()))


def found_by(program: Path, tool: str, ends_at: float) -> dict[str, str]:
    """What a tool says of each of a program's kernels: found, nothing, fails or hangs."""
    said: dict[str, str] = {}
    of_file = chains(topics()[program.name])
    names, first = list(of_file), 0
    while first < len(names) and time.monotonic() < ends_at:
        command = ["compute-sanitizer", "--print-limit", "1000000", "--tool", tool, *_ARGUMENTS[tool]]
        command += [str(program), str(first)]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            text, _ = run.communicate(timeout=max(1, min(_LONGEST_PROCESS, ends_at - time.monotonic())))
        except subprocess.TimeoutExpired:
            run.kill()
            text, _ = run.communicate()
        reports = "\n".join(line for line in text.splitlines() if line.startswith("========="))
        begun = re.findall(r"^case \d+ (\w+)$", text, re.MULTILINE)
        for name in begun:
            ended = re.search(rf"^(ends|fails|hangs) {name}$", text, re.MULTILINE)
            is_named = any(re.search(rf"\b{each}\(", reports) for each in of_file[name])
            how = ended[1] if ended else "hangs"
            said[name] = "found" if is_named else "nothing" if how == "ends" else how
        first = names.index(begun[-1]) + 1 if begun else len(names)
    return said


def run(folder: Path, seconds: float) -> None:
    """Print what the tools say, as JSON; what has not run after so many seconds is left out."""
    ends_at = time.monotonic() + seconds
    jobs = [(topic, tool) for tool in _ARGUMENTS for topic in topics() if (folder / topic).exists()]
    with ThreadPoolExecutor(16) as processes:
        said = list(processes.map(lambda job: found_by(folder / job[0], job[1], ends_at), jobs))
    kept: dict[str, dict[str, dict[str, str]]] = {}
    for (topic, tool), of_tool in zip(jobs, said, strict=True):
        for name, what in of_tool.items():
            kept.setdefault(topic, {}).setdefault(name, {})[tool] = what
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    device = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    version = subprocess.run(["compute-sanitizer", "--version"], capture_output=True, text=True).stdout.splitlines()[-1]
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    print(json.dumps({"date": date, "device": device, "version": version, "cases": kept}, indent=1, sort_keys=True))


if __name__ == "__main__":
    if sys.argv[1:2] == ["build"] and len(sys.argv) >= 3:
        build(Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "native")
    elif sys.argv[1:2] == ["run"] and len(sys.argv) >= 3:
        run(Path(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 3600)
    else:
        sys.exit(__doc__)
