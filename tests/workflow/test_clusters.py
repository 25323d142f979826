"""The resources that jobs request under the profile for Slurm, read from Snakemake's plan, without a cluster."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from workflow_runs import shrink, snakemake

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
