"""What is changed of Snakemake's inside takes effect with the release that is installed, and a run needs none of it."""

from __future__ import annotations

import os
from pathlib import Path

from workflow_runs import shrink, snakemake

SCHEDULER = "snakemake.scheduling.job_scheduler:JobScheduler"
POINTS = "results/emulator/points/warp_shuffle/shuffle.csv"


def test_each_change_takes_effect_with_the_installed_snakemake(project: Path) -> None:
    # Pins: a release of another form, with which every run is slow and Ctrl-C ends in a stack, in silence.
    shrink(project, ["warp_shuffle"])
    snakefile = project / "Snakefile"
    snakefile.write_text(snakefile.read_text() + '\nprint("changed:", *PATCHED)\n')
    run = snakemake(project, POINTS, "--dry-run")
    assert run.returncode == 0, run.stdout
    (line,) = [line for line in run.stdout.splitlines() if line.startswith("changed: ")]
    assert line.split()[1:] == [
        f"{SCHEDULER}._schedule_reevalutation",
        "snakemake.persistence:PersistenceBase._serialize_param",
        "snakemake.script:PythonScript.execute_script",
        f"{SCHEDULER}.schedule",
        f"{SCHEDULER}.exit_gracefully",
    ]


def test_a_run_without_any_change_ends_with_its_answer(project: Path) -> None:
    shrink(project, ["warp_shuffle"])
    (project / "config/studies/warp_shuffle.yaml").write_text("title: One kernel\nkernels: [{name: shuffle}]\n")
    run = snakemake(project, "warp_shuffle", environment={**os.environ, "KERNELSWEEP_PATCHES": "none"})
    assert run.returncode == 0, run.stdout
    answer, page = run.stdout.rstrip().rpartition("Every point that was run is right.")[1:]
    assert answer and page.splitlines()[-1].startswith("  Page  file://")
