"""The three ways to install are one environment: uv's, conda's, and the containers', which is uv's on a base image."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

# conda-forge's packages that PyPI has not, at least not as these.
TOOLS = {"binutils", "cuda-nvcc", "cuda-sanitizer-api", "cuda-version", "gxx", "nsight-compute", "python"}


def project(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text())


def pinned(requirements: list[str]) -> dict[str, str]:
    """Versions by package."""
    return dict(requirement.split("==") for requirement in requirements)


def conda_packages(root: Path, name: str) -> dict[str, str]:
    """Versions by package, of one of envs/."""
    environment = yaml.safe_load((root / f"envs/{name}.yaml").read_text())
    assert environment["channels"] == ["conda-forge", "nodefaults"]
    return dict(re.split(r">?=", package) for package in environment["dependencies"])


def test_every_package_of_the_environment_is_pinned(root: Path) -> None:
    settings = project(root)
    groups = [*settings["project"]["optional-dependencies"].values(), *settings["dependency-groups"].values()]
    pins = [pin for group in groups for pin in group if "[" not in pin]
    pins += settings["tool"]["uv"]["constraint-dependencies"]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in pins)
    names = {pin.split("==")[0].lower().replace("_", "-") for pin in pins}
    # uv resolves for every Python from 3.11 up, with the extra gpu and all groups.
    export = ["uv", "export", "-q", "--all-extras", "--all-groups", "--no-hashes", "--no-emit-project", "--no-annotate"]
    text = subprocess.run(export, cwd=root, capture_output=True, text=True, check=True).stdout
    resolved = set(re.findall(r"^([\w.-]+)==", text, re.MULTILINE))
    assert len(resolved) > 50
    assert resolved <= names, f"not pinned: {sorted(resolved - names)}"


@pytest.mark.parametrize("name", ["kernelsweep", "profiling"])
def test_the_conda_environments_have_pyprojects_packages_and_versions(root: Path, name: str) -> None:
    settings, pins = project(root)["project"], pinned(project(root)["tool"]["uv"]["constraint-dependencies"])
    wanted = {name: pins[name] for name in (re.split("[<>=]", one)[0] for one in settings["dependencies"])}
    wanted |= pinned(settings["optional-dependencies"]["gpu"])
    wanted.pop("snakemake")  # It runs outside the environments that it makes.
    for package in ("matplotlib", "seaborn"):  # conda-forge's names for these without a GUI
        wanted[f"{package}-base"] = wanted.pop(package)
    found = conda_packages(root, name)
    # The newest that was seen on conda-forge; the solver may take a newer one.
    assert found["pycuda"] <= wanted["pycuda"]
    wanted["pycuda"] = found["pycuda"]
    assert {package: version for package, version in found.items() if package not in TOOLS} == wanted
    oldest = re.fullmatch(r">=3\.(\d+)", settings["requires-python"])
    assert oldest is not None
    assert int(found["python"].removeprefix("3.")) >= int(oldest[1])
