"""Does `snakemake compare` find what is there, and nothing else? On a GPU, in a copy of the project.

    uv run --extra gpu python benchmarks/compare_edits.py
    uv run --extra gpu python benchmarks/compare_edits.py --sweep short

The second takes less than a minute on an H200: it sweeps the three kernels of the second part alone, from 2^22
elements up and with a cold cache.

Sweeps a study twice from nothing: of identical code, at most 1% of the points may be called faster or slower. Then
plants a slowdown in kernels that wait for their own threads rather than for the memory: every fiftieth thread block
goes through its tree twice. The edited study is swept twice, too, so that two sweeps are compared, and two others say
how much longer a point takes in fact. At least 95% of the points of 50 us and more that take 2% longer in fact must
be called slower. results/benchmarks/compare_edits.csv has the points.

The exit status is 0 where both goals are met.
"""

from __future__ import annotations

import argparse
import csv
import math
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml
from support.own_sweep import ROOT

from kernelsweep.judge.comparison.sides import name_of

OUTPUT = ROOT / "results/benchmarks/compare_edits.csv"
STUDY = "unrolling"
KERNELS = ("neighbored", "neighbored_less", "interleaved")
SHORT_AXES = "axes={array_size: [2^22, 2^24, 2^26, 2^28], cache: [cold]}"
LONG_US = 50.0
MOST_CALLED = 0.01
LEAST_FOUND = 0.95
PLANTED = 1.02

# In front of the tree, and behind it: all three kernels have these lines.
BEGINNING = "    for (unsigned stride ="
END = "    if (thread == 0)\n        partials[blockIdx.x]"
PLANTED_BEGINNING = """\
    const bool twice = blockIdx.x % 50 == 0;
    const Element own = twice ? block_data[thread] : Element();
    if (twice)
        __syncthreads();
    for (unsigned turn = twice ? 0 : 1; turn < 2; ++turn) {
"""
PLANTED_END = """\
        if (turn == 0) {
            block_data[thread] = own;
            __syncthreads();
        }
    }
"""

Row = dict[str, str]


def copied(folder: Path) -> Path:
    """A copy of the project's files, without results."""
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listing.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def compare(project: Path, sweep: str, **settings: str) -> list[Row]:
    """Run `snakemake compare`, and return the rows of comparison.csv."""
    named = ", ".join(f"{key}: {value}" for key, value in settings.items())
    command = [sys.executable, "-m", "snakemake", "--cores", "4", "compare", "--config"]
    command += ["platform=gpu", f"studies=[{STUDY}]", f"compare={{{named}}}"]
    command += [SHORT_AXES] if sweep == "short" else []
    subprocess.run(command, cwd=project, check=True)
    (path,) = project.glob("results/*/comparison/comparison.csv")
    with path.open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["ratio"]]


def keep_kernels(project: Path) -> None:
    """Leave the kernels that are edited, and no others, in the study."""
    path = project / f"config/studies/{STUDY}.yaml"
    study = yaml.safe_load(path.read_text(encoding="utf-8"))
    study["kernels"] = [entry for entry in study["kernels"] if entry["name"] in KERNELS]
    del study["steps"]
    path.write_text(yaml.safe_dump(study), encoding="utf-8")


def plant(source: str) -> str:
    """The source of a kernel, slowed down. Raises ValueError where it has another form than expected."""
    if source.count(BEGINNING) != 1 or source.count(END) != 1:
        raise ValueError("the kernel has another form than this benchmark knows")
    return source.replace(BEGINNING, PLANTED_BEGINNING + BEGINNING).replace(END, PLANTED_END + END)


def share(rows: Sequence[Row], verdicts: Iterable[str]) -> float:
    """The share of rows with one of these verdicts; nan of none."""
    return sum(row["verdict"] in verdicts for row in rows) / len(rows) if rows else math.nan


def times(project: Path) -> dict[tuple[str, ...], float]:
    """The times of the last sweep, by point."""
    found: dict[tuple[str, ...], float] = {}
    for path in project.glob("results/*/points/*/*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            found |= {name_of(row): float(row["time_us"]) for row in csv.DictReader(file) if row["time_us"]}
    return found


def put_away(project: Path, name: str) -> Path:
    """Move the only platform's results out of the way, so that the next sweep is one from nothing."""
    (platform,) = (path.parent for path in project.glob("results/*/comparison"))
    kept = project / name / platform.name
    kept.parent.mkdir()
    return platform.rename(kept)


def main() -> int:
    """Run both parts, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sweep", choices=("short", "full"), default="full")
    arguments = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        project = copied(Path(folder))
        if arguments.sweep == "short":
            keep_kernels(project)
        compare(project, arguments.sweep, before="previous")
        before = times(project)
        kept = put_away(project, "kept")
        identical = compare(project, arguments.sweep, before=str(kept))
        for kernel in KERNELS:
            path = project / f"kernels/{STUDY}/{kernel}.cu"
            path.write_text(plant(path.read_text()))
        edited = [row for row in compare(project, arguments.sweep, before="previous") if row["kernel"] in KERNELS]
        put_away(project, "edited")
        compare(project, arguments.sweep, before="previous")
        after = times(project)

    for row in edited:
        row["in_fact"] = f"{after[name_of(row)] / before[name_of(row)]:.5f}"
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    with OUTPUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(edited[0]))
        writer.writeheader()
        writer.writerows(edited)

    called = share(identical, ("faster", "slower"))
    print(
        f"\nidentical code: {len(identical)} points, {called:.2%} called faster or slower (at most {MOST_CALLED:.0%})"
    )
    slower = [row for row in edited if float(row["time_before_us"]) >= LONG_US and float(row["in_fact"]) >= PLANTED]
    for kernel in KERNELS:
        rows = [row for row in slower if row["kernel"] == kernel]
        print(f"{kernel}: {len(rows)} points of {LONG_US:g} us and more take {PLANTED - 1:.0%} longer or more; "
              f"{share(rows, ['slower']):.2%} of them are called slower")  # fmt: skip
    found = share(slower, ["slower"])
    print(f"all: {len(slower)} points, {found:.2%} called slower (at least {LEAST_FOUND:.0%})")
    print(f"in {time.monotonic() - started:.0f} s")
    return 0 if called <= MOST_CALLED and found >= LEAST_FOUND else 1


if __name__ == "__main__":
    sys.exit(main())
