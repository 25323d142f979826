"""Fixtures and markers for all tests: copies of the checkout, and skips for missing hardware or programs."""

from __future__ import annotations

import ctypes
import fcntl
import gc
import importlib.util
import os
import shutil
import signal
import subprocess
from pathlib import Path

import matplotlib
import pytest
from checkout import ROOT, copy_project
from emulator_units import SHARED
from private_slurm import missing_programs
from workflow_runs import finish_project

from kernelsweep.compile import nvcc
from kernelsweep.device.worker import process
from kernelsweep.errors import BuildError

# Matplotlib's list of fonts stays where it is: each process would make it anew, in a second of the processor.
os.environ.setdefault("MPLCONFIGDIR", matplotlib.get_cachedir())
# Where the emulator's runtime is kept, which is compiled once in a test run.
os.environ["XDG_CACHE_HOME"] = str(SHARED / "cache")
# Workers are forks of this process, as they are of a job. It has threads, of pytest-xdist and of numpy, but a worker
# takes none of their locks, and a new Python for each would take the suite a minute.
process.thread_count = lambda: 1
# To look for garbage after each 700 objects, among all that is there, takes a tenth of the time of tests in Python.
gc.set_threshold(100_000, 20, 100)
# A shell that runs the tests in the background has them ignore Ctrl-C, and with them the runs that they interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def why_no_gpu() -> str | None:
    """The reason why tests can't run on a GPU here, or None if they can."""
    if importlib.util.find_spec("pycuda") is None:
        return "PyCUDA is not installed (uv run --group test --extra gpu pytest)"
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "NVIDIA's driver, libcuda.so.1, is not installed"
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return "NVIDIA's driver shows no GPU"
    return None


def why_no_nvcc() -> str | None:
    """The reason why tests can't compile for a GPU here, or None if nvcc is installed."""
    try:
        nvcc.find()
    except BuildError as error:
        return str(error)
    return None


def why_no_chromium() -> str | None:
    """The reason why tests can't open pages in a browser here, or None if they can."""
    if importlib.util.find_spec("selenium") is None:
        return "Selenium is not installed (uv run --group test --group dev pytest)"
    missing = [command for command in ("chromium", "chromedriver") if shutil.which(command) is None]
    return f"{' and '.join(missing)} not found (Debian's packages chromium and chromium-driver)" if missing else None


def why_no_slurm() -> str | None:
    """The reason why tests can't run jobs through a private Slurm here, or None if they can."""
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        return "snakemake-executor-plugin-slurm is not installed (uv run --group test --extra slurm pytest)"
    return missing_programs()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that this machine can't run, and give the reason. Those that run Snakemake, the longest, come
    first, so that xdist's processes end at one time.
    """
    items.sort(key=lambda item: not hasattr(item.module, "snakemake"))  # type: ignore[attr-defined]
    missing = {"gpu": why_no_gpu(), "nvcc": why_no_nvcc(), "chromium": why_no_chromium(), "slurm": why_no_slurm()}
    for item in items:
        for marker, reason in missing.items():
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))
    gc.freeze()


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def arch() -> str:
    """The architecture of the GPU that tests run on."""
    from kernelsweep.device.gpus import visible_gpus

    return visible_gpus()[0].arch


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project that is free to edit."""
    return copy_project(tmp_path)


@pytest.fixture(scope="session")
def finished_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project that `finished` copies. The first of xdist's processes that wants it makes it; the others wait."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    project = folder / "finished"
    with (folder / "finished.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not project.exists():
            finish_project(tmp_path_factory.mktemp("unfinished")).rename(project)
    return project


@pytest.fixture
def finished(finished_once: Path, tmp_path: Path) -> Path:
    """A copy, free to edit, of a project in which `all` has run on the emulator: workflow_runs.finish_project."""
    copy = tmp_path / "project"
    subprocess.run(["cp", "-a", str(finished_once), str(copy)], check=True)  # Python would take twice as long.
    return copy
