"""Jobs under the profile for Slurm: what they request, by Snakemake's plan, and what a dead node and lost jobs cost."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from private_slurm import kill_node, private_slurm
from workflow_runs import edit, shrink, snakemake

from kernelsweep.results import read_rows

POINTS, LOGS = "results/emulator/measurements.csv", "logs/measure_kernel/warp_shuffle"
SWEPT = {"block_size": [64], "unroll": [1]}
# A job's number, its node and its GPU, in the answer of scontrol.
RUNNING_ON_A_GPU = r"JobId=(\d+)(?s:.*)JobState=RUNNING(?s:.*) Nodes=(\w+)(?s:.*)IDX:(\d)\)"

MODELS = """\
platform: [nvidia-h200, nvidia-l4, emulator]
gpu_models:
  nvidia-h200: {arch: sm_90, resources: {constraint: h200}}
  nvidia-l4: {arch: sm_89, resources: {gpu_model: l4}}
"""


def test_what_measures_asks_for_a_gpu_of_its_model_and_nothing_else_does(project: Path) -> None:
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        pytest.skip("snakemake-executor-plugin-slurm is not installed (uv run --group test --extra slurm pytest)")
    shrink(project)
    (project / "models.yaml").write_text(MODELS)
    arguments = ["all", "--dry-run", "--workflow-profile", "workflow/profiles/slurm", "--configfile", "models.yaml"]
    run = snakemake(project, *arguments, "--config", "sweep=full")
    assert run.returncode == 0, run.stdout

    jobs: dict[tuple[str, str], dict[str, str]] = {}
    for block in re.split(r"\n(?=\[)", run.stdout):
        if rule := re.search(r"^rule (\w+):", block, re.MULTILINE):
            of = re.search(r"wildcards: (?:platform|target)=([\w-]+)", block)
            asked = re.search(r"resources: (.*)$", block, re.MULTILINE)
            pairs = re.findall(r"(\w+)=([^,]*)", asked[1]) if asked else []
            jobs[rule[1], of[1] if of else ""] = dict(pairs)
    h200, l4 = jobs["measure_kernel", "nvidia-h200"], jobs["measure_kernel", "nvidia-l4"]
    assert (h200["gpu"], h200["constraint"]) == ("1", "h200")
    assert (l4["gpu"], l4["gpu_model"]) == ("1", "l4") and "constraint" not in l4
    assert jobs["describe_device", "nvidia-l4"]["gpu_model"] == "l4"
    assert h200["runtime"] == "60"
    # The emulator and the compiler need none.
    for job in (("measure_on_emulator", "emulator"), ("build_kernel", "sm_89"), ("build_kernel", "sm_90")):
        assert not {"gpu", "constraint", "gpu_model"} & jobs[job].keys(), job


@pytest.mark.slurm
def test_a_sweep_through_slurm_ends_like_a_local_one_whatever_becomes_of_its_jobs(
    project: Path, tmp_path: Path
) -> None:
    sizes, results, waits = range(1, 17), project / "results/emulator", tmp_path / "waits"
    shrink(project, "shared_memory", "shuffle", platforms={"emulator": {"axes": SWEPT | {"array_size": [*sizes]}}})
    study = project / "config/studies/warp_shuffle.yaml"
    edit(study, "- name: shared_memory\n", "- name: shared_memory\n  axes: {array_size: [1000]}\n")
    kernel = project / "kernels/warp_shuffle/shuffle.cu"
    waiting = f'while (array_size % 4 == 0 && threadIdx.x == 0 && !access("{waits}", 0)) usleep(20000);'
    text = re.sub(r"(__global__[^{]*\{)", rf"\1 {waiting}", kernel.read_text())
    kernel.write_text(f"#include <unistd.h>\n{text}")
    run = snakemake(project, POINTS)
    assert run.returncode == 0, run.stdout
    local = (project / POINTS).read_text()
    assert {row["status"] for row in read_rows(project / POINTS)} == {"ok"}

    # The builds stay: this test is about the devices that points run on.
    for entry in results.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        elif entry.name != "device.json":
            entry.unlink()
    waits.touch()
    command = [sys.executable, "-m", "snakemake", "--workflow-profile", "workflow/profiles/slurm", POINTS]
    command += ["--config", "platform=emulator", "points_per_job=4", "--set-resources", "measure_chunk:gpu=1"]
    # This Slurm keeps no accounts, which the plugin would look for. The plugin looks after 3 s, and 10 s later each
    # time unless a job has ended well.
    command += ["--latency-wait", "5", "--slurm-status-command", "squeue"]
    command += ["--slurm-init-seconds-before-status-checks", "3"]

    def keys() -> list[str]:
        """Of the points of the kernel that waits."""
        journals = results.glob("journal/warp_shuffle/shuffle*/**/*.jsonl")
        whole = [path.read_text().rpartition("\n")[0].splitlines() for path in journals]
        return [key for of_file in whole for line in of_file if (key := json.loads(line)["key"]) != "sweep"]

    output = tmp_path / "output.txt"
    # Two pretended GPUs a node: four chunks at once.
    with private_slurm(nodes=2) as environment, output.open("w") as file:
        process = subprocess.Popen(command, cwd=project, env=environment, stdout=file, stderr=file)
        try:
            jobs: list[tuple[str, ...]] = []
            while process.poll() is None and (len(jobs) < 4 or len(keys()) < 4):
                time.sleep(0.1)
                asked = ["scontrol", "show", "-d", "jobs"]
                told = subprocess.run(asked, capture_output=True, text=True, env=environment).stdout.split("\n\n")
                found = (re.search(RUNNING_ON_A_GPU, job) for job in told)
                jobs = [job.groups() for job in found if job]
            assert {job[1:] for job in jobs} == {(f"node{node}", gpu) for node in (1, 2) for gpu in "01"}
            kill_node("node1", environment)
            sent_back, ended = (job for job, node, _ in jobs if node == "node2")
            down = ["scontrol", "update", "NodeName=node1", "State=DOWN", "Reason=dead"]
            for control in (["scontrol", "requeue", sent_back], ["scancel", ended], down):
                subprocess.run(control, check=True, env=environment)
            waits.unlink()
            assert process.wait(timeout=240) == 0, output.read_text()
        finally:
            process.kill()
            process.wait()

    text = output.read_text()
    assert (project / POINTS).read_text() == local
    assert len(keys()) == len({*keys()}) == len(sizes), "a point was lost, or run twice"
    # Slurm ran both kernels, four chunks, and one of these again; local rules such as `collect` ran on this machine.
    # The device is described on a node, too, since the local run's description was made here.
    submitted = len(re.findall("has been submitted with SLURM jobid", text))
    assert submitted == 2 + 4 + 1 + len(re.findall("^rule describe_device:", text, re.M)), text
    assert text.count("SLURM status is: 'CANCELLED'") == 1 and "localrule collect" in text
    logs = {str(path.relative_to(results / LOGS)) for path in (results / LOGS).rglob("*.log")}
    assert logs == {"shared_memory.log", "shuffle.log", *(f"shuffle/{number}-of-4.log" for number in range(1, 5))}
