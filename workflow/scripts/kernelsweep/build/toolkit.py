"""What is the same for every tool of NVIDIA's that watches a process: where it is, and the process's start and end."""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
from collections.abc import Iterator

from kernelsweep.build.nvcc import DEFAULT_TOOLKIT

# How long a tool may take to instrument the process and start a context.
START_SECONDS = 180


def find_tool(name: str, *subfolders: str) -> str | None:
    """The path of one of the CUDA toolkit's tools: on the PATH, or in the toolkit's bin or one of its `subfolders`."""
    for folder in (None, *_toolkit_folders("bin", *subfolders)):
        if found := shutil.which(name, path=folder):
            return found
    return None


def _toolkit_folders(*subfolders: str) -> Iterator[str]:
    for toolkit in (os.environ.get("CUDA_HOME"), DEFAULT_TOOLKIT):
        yield from (f"{toolkit}/{name}" for name in subfolders if toolkit)


def tool_version(tool: str) -> str:
    """The release of a tool, such as "2025.3.0.0"; empty where it doesn't say."""
    run = subprocess.run([tool, "--version"], capture_output=True, encoding="utf-8", errors="replace")
    match = re.search(r"[Vv]ersion:? (\d+(?:\.\d+)+)", run.stdout + run.stderr)
    return match[1] if match else ""


def close_context() -> None:
    """End PyCUDA's context before the process ends: PyCUDA would abort it, which a tool reports as an error."""
    import pycuda.driver as cuda

    gc.collect()
    cuda.Context.pop()
