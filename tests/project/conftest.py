"""The shipped project on a GPU of a cluster, the emulator and a recording, read once."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from kernelsweep.project.project import Project, load_project


@pytest.fixture(scope="session")
def shipped(root: Path) -> Project:
    """Two models of one architecture and one of another, the emulator and a recording."""
    config = yaml.safe_load((root / "config/config.yaml").read_text())
    config |= yaml.safe_load((root / "config/metrics.yaml").read_text())
    models = {"nvidia-h200": "sm_90", "nvidia-h100": "sm_90", "nvidia-l4": "sm_89"}
    config["gpu_models"] = {name: {"arch": arch} for name, arch in models.items()}
    config["gpu_models"]["nvidia-l4"]["resources"] = {"constraint": "l4", "runtime": 5}
    config["platform"] = [*models, "emulator", "recording/nvidia-h200"]
    return load_project(config, root)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which Snakemake runs, without results."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
