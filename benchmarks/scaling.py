"""How much faster is a sweep on several GPUs of one machine, and are its times the same? In a copy of the project.

    uv run --extra gpu python benchmarks/scaling.py

Builds all kernels, then sweeps them twice from nothing: on the first visible GPU alone, and on all of its model. The
measuring part is the time from the first lease of a GPU to the end of the last one, as the jobs' logs have them: so
what is built, drawn or started before and after it doesn't count, but what stands between two leases does. A GPU's
share is the part of that time in which some job had it.

The goals: on N GPUs, the measuring part is at least 0.8 N times as fast; and of the points of 20 us and more, at most
1% have medians that differ by more than 2%. Shorter ones are shown, and not judged: they differ by more from run to run
of one GPU. The exit status is 0 where both are met.

With --folders, two folders of results that are there already take the place of the sweeps: the one GPU's, then that of
several.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from compare_edits import copied
from support.own_sweep import gpu

from kernelsweep.judge.comparison.sides import Name, name_of
from kernelsweep.platforms.gpus import visible_gpus

LEAST_OF_PERFECT = 0.8
LONG_US = 20.0
SAME_WITHIN = 0.02
MOST_APART = 0.01

# The lines that workflow/scripts/measure/measure_kernel.py prints when it acquires a GPU and when it releases it.
LEASE = re.compile(r"^on [^,]*, (?P<uuid>\S+), from (?P<begin>\S+)$.*?^until (?P<end>\S+)$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Lease:
    """A GPU, and when a job got it and gave it back: seconds since 1970."""

    uuid: str
    begin: float
    end: float


@dataclass(frozen=True)
class Measuring:
    """A sweep's measuring part.

    seconds  from its first lease to the end of the last
    shares   of each GPU, the fraction of that time in which some job had it
    leases   how many there were
    """

    seconds: float
    shares: dict[str, float]
    leases: int


@dataclass(frozen=True)
class Difference:
    """How far the medians of two sweeps lie apart, in points of some length: fractions of the first one."""

    points: int
    median: float
    largest: float
    apart: float


def leases(results: Path) -> list[Lease]:
    """The leases in the logs of a folder of results."""
    texts = (path.read_text() for path in sorted(results.glob("logs/measure_*/**/*.log")))
    return [
        Lease(found["uuid"], seconds(found["begin"]), seconds(found["end"]))
        for text in texts
        for found in LEASE.finditer(text)
    ]


def seconds(stamp: str) -> float:
    """A time as Python's isoformat() writes it."""
    return datetime.fromisoformat(stamp).timestamp()


def measuring(found: Sequence[Lease]) -> Measuring:
    """The measuring part. Raises ValueError where a GPU was leased twice at once, or there is no lease at all."""
    if not found:
        raise ValueError("no log has a lease: was all of it in the journal, or measured by another version?")
    span = max(lease.end for lease in found) - min(lease.begin for lease in found)
    shares = {}
    for uuid in sorted({lease.uuid for lease in found}):
        own = sorted((lease for lease in found if lease.uuid == uuid), key=lambda lease: lease.begin)
        for one, following in itertools.pairwise(own):
            if following.begin < one.end:
                raise ValueError(f"two jobs had {uuid} at once, from {following.begin} on")
        shares[uuid] = sum(lease.end - lease.begin for lease in own) / span
    return Measuring(span, shares, len(found))


def times(results: Path) -> dict[Name, float]:
    """The medians of a folder of results, microseconds, by the points' names."""
    with (results / "measurements.csv").open(newline="", encoding="utf-8") as file:
        return {name_of(row): float(row["time_us"]) for row in csv.DictReader(file) if row["device_uuid"]}


def difference(
    one: Mapping[Name, float], several: Mapping[Name, float], least_us: float, below_us: float
) -> Difference:
    """The points that both have and that take so long on the one GPU. Raises ValueError where there are none."""
    found = [
        abs(several[name] / time_us - 1)
        for name, time_us in one.items()
        if name in several and least_us <= time_us < below_us
    ]
    if not found:
        raise ValueError(f"the sweeps have no point of {least_us:g} us and more in common")
    apart = sum(value > SAME_WITHIN for value in found) / len(found)
    return Difference(len(found), statistics.median(found), max(found), apart)


def verdicts(one: Measuring, several: Measuring, long: Difference) -> dict[str, bool]:
    """Whether each goal is met."""
    return {
        "speed": one.seconds / several.seconds >= LEAST_OF_PERFECT * len(several.shares),
        "same times": long.apart <= MOST_APART,
    }


def snakemake(project: Path, cores: int, target: str, visible: Sequence[str], config: Sequence[str]) -> None:
    """Run a target on those GPUs. Ends the script where it fails."""
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores), target]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ",".join(visible)}
    if subprocess.run([*command, "--config", *config], cwd=project, env=environment).returncode != 0:
        sys.exit(f"snakemake {target} failed")


def swept(folder: Path, cores: int, config: Sequence[str]) -> tuple[Path, Path]:
    """Sweep on one GPU and on all of its model, in `folder`: the two folders of results. Ends the script on failure."""
    first = gpu()
    uuids = [one.uuid for one in visible_gpus() if one.platform == first.platform]
    if len(uuids) < 2:
        sys.exit(f"Only one {first.name} is visible here; this takes two.")
    project = copied(folder / "project")
    results = project / "results" / first.platform
    config = ["platform=gpu", *config]
    snakemake(project, cores, "build", uuids, config)
    kept = []
    for visible in (uuids[:1], uuids):
        snakemake(project, cores, str((results / "measurements.csv").relative_to(project)), visible, config)
        kept.append(folder / f"gpus_{len(visible)}" / first.platform)
        kept[-1].parent.mkdir()
        results.rename(kept[-1])
    return kept[0], kept[1]


def main() -> int:
    """Sweep, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folders", type=Path, nargs=2, help="two folders of results, instead of sweeping")
    parser.add_argument("--keep", type=Path, help="an empty folder for the copy of the project and both results")
    parser.add_argument("--cores", type=int, default=8)
    parser.add_argument("--config", nargs="+", default=[], help="for Snakemake, such as sweep=quick points_per_job=100")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/scaling.json"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folders = arguments.folders or swept(folder.resolve(), arguments.cores, arguments.config)
        one, several = (measuring(leases(results)) for results in folders)
        of_one, of_several = (times(results) for results in folders)

    for part in (one, several):
        shares = ", ".join(f"{uuid} {share:.0%}" for uuid, share in part.shares.items())
        print(f"{len(part.shares)} GPUs: measuring took {part.seconds:.1f} s, {part.leases} leases ({shares})")
    count = len(several.shares)
    ratio = one.seconds / several.seconds
    print(f"{ratio:.2f} times as fast on {count} GPUs (at least {LEAST_OF_PERFECT * count:.2f})")
    results: dict[str, Any] = {"one": asdict(one), "several": asdict(several), "ratio": ratio}
    long = difference(of_one, of_several, LONG_US, float("inf"))
    for title, found in (("from 20 us", long), ("all", difference(of_one, of_several, 0, float("inf")))):
        results[title] = asdict(found)
        print(
            f"{title}: {found.points} points, {found.apart:.2%} with medians more than {SAME_WITHIN:.0%} apart; "
            f"half of them within {found.median:.2%}, the farthest {found.largest:.2%}"
        )
    results["met"] = verdicts(one, several, long)
    print(*(f"{goal}: {'met' if met else 'MISSED'}" for goal, met in results["met"].items()), sep="\n")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(results, indent=1) + "\n")
    return 0 if all(results["met"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
