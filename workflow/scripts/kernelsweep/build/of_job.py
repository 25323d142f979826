"""Compile a kernel in a job, by what its rule tells, and say what doesn't compile."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from kernelsweep.build.binaries import Report
from kernelsweep.build.build import Source
from kernelsweep.build.builder import build
from kernelsweep.build.gpu_code import DEFAULT_ARCHITECTURE
from kernelsweep.build.toolkit import find_tool
from kernelsweep.build.unit_store import UnitStore
from kernelsweep.sweep.kernels.units import read_units


def build_of_job(
    settings: Mapping[str, Any], kernel: Path, binary: Path, workers: int = 1, terminal: TextIO | None = None
) -> Report:
    """Compile a kernel's units into `binary`, or copy them from the store.

    settings  the rule's parameter, as project.building.build_settings() makes it
    kernel    its file
    workers   how many units are compiled side by side
    terminal  is told what doesn't compile, with the compiler's message

    Raises BuildError if the compiler is missing.
    """
    runtime = settings["runtime"]
    source = Source(
        file=kernel,
        include=[Path(name) for name in settings["include"]],
        emulator=Path(settings["emulator"]),
        runtime=Path(runtime) if runtime else None,
        options=settings["options"],
        constants=settings["constants"],
        gpu=settings["gpu"],
    )
    store = UnitStore(Path(settings["store"]))
    report = build(source, binary, settings["target"], read_units(settings["units"]), workers, store)
    print(report["message"])
    if report["status"] != "ok":
        print(f"{kernel} does not compile:\n{report['message']}", file=terminal)
    elif report["failed"]:
        (first, message), count = next(iter(report["failed"].items())), len(report["failed"])
        print(f"{kernel}: {count} variants do not compile, such as {first}:\n{message}", file=terminal)
    return report


def gpu_resources(settings: Mapping[str, Any], kernel: Path) -> dict[str, list[int]]:
    """What ptxas gives each variant for DEFAULT_ARCHITECTURE: registers a thread, and bytes of spilled ones.

    The arguments are those of build_of_job(). Empty without nvcc; without what doesn't compile.
    """
    if not find_tool("nvcc"):
        return {}
    source = Source(kernel, list(map(Path, settings["include"])), options=settings["options"])
    with tempfile.TemporaryDirectory() as folder:
        units, store = read_units(settings["units"]), UnitStore(Path(settings["store"]))
        report = build(source, Path(folder, "binary"), DEFAULT_ARCHITECTURE, units, store=store)
    return {
        name: [one["registers"], one["spill_store_bytes"] + one["spill_load_bytes"]]
        for name, one in report["variants"].items()
    }


@contextmanager
def built_meanwhile(
    settings: Mapping[str, Any], kernel: Path, workers: int = 1, terminal: TextIO | None = None
) -> Iterator[tuple[Report, Path]]:
    """A kernel's build report and its binary, which is deleted in the end; the arguments of build_of_job()."""
    store = Path(settings["store"])
    store.mkdir(parents=True, exist_ok=True)
    # Not in the system's folder of temporary files, from which nothing can be run on some machines.
    with tempfile.TemporaryDirectory(dir=store, ignore_cleanup_errors=True) as folder:
        binary = Path(folder, f"{kernel.stem}.bin")
        yield build_of_job(settings, kernel, binary, workers, terminal), binary
