"""Locate the tools of the CUDA toolkit: nvcc, Nsight Compute, compute-sanitizer."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

DEFAULT_TOOLKIT = "/usr/local/cuda"  # NVIDIA's installers put it there, often without adding it to the PATH.


def find_tool(name: str, *subfolders: str) -> str | None:
    """The path of a tool: on the PATH, else in bin or one of `subfolders` of CUDA_HOME or of DEFAULT_TOOLKIT."""
    toolkits = filter(None, (os.environ.get("CUDA_HOME"), DEFAULT_TOOLKIT))
    folders = [f"{toolkit}/{folder}" for toolkit in toolkits for folder in ("bin", *subfolders)]
    return next(filter(None, (shutil.which(name, path=folder) for folder in (None, *folders))), None)


def not_found(tool: str) -> str:
    """A sentence for the user: find_tool() has not found the tool."""
    return f"{tool} was not found on the PATH, nor under CUDA_HOME or {DEFAULT_TOOLKIT}"


def tool_version(tool: str) -> str:
    """The release that a tool prints, such as "2025.3.0.0"; empty if it prints none."""
    run = subprocess.run([tool, "--version"], capture_output=True, encoding="utf-8", errors="replace")
    match = re.search(r"[Vv]ersion:? (\d+(?:\.\d+)+)", run.stdout + run.stderr)
    return match[1] if match else ""
