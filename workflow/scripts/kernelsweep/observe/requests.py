"""Run a kernel's points in a process that one of NVIDIA's tools observes.

The tool stands between the job and the process (worker.py), so that they can't talk through pipes as device/worker
does: the requests are one file, and the answers another one, to which the process adds a line a point.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelsweep.base.json_files import adapter_of
from kernelsweep.base.running import environment
from kernelsweep.compile.binaries import Report
from kernelsweep.compile.build import gpu_source
from kernelsweep.compile.builder import build
from kernelsweep.compile.unit_store import UnitStore
from kernelsweep.device.task import KernelTask
from kernelsweep.errors import UserError
from kernelsweep.study.kernel_sweep import PlannedPoint, units
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point

# Time limit for a tool to instrument the process and for the process to open or close its device.
TOOL_START_SECONDS = 180


@dataclass(frozen=True)
class Requests:
    """The points to run, each with its variant's C++ name."""

    task: KernelTask
    points: Sequence[tuple[Point, str]]
    seconds: float


@dataclass(frozen=True)
class Launched:
    """A launch: its variant's C++ name, and the sizes of its grid and its blocks in x, y and z."""

    variant: str
    grid: tuple[int, ...]
    block: tuple[int, ...]


@dataclass(frozen=True)
class Answer:
    """The result of one point.

    status    one of results.STATUSES
    launches  each profiled launch, in order; empty where nothing is profiled
    """

    status: str
    message: str
    launches: tuple[Launched, ...] = ()

    @property
    def text(self) -> str:
        """Status and message in one line."""
        return f"{self.status}: {' '.join(self.message.split())}"


@dataclass(frozen=True)
class Observed:
    """How the tool ended, and the points' answers in order: fewer than requests if the process ended early.

    exit_status  the tool's; negative if a signal ended it, None if it exceeded the time limit
    """

    exit_status: int | None
    answers: tuple[Answer, ...]


def observed_platforms(gpus: Sequence[str], platforms: Sequence[str], asked_by: str) -> Sequence[str]:
    """The platforms that NVIDIA's tools can observe, which are the GPUs. Raises UserError if this run has no GPU.

    asked_by   the target or the setting that asks for it, for the message
    """
    if not gpus:
        raise UserError(
            f"{asked_by} needs an NVIDIA GPU, and this run has none: its platform is {', '.join(platforms)}."
        )
    return gpus


def build_searched(
    kernel: KernelSource,
    chosen: Sequence[PlannedPoint],
    settings: Mapping[str, Any],
    folder: str,
    workers: int,
) -> tuple[Report, Path]:
    """The build of points that were searched, whose units the store has: its report, and its binary in `folder`.

    settings  what compiles, as project.building.compiler() has it
    """
    source, binary = gpu_source(kernel.path, kernel, settings["include"]), Path(folder, "searched.bin")
    wanted, store = units(kernel, [each.point for each in chosen]), UnitStore(Path(settings["store"]))
    return build(source, binary, settings["target"], wanted, workers, store), binary


def observe(tool: Sequence[str], mode: str, requests: Requests, log: Path) -> Observed:
    """Run the requests in a process under a tool.

    tool  the tool's command line up to the observed process
    mode  one of worker.MODES
    log   the file for all output of the tool and the process
    """
    with tempfile.TemporaryDirectory() as folder:
        asked, answers = Path(folder, "requests.pickle"), Path(folder, "answers.jsonl")
        asked.write_bytes(pickle.dumps(requests))
        command = [*tool, sys.executable, "-m", "kernelsweep.observe.worker", str(asked), str(answers), mode]
        print(" ".join(command), flush=True)
        with log.open("w", encoding="utf-8") as file:
            try:
                status: int | None = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    env=environment(),
                    timeout=2 * TOOL_START_SECONDS + requests.seconds * len(requests.points),
                ).returncode
            except subprocess.TimeoutExpired:
                status = None
                print("stopped: it exceeded its time limit", flush=True)
        lines = answers.read_text(encoding="utf-8").splitlines(keepends=True) if answers.exists() else []
    return Observed(status, tuple(adapter_of(Answer).validate_json(line) for line in lines if line.endswith("\n")))
