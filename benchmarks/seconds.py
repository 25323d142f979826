"""How long does an engineer wait? The commands of a working day, one after another, in a copy of the project.

    uv run --extra gpu python benchmarks/seconds.py

| step | what is timed |
|---|---|
| all | `all`, from nothing |
| nothing | the same command again |
| edit | one more barrier in a kernel of 352 points, then `compare`: its build, its full sweep, the comparison |
| comment | a comment in that kernel, then its study |
| quick | `--config sweep=quick all`, from nothing |

Below stands where the GPU's time goes, for `all` and for `quick`: before the first job has it (builds), between jobs,
in a job's hands but between points (contexts), at a point while the host works, at work, and after the last job
(figures). It is told by the leases in the jobs' logs, and by the points' `seconds` and `busy_seconds`.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compare_edits import copied
from scaling import leases, measuring

ROOT = Path(__file__).resolve().parent.parent
STUDY, KERNEL = "unrolling", "unrolled"
LAST = "    if (thread == 0)\n"

# Seconds on an H200 with eight cores: the goals of this step.
GOALS = {"all": 170.0, "nothing": 4.0, "edit": 15.0, "comment": 4.0, "quick": 40.0}
LEAST_AT_WORK = 0.85
AT_WORK = "GPU at work"


@dataclass(frozen=True)
class Run:
    """When a command began and ended: seconds since 1970."""

    begin: float
    end: float

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.end - self.begin


def timed(project: Path, cores: int, *arguments: str) -> Run:
    """Run Snakemake in the project. Ends the script where it fails."""
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores), *arguments]
    begin = time.time()
    run = subprocess.run(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    took = Run(begin, time.time())
    if run.returncode:
        sys.exit(f"{run.stdout}\n{' '.join(command)} ended with status {run.returncode}")
    print(f"{took.seconds:7.1f} s  snakemake {' '.join(arguments)}", flush=True)
    return took


def edit(project: Path, old: str, new: str) -> None:
    """Replace a text in the kernel. Ends the script where the kernel hasn't it once."""
    path = project / f"kernels/{STUDY}/{KERNEL}.cu"
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        sys.exit(f"{path}: the kernel has another form than this benchmark knows")
    path.write_text(text.replace(old, new), encoding="utf-8")


def parts(run: Run, results: Path) -> dict[str, float]:
    """Where a run's seconds went, as one GPU sees it. Their sum is the run's."""
    found = leases(results)
    part = measuring(found)
    (share,) = part.shares.values()
    held, begin = share * part.seconds, min(lease.begin for lease in found)
    at_points = busy = 0.0
    for path in [*(results / "points").rglob("*.csv"), *(results / "rivals").rglob("*.csv")]:
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                at_points += float(row.get("seconds") or 0)
                busy += float(row.get("busy_seconds") or 0)
    return {
        "before": begin - run.begin,
        "between jobs": part.seconds - held,
        "between points": held - at_points,
        "host at points": at_points - busy,
        AT_WORK: busy,
        "after": run.end - begin - part.seconds,
    }


def at_work(found: Mapping[str, float]) -> float:
    """The share of the points' time in which the GPU is at work."""
    return found[AT_WORK] / (found[AT_WORK] + found["host at points"])


def results_of(project: Path) -> Path:
    """The folder of the only platform's results."""
    (path,) = {path.parent for path in project.glob("results/*/measurements.csv")}
    return path


def table(found: Mapping[str, float], parts_of: Mapping[str, Mapping[str, float]]) -> str:
    """The seconds beside the goals, and where the GPU's went, as text."""
    lines = [f"{'step':8} {'seconds':>8} {'goal':>6}"]
    lines += [f"{name:8} {seconds:8.1f} {GOALS[name]:6.0f}" for name, seconds in found.items()]
    for name, of_run in parts_of.items():
        shown = ", ".join(f"{part} {seconds:.1f} s" for part, seconds in of_run.items())
        goal = f" (goal {LEAST_AT_WORK:.0%})" if name == "all" else ""
        lines.append(f"{name}: {shown}. While measuring, the GPU is at work {at_work(of_run):.0%} of the time{goal}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the steps, and print and write what they took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cores", type=int, default=8)
    parser.add_argument("--platform", default="gpu")
    parser.add_argument(
        "--steps", nargs="+", choices=GOALS, default=list(GOALS), help="without all, its study runs before the edit"
    )
    chosen = parser.parse_args(arguments)
    found: dict[str, float] = {}
    parts_of: dict[str, dict[str, float]] = {}
    config = ["--config", f"platform={chosen.platform}"]
    with tempfile.TemporaryDirectory() as folder:
        full, quick = copied(Path(folder) / "full"), copied(Path(folder) / "quick")
        if "all" in chosen.steps:
            run = timed(full, chosen.cores, "all", *config)
            found["all"] = run.seconds
            if chosen.platform != "emulator":
                parts_of["all"] = parts(run, results_of(full))
        if "nothing" in chosen.steps:
            found["nothing"] = timed(full, chosen.cores, "all", *config).seconds
        if "edit" in chosen.steps:
            if "all" not in chosen.steps:
                timed(full, chosen.cores, STUDY, *config)
            edit(full, LAST, f"    __syncthreads();\n{LAST}")
            found["edit"] = timed(full, chosen.cores, "compare", *config, f"studies=[{STUDY}]").seconds
        if "comment" in chosen.steps:
            timed(full, chosen.cores, STUDY, *config)  # brings the study up to date with the edit
            edit(full, LAST, f"{LAST.rstrip()}  // It has the sum.\n")
            found["comment"] = timed(full, chosen.cores, STUDY, *config).seconds
        if "quick" in chosen.steps:
            run = timed(quick, chosen.cores, "all", *config, "sweep=quick")
            found["quick"] = run.seconds
            if chosen.platform != "emulator":
                parts_of["quick"] = parts(run, results_of(quick))
    print(f"\n{table(found, parts_of)}")
    output = ROOT / "results/benchmarks/seconds.json"
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps({"seconds": found, "parts": parts_of, "cores": chosen.cores}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
