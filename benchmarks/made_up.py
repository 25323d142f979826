"""A made-up project for the scripts and tests of growth: the workflow as it is, with studies and kernels of no meaning.

They import it; it has no command of its own.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent

# Each made-up kernel is this one under another name.
TEMPLATE = "shuffle"
TEMPLATE_FILE = f"kernels/warp_shuffle/{TEMPLATE}.cu"

# 50 sizes, 10 block sizes, 5 unroll factors, 2 types and 2 states of the cache are 10,000 points; 100 variants.
AXES = {
    "array_size": [1000 * size for size in range(1, 51)],
    "block_size": [32, 64, 96, 128, 192, 256, 384, 512, 768, 1024],
    "unroll": [1, 2, 4, 8, 16],
    "dtype": ["int32", "float32"],
    "operation": ["sum"],
    "cache": ["cold", "hot"],
}


def make_project(folder: Path, studies: int, kernels: int) -> Path:
    """A copy of the project in `folder`, with so many made-up studies of so many kernels each instead of its own."""
    project = folder / "project"
    shutil.copytree(ROOT / "workflow", project / "workflow", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("envs", "resources", "kernels/include"):
        shutil.copytree(ROOT / name, project / name)
    shutil.copy(ROOT / "Snakefile", project)
    (project / "config/studies").mkdir(parents=True)
    shutil.copy(ROOT / "config/metrics.yaml", project / "config")
    names = [f"made_up_{number}" for number in range(studies)]
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    # YAML, too; and JSON is read ten times as fast.
    (project / "config/config.yaml").write_text(json.dumps({**config, "studies": names}))
    for name in names:
        make_study(project, name, kernels)
    return project


def make_study(project: Path, name: str, kernels: int) -> None:
    """Write a study's file and its kernels' sources."""
    source = (ROOT / TEMPLATE_FILE).read_text(encoding="utf-8")
    folder = project / "kernels" / name
    folder.mkdir()
    named = [f"kernel_{number:04}" for number in range(kernels)]
    for kernel in named:
        (folder / f"{kernel}.cu").write_text(source.replace(f"void {TEMPLATE}(", f"void {kernel}("))
    study = {
        "title": f"Made up: {name}",
        "kernels": [{"name": kernel} for kernel in named],
        "axes": AXES,
        "reference": {"array_size": 10_000, "block_size": 256, "dtype": "int32", "operation": "sum", "cache": "cold"},
        "ladder": [{"kernel": kernel, "unroll": 1} for kernel in named[:10]],
        "figures": ["ladder", "bandwidth", "block_unroll"],
    }
    (project / f"config/studies/{name}.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
