"""Locate the tools of the CUDA toolkit: nvcc, Nsight Compute, compute-sanitizer."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sysconfig

DEFAULT_TOOLKIT = "/usr/local/cuda"  # NVIDIA's installers put it there, often without adding it to the PATH.
_PACKAGE = "nvidia/cu[0-9]*"  # the folder that NVIDIA's packages on PyPI share


def find_tool(name: str, *subfolders: str) -> str | None:
    """The path of a tool, the first that tool_paths() finds."""
    return next(iter(tool_paths(name, *subfolders)), None)


def tool_paths(name: str, *subfolders: str, release: str = "") -> list[str]:
    """The paths of a tool: on the PATH; in bin or one of `subfolders` of CUDA_HOME, of DEFAULT_TOOLKIT and of NVIDIA's
    packages in this environment; and of a toolkit of a `release`, if one is named, beside DEFAULT_TOOLKIT, or in
    toolkits/<release> of the user's repository, as pip's --target leaves it.
    """
    folders = [f"{toolkit}/{folder}" for toolkit in toolkits(release) for folder in ("bin", *subfolders)]
    return list(filter(None, (shutil.which(name, path=folder) for folder in (None, *folders))))


def toolkits(release: str = "") -> list[str]:
    """The folders in which a toolkit may lie, as tool_paths() looks into them."""
    found = [os.environ.get("CUDA_HOME"), DEFAULT_TOOLKIT, *glob.glob(f"{sysconfig.get_path('purelib')}/{_PACKAGE}")]
    if release:
        found += [f"{DEFAULT_TOOLKIT}-{release}", *glob.glob(os.path.abspath(f"toolkits/{release}/{_PACKAGE}"))]
    return [*filter(None, found)]


def not_found(tool: str) -> str:
    """A sentence for the user: find_tool() has not found the tool."""
    return f"{tool} was not found on the PATH, nor under CUDA_HOME or {DEFAULT_TOOLKIT}, nor in a package of NVIDIA's"


def tool_version(tool: str) -> str:
    """The release that a tool prints, such as "2025.3.0.0"; empty if it prints none."""
    run = subprocess.run([tool, "--version"], capture_output=True, encoding="utf-8", errors="replace")
    match = re.search(r"[Vv]ersion:? (\d+(?:\.\d+)+)", run.stdout + run.stderr)
    return match[1] if match else ""
