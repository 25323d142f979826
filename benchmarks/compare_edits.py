"""Does `snakemake compare` find what is there, and nothing else? On a GPU, in a repository that this makes.

    uv run --extra gpu python benchmarks/compare_edits.py
    uv run --extra gpu python benchmarks/compare_edits.py --sweep short

The second has a third of the points.

Six kernels of one source go through dependent rounds, as many as a point says: 4 to 400 us. Rounds and time lie on a
line, which the first sweep tells, so that an edit can add rounds that take a known fraction of the time at each point.
Three kernels are edited to the same code with another constant; the others get 1%, 2% and 5% more time. At most 0.5% of
the points with identical code may be called faster or slower; of those from 5 us up, 95% must be decided, and 99% of
what takes 2% and 5% longer must be called slower. results/benchmarks/compare_edits.csv has the points.

The exit status is 0 where the goals are met.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import yaml
from support.own_sweep import ROOT

OUTPUT = ROOT / "results/benchmarks/compare_edits.csv"
STUDY = "edits"
# The time of each kernel after the edit, in thousandths of that before.
PER_MILLE = {"same": 1000, "same_too": 1000, "same_again": 1000, "slower_1": 1010, "slower_2": 1020, "slower_5": 1050}
JUDGED_US = 5.0
MOST_CALLED, LEAST_DECIDED, LEAST_FOUND = 0.005, 0.95, 0.99

SOURCE = """\
extern "C" __global__ void {kernel}(unsigned *result, const unsigned *data, unsigned rounds)
{{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = data[i];
#pragma unroll 1
    for (unsigned round = 0; round < rounds; ++round)
        value = value * 1664525u + 1013904223u;
    result[i] = value;
    const unsigned all = rounds + {offset}u;
    const unsigned more = all * {per_mille}u / 1000u - all;
#pragma unroll 1
    for (unsigned round = 0; round < more; ++round)
        value = value * 1664525u + 1013904223u;
    if (rounds == ~0u)  // Never, but the compiler can't know.
        result[i] = value;
}}
"""
PROBLEM = """\
import numpy as np

THREADS = 128


def inputs(random, blocks):
    return {"data": random.integers(0, 2**32, THREADS * blocks, np.uint32)}


def outputs(blocks):
    return {"result": ((THREADS * blocks,), np.uint32)}


def reference(data, rounds):
    # The rounds are one linear function modulo 2^32, made of those of powers of two.
    factor, term, result = 1664525, 1013904223, data.astype(np.uint64)
    while rounds:
        if rounds % 2:
            result = (factor * result + term) % 2**32
        factor, term, rounds = factor * factor % 2**32, (factor + 1) * term % 2**32, rounds // 2
    return {"result": result}
"""

Row = dict[str, str]


def make_repository(folder: Path, values: int) -> None:
    """A repository with the study, whose points have so many numbers of rounds."""
    rounds = [int(one) for one in np.geomspace(300, 70_000, values)]
    launch = {"grid": "blocks", "block": 128, "arguments": ["result", "data", "rounds"]}
    study = {
        "title": "Edits",
        "problem": f"kernels/{STUDY}/problem.py",
        "axes": {"rounds": rounds, "blocks": [8, 16, 32, 48, 64, 80, 96, 112], "cache": ["cold"]},
        "platforms": {"emulator": {"axes": {"rounds": [1, 10], "blocks": [2]}}},
        "kernels": [{"name": kernel, "launches": [launch]} for kernel in PER_MILLE],
    }
    for name in ("config/studies", f"kernels/{STUDY}"):
        (folder / name).mkdir(parents=True)
    (folder / f"config/studies/{STUDY}.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    (folder / "config/config.yaml").write_text(f"studies: [{STUDY}]\nplatform: gpu\n", encoding="utf-8")
    (folder / f"kernels/{STUDY}/problem.py").write_text(PROBLEM, encoding="utf-8")
    write_kernels(folder, lambda kernel: (1000, 1000))


def write_kernels(folder: Path, edit: Callable[[str], tuple[int, int]]) -> None:
    """Write the kernels, each with an offset and a number of thousandths."""
    for kernel in PER_MILLE:
        offset, per_mille = edit(kernel)
        text = SOURCE.format(kernel=kernel, offset=offset, per_mille=per_mille)
        (folder / f"kernels/{STUDY}/{kernel}.cu").write_text(text, encoding="utf-8")


def compare(folder: Path) -> float:
    """Run `snakemake compare`; returns its seconds."""
    started = time.monotonic()
    command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--cores", "8", "compare"]
    subprocess.run(command, cwd=folder, check=True)
    return time.monotonic() - started


def read(path: Path) -> list[Row]:
    """The rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def rounds_of(row: Row) -> int:
    """A point's number of rounds."""
    return int(dict(part.split("=") for part in row["parameters"].split())["rounds"])


def launch_in_rounds(rows: Sequence[Row]) -> int:
    """The time of no rounds, in rounds: where the line through a kernel's points cuts the axis."""
    rounds, times = (np.array([float(found(row)) for row in rows]) for found in (rounds_of, lambda row: row["time_us"]))
    slope, start = np.polyfit(rounds, times, 1, w=1 / times)
    return max(0, round(float(start / slope)))


def share(rows: Sequence[Row], *verdicts: str) -> float:
    """The share of rows with one of these verdicts."""
    return sum(row["verdict"] in verdicts for row in rows) / len(rows)


def judged(rows: Sequence[Row]) -> tuple[list[str], bool]:
    """A line a planted slowdown, and whether the goals are met."""
    lines, is_met = [], True
    for per_mille in sorted(set(PER_MILLE.values())):
        those = [row for row in rows if PER_MILLE[row["kernel"]] == per_mille]
        long = [row for row in those if float(row["time_before_us"]) >= JUDGED_US]
        called, decided = share(those, "faster", "slower"), 1 - share(long, "undecided")
        ratio = float(np.exp(np.mean([np.log(float(row["ratio"])) for row in long])))
        lines.append(
            f"{per_mille / 1000 - 1:.0%} planted, {ratio - 1:+.2%} measured: {len(those)} points, {called:.1%} called "
            f"faster or slower; from {JUDGED_US:g} us up {share(long, 'slower'):.1%} slower, {decided:.1%} decided"
        )
        if per_mille == 1000:
            is_met &= called <= MOST_CALLED and decided >= LEAST_DECIDED
        elif per_mille >= 1020:
            is_met &= share(long, "slower") >= LEAST_FOUND
    return lines, is_met


def main() -> int:
    """Sweep, edit and compare, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sweep", choices=("short", "full"), default="full")
    values = {"short": 5, "full": 15}[parser.parse_args().sweep]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_repository(folder, values)
        seconds = [compare(folder)]
        offsets = {}
        for kernel in PER_MILLE:
            (path,) = folder.glob(f"results/*/points/{STUDY}/{kernel}.csv")
            offsets[kernel] = launch_in_rounds([row for row in read(path) if row["time_us"]])
        write_kernels(folder, lambda kernel: (offsets[kernel] + 1, PER_MILLE[kernel]))
        seconds.append(compare(folder))
        (path,) = folder.glob("results/*/comparison/comparison.csv")
        rows = [row for row in read(path) if row["ratio"]]
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    with OUTPUT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    lines, is_met = judged(rows)
    print("", *lines, f"the sweep took {seconds[0]:.0f} s, the comparison {seconds[1]:.0f} s", sep="\n")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
