"""The environment of a measurement, for readers who want to trace or repeat it."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from kernelsweep.compile.toolkit import find_tool, tool_version

# The packages whose versions could change measurements or figures.
_PACKAGES = ("snakemake", "pycuda", "numpy", "pandas", "matplotlib", "seaborn", "nvidia-ml-py")


def describe_environment(
    device: Mapping[str, Any],
    compilers: Sequence[str],
    configuration: Mapping[str, Any],
    kernel_codes: Mapping[str, str],
) -> dict[str, Any]:
    """Device, host, compilers, profiler, packages, git revision and resolved configuration, with the time (UTC).

    profiler is the installed release of Nsight Compute, or None. The configuration, under profiling, says how it treats
    clocks and caches.

    kernel_codes  a hash of each kernel's code, by `study/kernel`, by which a recording tells what was edited since
    """
    ncu = find_tool("ncu")
    return {
        "measured": time.strftime("%FT%TZ", time.gmtime()),
        "device": dict(device),
        "host": {"processor": processor_name(), "system": platform.platform(), "python": platform.python_version()},
        "compilers": list(compilers),
        "profiler": f"Nsight Compute {tool_version(ncu)}".strip() if ncu else None,
        "packages": {name: one.version for name in _PACKAGES for one in distributions(name=name)},
        "git_revision": git_revision(),
        "configuration": dict(configuration),
        "kernel_codes": dict(kernel_codes),
    }


def processor_name() -> str:
    """The model name of the host's processor."""
    table = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: (.*)", table.read_text(encoding="utf-8")) if table.is_file() else None
    return named[1] if named else platform.processor() or platform.machine()


def git_revision(folder: Path = Path()) -> str | None:
    """The commit that is checked out in the folder's repository, with "-dirty" if files differ from it.

    Outside a repository, the environment variable KERNELSWEEP_REVISION can name it; otherwise it is None.
    """
    # `git describe` looks through the whole history for a tag, in the job of each kernel.
    command = ["git", "--no-optional-locks", "status", "--porcelain=v2", "--branch", "--untracked-files=no"]
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace", check=True)
    except (OSError, subprocess.CalledProcessError):
        return os.environ.get("KERNELSWEEP_REVISION")
    first, *lines = run.stdout.splitlines()
    return first.removeprefix("# branch.oid ") + "-dirty" * any(line[0] != "#" for line in lines)
