"""A sweep through a real Slurm, of this test's own, with two pretend GPUs."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from private_slurm import private_slurm
from workflow_runs import shrink, snakemake

POINTS = "results/emulator/measurements.csv"

# Until the first look at submitted jobs; from then on the plugin looks 10 s later each time, unless one has ended well.
SECONDS_BETWEEN_LOOKS = "11"


@pytest.mark.slurm
def test_a_sweep_through_slurm_ends_like_a_local_one_though_a_job_is_killed(project: Path, tmp_path: Path) -> None:
    shrink(project, "shared_memory", "shuffle")
    run = snakemake(project, POINTS)
    assert run.returncode == 0, run.stdout
    local = (project / POINTS).read_text()
    with (project / POINTS).open(newline="") as file:
        assert {row["status"] for row in csv.DictReader(file)} == {"ok"}

    # The builds stay: this test is about the devices that points run on.
    for entry in (project / "results/emulator").iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        elif entry.name != "device.json":
            entry.unlink()
    command = [sys.executable, "-m", "snakemake", "--workflow-profile", "workflow/profiles/slurm", POINTS]
    command += ["--config", "platform=emulator", "--set-resources", "measure_on_emulator:gpu=1", "--latency-wait", "5"]
    # This Slurm keeps no accounts, which the plugin would look for.
    command += ["--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", SECONDS_BETWEEN_LOOKS]
    output = tmp_path / "output.txt"
    with private_slurm() as environment, output.open("w") as file:
        process = subprocess.Popen(command, cwd=project, env=environment, stdout=file, stderr=file)
        try:
            devices = devices_of_jobs_side_by_side(process, environment)
            assert devices == {"0", "1"}
            assert process.wait(timeout=240) == 0, output.read_text()
        finally:
            process.kill()
            process.wait()

    text = output.read_text()
    assert (project / POINTS).read_text() == local
    # Slurm ran both kernels, and the killed one again; local rules such as `collect` ran on this machine.
    # The device is described on a node, too, since the local run's description was made here.
    submitted = len(re.findall("has been submitted with SLURM jobid", text))
    assert submitted == 3 + len(re.findall("^rule describe_device:", text, re.M)), text
    assert "SLURM status is: 'CANCELLED'" in text and "localrule collect" in text
    logs = sorted(path.name for path in (project / "results/emulator/logs/measure_kernel/warp_shuffle").iterdir())
    assert logs == ["shared_memory.log", "shuffle.log"]


def devices_of_jobs_side_by_side(process: subprocess.Popen[bytes], environment: Mapping[str, str]) -> set[str]:
    """Wait until two jobs run, and end one: which GPUs they were given, by their numbers."""
    while process.poll() is None:
        asked = ["scontrol", "show", "-d", "jobs"]
        jobs = subprocess.run(asked, capture_output=True, text=True, env=environment).stdout.split("\n\n")
        started = (re.search(r"^JobId=(\d+)(?s:.*)JobState=RUNNING(?s:.*)IDX:(\d)\)", job) for job in jobs)
        devices = dict(job.groups() for job in started if job)
        if len(devices) == 2:
            subprocess.run(["scancel", min(devices)], check=True, env=environment)
            return set(devices.values())
        time.sleep(0.05)
    return set()
