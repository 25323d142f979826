"""Run Snakemake on a copy of the project, as a user would, and read its output."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml
from checkout import ROOT, copy_project
from emulator_units import UNITS

from kernelsweep.base.fork_server import ForkServer

# A sweep of a few points, so that a whole run takes seconds.
SMALL_AXES = {"array_size": [1, 1000], "block_size": [64]}


def share_builds(project: Path) -> None:
    """Give a project without results the units that the others compile."""
    build = project / "results/build"
    if not build.exists():
        build.mkdir(parents=True)
        UNITS.mkdir(exist_ok=True)
        (build / "units").symlink_to(UNITS)


def shrink(project: Path, *kernels: str, **settings: Any) -> None:
    """Cut the copy down to the study warp_shuffle on SMALL_AXES; and, where some are named, to these kernels of it.

    settings  other values of the study's keys

    The other studies go: to read and check their kernels takes a second at every start of Snakemake.
    """
    for path in (project / "config/studies").glob("*.yaml"):
        if path.stem != "warp_shuffle":
            path.unlink()
    path = project / "config/config.yaml"
    path.write_text(re.sub(r"(?m)^studies: .*$", "studies: [warp_shuffle]", path.read_text()))
    path = project / "config/studies/warp_shuffle.yaml"
    study = yaml.safe_load(path.read_text())
    study |= {"platforms": {"emulator": {"axes": SMALL_AXES}}, "figures": ["ladder"]}
    if kernels:
        study["kernels"] = [kernel for kernel in study["kernels"] if kernel["name"] in kernels]
    without = ("further", "steps", "published") if kernels else ("further",)
    study = {key: value for key, value in study.items() if key not in without} | settings
    path.write_text(yaml.safe_dump(study, sort_keys=False, width=1000))


# The studies of a finished project, and their kernels: one of a user's own, and a shipped one.
FINISHED_STUDIES = {"mine": ["interleaved", "unrolled"], "warp_shuffle": ["global_memory", "shared_memory", "shuffle"]}
OWN_STUDY = """\
title: Mine
problem: kernels/reduction_problem.py
cxx: {operation: {sum: Sum}}
axes: {dtype: [int32], operation: [sum], array_size: [2^24], block_size: [512], unroll: [1]}
restrictions: [unroll <= array_size]
platforms: {emulator: {axes: {array_size: [1, 1000], block_size: [64]}}}
kernels:
  - &interleaved
    name: interleaved
    function: interleaved<dtype, operation>
    launches:
      - {grid: array_size / (block_size * unroll), block: block_size, arguments: [data, partials, array_size]}
    arrays: {partials: {size: array_size / (block_size * unroll), dtype: dtype}}
    results: {partials: ceil(array_size / (block_size * unroll))}
    updates: [data]
  - <<: *interleaved
    name: unrolled
    function: unrolled<dtype, operation, unroll>
    axes: {unroll: [4], block_size: [64, 256]}
steps: [{kernel: interleaved}, {kernel: unrolled, unroll: 4}]
figures: []
"""


def finish_project(folder: Path) -> Path:
    """A copy of the project, under `folder`, with FINISHED_STUDIES only, in which `all` has run on the emulator."""
    project = copy_project(folder)
    shrink(project)
    (project / "config/studies/mine.yaml").write_text(OWN_STUDY)
    (project / "kernels/mine").mkdir()
    for kernel in FINISHED_STUDIES["mine"]:
        shutil.copy(project / f"kernels/unrolling/{kernel}.cu", project / "kernels/mine")
    config = project / "config/config.yaml"
    edit(config, "studies: [warp_shuffle]", f"studies: [{', '.join(FINISHED_STUDIES)}]")
    edit(config, "figure_widths: [two_columns]", "figure_widths: [two_columns, one_column]")
    run = snakemake(project, "all", shares_builds=False)
    assert run.returncode == 0, run.stdout
    assert "Every point that was run is right." in run.stdout
    return project


def edit(path: Path, old: str, new: str) -> None:
    """Replace the first occurrence of a text in a file, which must have it."""
    text = path.read_text(encoding="utf-8")
    assert old in text, path
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


_FORKS = ForkServer()


def snakemake(
    project: Path,
    *arguments: str,
    environment: dict[str, str] | None = None,
    timeout: int = 240,
    shares_builds: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Run `snakemake --quiet host ARGUMENTS` in the copy, on the emulator unless the arguments say otherwise.

    The output has every job's files and wildcards, which the project's profile leaves out. Snakemake runs in a fork,
    which saves its imports; with a PYTHONPATH of its own, in a new Python.
    """
    if shares_builds:
        share_builds(Path(arguments[arguments.index("-d") + 1]) if "-d" in arguments else project)
    command = ["--quiet", "host", "--cores", "2", *arguments]
    if "--config" not in arguments:
        command += ["--config", "platform=emulator"]
    variables = dict(environment or os.environ)
    # Else each job would compile the library anew. The copy is the test's own.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as output:
        if environment and "PYTHONPATH" in environment:
            new_python = [sys.executable, "-m", "snakemake", *command]
            status = subprocess.run(
                new_python, cwd=project, stdout=output, stderr=subprocess.STDOUT, timeout=timeout, env=variables
            ).returncode
        else:
            named = [arguments[at + 1] for at, word in enumerate(arguments) if word in ("-s", "--snakefile")]
            home = Path(named[0]).parent if named else project
            # A copy of the project has a library of its own.
            request = {"folder": str(project), "output": output.name, "seconds": timeout, "arguments": command}
            request["library"] = str(home) if home != ROOT and (home / "workflow").exists() else ""
            script = Path(__file__).with_name("forked_snakemake.py")
            status = _FORKS.run(str(script), "snakemake", {**variables, "FORKED_SNAKEMAKE": json.dumps(request)})
        return subprocess.CompletedProcess(command, status, Path(output.name).read_text(encoding="utf-8"))


def planned_jobs(project: Path, target: str = "all") -> set[str]:
    """The jobs of a dry run, as "rule wildcard values": {"measure_on_emulator emulator unrolling interleaved"}."""
    run = snakemake(project, target, "--dry-run")
    assert run.returncode == 0, run.stdout
    jobs = set()
    for block in re.split(r"\n(?=\[)", run.stdout):
        rule = re.search(r"^(?:local)?(?:rule|checkpoint) (\w+):", block, re.MULTILINE)
        if not rule:
            continue
        wildcards = re.search(r"^\s+wildcards: (.*)$", block, re.MULTILINE)
        values = [pair.split("=")[1] for pair in wildcards[1].split(", ")] if wildcards else []
        jobs.add(" ".join([rule[1], *values]))
    return jobs
