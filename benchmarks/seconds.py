"""How long does an engineer wait? The commands of a working day, one after another, in a copy of the project.

    uv run --extra gpu python benchmarks/seconds.py

| step | what is timed |
|---|---|
| all | `all`, from nothing |
| nothing | the same command again |
| edit | one more barrier in a kernel of 352 points, then `compare`: its build, its full sweep, the comparison |
| comment | a comment in that kernel, then its study |
| quick | `--config sweep=quick all`, from nothing |

Beside them stands the share of the time at which a job has the GPU, and the share of that time in which the GPU is at
work: a point's `busy_seconds` against the leases in the jobs' logs, for `all` and for `quick`.

Times depend on the host, so compare with another commit on the same machine: run both. The output goes to
results/benchmarks/seconds.json, too. --platform emulator tries the script without a GPU.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from compare_edits import copied
from scaling import leases, measuring

ROOT = Path(__file__).resolve().parent.parent
STUDY, KERNEL = "unrolling", "unrolled"
LAST = "    if (thread == 0)\n"

# Seconds on an H200 with eight cores: the goals of this step.
GOALS = {"all": 170.0, "nothing": 4.0, "edit": 15.0, "comment": 4.0, "quick": 40.0}
LEAST_AT_WORK = 0.85


def timed(project: Path, cores: int, *arguments: str) -> float:
    """Run Snakemake in the project, and return the seconds. Ends the script where it fails."""
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores), *arguments]
    started = time.monotonic()
    run = subprocess.run(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    seconds = time.monotonic() - started
    if run.returncode:
        sys.exit(f"{run.stdout}\n{' '.join(command)} ended with status {run.returncode}")
    print(f"{seconds:7.1f} s  snakemake {' '.join(arguments)}", flush=True)
    return seconds


def edit(project: Path, old: str, new: str) -> None:
    """Replace a text in the kernel. Ends the script where the kernel hasn't it once."""
    path = project / f"kernels/{STUDY}/{KERNEL}.cu"
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        sys.exit(f"{path}: the kernel has another form than this benchmark knows")
    path.write_text(text.replace(old, new), encoding="utf-8")


def shares(results: Path) -> tuple[float, float]:
    """The share of the measuring part in which a job has the GPU, and the share of that in which the GPU is at work."""
    part = measuring(leases(results))
    (held,) = part.shares.values()
    busy = 0.0
    for path in (results / "points").rglob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            busy += sum(float(row.get("busy_seconds") or 0) for row in csv.DictReader(file))
    return held, busy / (held * part.seconds)


def results_of(project: Path) -> Path:
    """The folder of the only platform's results."""
    (path,) = {path.parent for path in project.glob("results/*/measurements.csv")}
    return path


def table(found: dict[str, float], at_work: dict[str, tuple[float, float]]) -> str:
    """The seconds beside the goals, and the GPU's shares, as text."""
    lines = [f"{'step':8} {'seconds':>8} {'goal':>6}"]
    lines += [f"{name:8} {seconds:8.1f} {GOALS[name]:6.0f}" for name, seconds in found.items()]
    for name, (held, busy) in at_work.items():
        goal = f", goal {LEAST_AT_WORK:.0%}" if name == "all" else ""
        lines.append(
            f"{name}: a job has the GPU {held:.0%} of the measuring part, and it works {busy:.0%} of that{goal}"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the steps, and print and write what they took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cores", type=int, default=8)
    parser.add_argument("--platform", default="gpu")
    parser.add_argument(
        "--steps", nargs="+", choices=GOALS, default=list(GOALS), help="all comes before the next three"
    )
    chosen = parser.parse_args(arguments)
    found: dict[str, float] = {}
    at_work: dict[str, tuple[float, float]] = {}
    config = ["--config", f"platform={chosen.platform}"]
    with tempfile.TemporaryDirectory() as folder:
        full, quick = copied(Path(folder) / "full"), copied(Path(folder) / "quick")
        if "all" in chosen.steps:
            found["all"] = timed(full, chosen.cores, "all", *config)
            if chosen.platform != "emulator":
                at_work["all"] = shares(results_of(full))
        if "nothing" in chosen.steps:
            found["nothing"] = timed(full, chosen.cores, "all", *config)
        if "edit" in chosen.steps:
            edit(full, LAST, f"    __syncthreads();\n{LAST}")
            found["edit"] = timed(full, chosen.cores, "compare", *config, f"studies=[{STUDY}]")
        if "comment" in chosen.steps:
            timed(full, chosen.cores, STUDY, *config)  # brings the study up to date with the edit
            edit(full, LAST, f"    // The first thread has the sum.\n{LAST}")
            found["comment"] = timed(full, chosen.cores, STUDY, *config)
        if "quick" in chosen.steps:
            found["quick"] = timed(quick, chosen.cores, "all", *config, "sweep=quick")
            if chosen.platform != "emulator":
                at_work["quick"] = shares(results_of(quick))
    print(f"\n{table(found, at_work)}")
    output = ROOT / "results/benchmarks/seconds.json"
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps({"seconds": found, "gpu_at_work": at_work, "cores": chosen.cores}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
