"""How far does the workflow grow? 1,000 made-up kernels of 10,000 points each, in a folder of their own.

    uv run python benchmarks/growth.py                  # all of it: half an hour, 8 GB of disk
    uv run python benchmarks/growth.py plan join        # some of it

plan  what `snakemake -n all` plans on the emulator, from nothing
join  collect: 10 million rows in 1,000 files to measurements.csv
read  the scripts that `all` runs on these rows on a GPU, each by itself; a study's scripts read a million rows

Each line says how long it took, what processor time that was (other work on the machine lengthens the former), and the
most memory that the process had.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import made_up
from support.made_up import DEVICE, ROOT

from kernelsweep.project.project import load_study
from kernelsweep.publish.drawing.figure_formats import FORMATS
from kernelsweep.publish.figure_files import drawn_figures
from kernelsweep.study.settings import study_names

SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores", "2"]
ON_EMULATOR = ["--config", "platform=emulator"]
# A small process that starts the one to be measured: the kernel counts what a process was started from as its memory.
WATCH = """
import json, resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as noted:
    json.dump([used.ru_utime + used.ru_stime, used.ru_maxrss], noted)
sys.exit(status)
"""


@dataclass(frozen=True)
class Cost:
    """The cost of a process: wall-clock seconds, processor seconds, and its largest resident memory in MiB."""

    wall: float
    processor: float
    peak_mib: float
    output: str


def measured(what: str, command: Sequence[str], folder: Path) -> Cost:
    """Run a command in a folder and print its cost. Ends the script if the command fails."""
    started = time.perf_counter()
    with tempfile.NamedTemporaryFile() as noted:
        run = subprocess.run(
            [sys.executable, "-S", "-c", WATCH, noted.name, *command],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        wall = time.perf_counter() - started
        if run.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{run.stdout[-3000:]}")
        processor, peak_kib = json.load(noted)
    cost = Cost(wall, processor, peak_kib / 1024, run.stdout)
    print(f"{what:<44} {cost.wall:7.1f} s {cost.processor:7.1f} s {cost.peak_mib:7.0f} MiB", flush=True)
    return cost


def plan(project: Path, repeats: int) -> None:
    """Measure the cost of planning all jobs."""
    for _ in range(repeats):
        cost = measured("plan: snakemake -n all", [*SNAKEMAKE, "-n", "all", *ON_EMULATOR], project)
    total = re.search(r"^total +(\d+)$", cost.output, re.MULTILINE)
    print(f"{total[1] if total else 0} jobs")


def script(what: str, name: str, folder: Path, **job: Any) -> Cost:
    """The cost of one of workflow/scripts/, by itself."""
    described = {"input": {}, "output": {}, "params": {}, "wildcards": {}, "log": "script.log", **job}
    file = folder / "job.json"
    file.write_text(json.dumps(described))
    cost = measured(what, [sys.executable, str(ROOT / "benchmarks/support/stand_in.py"), name, str(file)], folder)
    file.unlink()
    return cost


def part_files(folder: str, studies: int, kernels: int) -> list[str]:
    """The files of the kernels, as the rules name them."""
    platform = DEVICE["platform"]
    return [
        f"results/{platform}/{folder}/made_up_{study}/kernel_{kernel:04}.csv"
        for study in range(studies)
        for kernel in range(kernels)
    ]


def join(project: Path, studies: int, kernels: int) -> Cost:
    """Measure the cost of joining the rows."""
    results = f"results/{DEVICE['platform']}"
    cost = script(
        "join: collect",
        "sweep/collect",
        project,
        input={**{name: part_files(name, studies, kernels) for name in ("points", "builds")}, "proofs": []},
        output={name: f"{results}/{name}.csv" for name in ("measurements", "builds", "proofs")},
    )
    joined = project / results / "measurements.csv"
    rows = sum(1 for _ in joined.open("rb")) - 1
    print(f"{rows:,} rows, {joined.stat().st_size / 1e9:.1f} GB")
    assert rows == studies * kernels * made_up.POINTS, cost.output
    return cost


def read(project: Path, studies: int, kernels: int) -> None:
    """Measure the cost of each script that reads all points of a study or of all studies."""
    results = f"results/{DEVICE['platform']}"
    (project / results / "device.json").write_text(json.dumps(DEVICE))
    settings = {name: load_study(name, project).settings.values() for name in study_names(project)}
    every = part_files("points", studies, kernels)
    files = {name: [path for path in every if f"/{name}/" in path] for name in settings}
    device = {"device": f"{results}/device.json", "metrics": [], "proofs": []}

    given = {"measurements": every, "claims": [str(ROOT / "resources/published/claims.csv")], "sources": [], **device}
    outputs = {"claims": "claims.md", "claims_csv": "claims.csv", "best": "best.md", "best_json": "best.json"}
    outputs |= {"summary": "summary.md", "status": "status.json", "answer": "answer.json"}
    told = {"studies": settings, "measurements": files, "gridded": {name: [] for name in settings}}
    told |= {"found_metrics": {}, "uncertainties": {}, "kernels": [], "edited": []}
    told |= {"page": "report.html", "store": "store"}
    script("read: judge", "judge/judge", project, input=given, output=outputs, params={"plan": told})

    name = next(iter(settings))
    kernels_of_one = sorted(map(str, project.glob(f"kernels/{name}/*.cu")))
    one = {
        "input": {"measurements": files[name], "kernels": kernels_of_one, **device},
        "wildcards": {"study": name},
        "params": {
            "plan": {
                "study": settings[name],
                "figures": drawn_figures(load_study(name, project), True),
                "widths": ["two_columns"],
                "font": "sans",
                "formats": FORMATS,
                "definitions": {},
                "found_metrics": {},
                "accesses": {},
                "edited": [],
                "gridded": [],
            }
        },
    }
    (project / "figures").mkdir(exist_ok=True)
    published = ["table.md", "table.csv", "table.tex", "best.tex", "counters.tex", "steps.md", "figures"]
    script("read: publish_study, of one study", "publish/publish_study", project, output=published, **one)


def main() -> None:
    """Measure the requested parts."""
    parts = ("plan", "join", "read")
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(parts)}; all, if none is named")
    parser.add_argument("--studies", type=int, default=10)
    parser.add_argument("--kernels", type=int, default=100, help="of each study")
    parser.add_argument("--repeats", type=int, default=3, help="how often a plan is made")
    options = parser.parse_args()
    unknown = set(options.parts) - set(parts)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: not one of {', '.join(parts)}")
    wanted = options.parts or parts
    print(f"{'':<44} {'wall':>9} {'processor':>9} {'memory':>11}")
    with tempfile.TemporaryDirectory() as folder:
        project = made_up.make_project(Path(folder), options.studies, options.kernels)
        if "plan" in wanted:
            plan(project, options.repeats)
        if {"join", "read"} & set(wanted):
            made_up.make_rows(project / f"results/{DEVICE['platform']}", options.studies, options.kernels)
            join(project, options.studies, options.kernels)
        if "read" in wanted:
            read(project, options.studies, options.kernels)


if __name__ == "__main__":
    main()
