"""How far does the workflow grow? 1,000 made-up kernels of 10,000 points each, and more, in folders of their own.

    uv run python benchmarks/growth.py                  # all of it: half an hour, 8 GB of disk
    uv run python benchmarks/growth.py plan join        # some of it

plan  what `snakemake -n all` plans on the emulator, from nothing
join  collect: 10 million rows in 1,000 files to measurements.csv
read  the scripts that `all` runs on these rows on a GPU, each by itself; a study's scripts read a million rows
axis     `snakemake -n` of a study with a million values of one axis
studies  `snakemake -n` of 1,000 studies, and of one of them
journal  a journal of a gigabyte, opened

Each line says how long it took, what processor time that was (other work on the machine lengthens the former), and the
most memory that the process had.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
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
from kernelsweep.sweep.journal import Journal

SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores", "2"]
KERNELSWEEP = [sys.executable, "-m", "kernelsweep.project.command"]
ON_EMULATOR = ["--config", "platform=emulator"]
DRY_RUN = ["-n", "--cores", "2", *ON_EMULATOR]
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


def plan_axis(folder: Path, values: int) -> None:
    """Measure the cost of planning a study with this many values of one axis, by three blocks."""
    project = new_study(folder)
    file = project / "config/studies/axpy.yaml"
    sizes = f"{{n: [{', '.join(map(str, range(1, values + 1)))}]}}"
    file.write_text(file.read_text(encoding="utf-8").replace("{n: [1000, 4099]}", sizes), encoding="utf-8")
    measured(
        f"axis: {values:,} values, snakemake -n axpy",
        [*KERNELSWEEP, "axpy", *DRY_RUN],
        project,
    )


def plan_studies(folder: Path, studies: int) -> None:
    """Measure the cost of planning all of these studies, and one."""
    project = new_study(folder)
    for number in range(1, studies):
        name = f"axpy{number}"
        shutil.copytree(project / "kernels/axpy", project / "kernels" / name)
        text = (project / "config/studies/axpy.yaml").read_text(encoding="utf-8")
        (project / f"config/studies/{name}.yaml").write_text(
            text.replace("kernels/axpy/", f"kernels/{name}/").replace("name: axpy", f"name: {name}"), encoding="utf-8"
        )
        (project / f"kernels/{name}/axpy.cu").rename(project / f"kernels/{name}/{name}.cu")
    for target in ("all", "axpy"):
        measured(
            f"studies: {studies:,}, snakemake -n {target}",
            [*KERNELSWEEP, target, *DRY_RUN],
            project,
        )


def new_study(folder: Path) -> Path:
    """A folder with the study that `kernelsweep new axpy` writes."""
    folder.mkdir()
    subprocess.run([*KERNELSWEEP, "new", "axpy"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder


def open_journal(folder: Path, size: int) -> None:
    """Measure the cost of opening a journal of at least this many bytes, of lines with 180 samples each."""
    file, samples = folder / "journal.jsonl", [round(2 + number / 7, 3) for number in range(180)]
    value = {"status": "ok", "visits": [{"samples": samples[at : at + 60]} for at in (0, 60, 120)]}
    with Journal(file) as journal:
        journal.add(f"{0:064x}", value)
    line, lines = file.read_bytes(), 0
    with file.open("wb") as written:
        while written.tell() < size:
            written.write(line.replace(b"0" * 64, f"{lines:064x}".encode(), 1))
            lines += 1
    program = "import sys; from pathlib import Path; from kernelsweep.sweep.journal import Journal; "
    program += "journal = Journal(Path(sys.argv[1])); print(sum(1 for _ in journal._records))"
    cost = measured(f"journal: {size / 1e9:.1f} GB opened", [sys.executable, "-c", program, str(file)], folder)
    assert int(cost.output) == lines


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
    outputs = {
        "claims": "claims.md",
        "claims_csv": "claims.csv",
        "claims_figure": "claims",
        "best": "best.md",
        "best_json": "best.json",
    }
    outputs |= {"summary": "summary.md", "status": "status.json", "answer": "answer.json"}
    told = {"studies": settings, "measurements": files, "gridded": {name: [] for name in settings}}
    told |= {"found_metrics": {}, "uncertainties": {}, "kernels": [], "edited": []}
    told |= {"page": "report.html", "store": "store"}
    script("read: judge", "judge/judge", project, input=given, output=outputs, params={"plan": told})

    name = next(iter(settings))
    one = {
        "input": {"measurements": files[name], **device},
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
                "named": {kernel: [] for kernel in load_study(name, project).kernels},
                "edited": [],
                "gridded": [],
            }
        },
    }
    (project / "figures").mkdir(exist_ok=True)
    published = ["table.md", "table.csv", "table.tex", "best.tex", "counters.tex", "story.json", "figures"]
    script("read: publish_study, of one study", "publish/publish_study", project, output=published, **one)


def main() -> None:
    """Measure the requested parts."""
    parts = ("plan", "join", "read", "axis", "studies", "journal")
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
    os.environ["PYTHONPATH"] = f"{ROOT / 'workflow/scripts'}:{ROOT / 'emulator'}"
    with tempfile.TemporaryDirectory() as folder:
        if "axis" in wanted:
            plan_axis(Path(folder) / "axis", 1_000_000)
        if "studies" in wanted:
            plan_studies(Path(folder) / "studies", 1_000)
        if "journal" in wanted:
            open_journal(Path(folder), 1_000_000_000)
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
