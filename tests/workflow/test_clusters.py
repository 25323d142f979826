"""Jobs under the profile for Slurm: what they request, by Snakemake's plan, and what a node that dies costs."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from private_slurm import kill_node, private_slurm
from workflow_runs import share_builds, shrink, snakemake

from kernelsweep.results import read_rows

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
def test_a_node_that_dies_and_a_job_that_is_sent_back_cost_no_point(project: Path, tmp_path: Path) -> None:
    sizes, journals = range(1, 25), project / "results/emulator/journal/warp_shuffle"
    axes = {"array_size": [*sizes], "block_size": [64], "unroll": [1]}
    shrink(project, "shuffle", platforms={"emulator": {"axes": axes}})
    kernel = project / "kernels/warp_shuffle/shuffle.cu"
    text = re.sub(r"(__global__[^{]*\{)", r"\1 if (threadIdx.x == 0) usleep(200000);", kernel.read_text())
    kernel.write_text(f"#include <unistd.h>\n{text}")
    share_builds(project)
    target, output = "results/emulator/points/warp_shuffle/shuffle.csv", tmp_path / "output.txt"
    command = [sys.executable, "-m", "snakemake", "--workflow-profile", "workflow/profiles/slurm", target]
    command += ["--config", "platform=emulator", "points_per_job=6", "--set-resources", "measure_chunk:gpu=1"]
    command += ["--latency-wait", "5", "--slurm-status-command", "squeue"]
    command += ["--slurm-init-seconds-before-status-checks", "3"]

    def lines() -> list[str]:
        whole = [path.read_text().rpartition("\n")[0].splitlines() for path in journals.glob("**/*.jsonl")]
        return [line for of_file in whole for line in of_file]

    # Two pretended GPUs a node: four chunks at once.
    with private_slurm(nodes=2) as environment, output.open("w") as file:
        process = subprocess.Popen(command, cwd=project, env=environment, stdout=file, stderr=file)
        try:
            jobs: list[str] = []
            while process.poll() is None and (len(jobs) < 4 or len(lines()) < 4):
                time.sleep(0.1)
                asked = ["squeue", "-h", "-t", "running", "-o", "%i %N"]
                jobs = subprocess.run(asked, capture_output=True, text=True, env=environment).stdout.splitlines()
            kill_node("node1", environment)
            back = next(job.split()[0] for job in jobs if job.endswith("node2"))
            for control in (["requeue", back], ["update", "NodeName=node1", "State=DOWN", "Reason=dead"]):
                subprocess.run(["scontrol", *control], check=True, env=environment)
            assert process.wait(timeout=400) == 0, output.read_text()
        finally:
            process.kill()
            process.wait()
    rows = read_rows(project / target)
    assert [int(row["array_size"]) for row in rows] == [*sizes] and {row["status"] for row in rows} == {"ok"}
    keys = [key for line in lines() if (key := json.loads(line)["key"]) != "sweep"]
    assert len(keys) == len({*keys}) == len(sizes), "a point was lost, or run twice"
