"""This project's side of a comparison: build a kernel's variants and measure points through the library.

The comparison scripts in this folder import it; it has no command of its own.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow/scripts"))

from kernelsweep.compile.build import Source
from kernelsweep.compile.builder import build
from kernelsweep.compile.emulated import compiled_runtime
from kernelsweep.device.gpus import Gpu, visible_gpus
from kernelsweep.device.kinds import kind_of
from kernelsweep.device.lease import leased_gpu
from kernelsweep.device.outcome import Outcome
from kernelsweep.device.sampling import Sampling
from kernelsweep.device.task import BuiltKernel, Protocol
from kernelsweep.project.project import load_study
from kernelsweep.study.kernel_sweep import PlannedPoint, instantiation, units
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.sweep.full import sweep_points
from kernelsweep.sweep.journal import Journal

ROOT = Path(__file__).resolve().parents[2]
EMULATOR = "emulator"  # for the tests: the same calls, without times

# A ceiling that no point of these comparisons reaches: they take a fixed number of samples.
MAX_SECONDS = 60.0
TIMEOUT_SECONDS = 120.0


def kernel_of(name: str) -> KernelSource:
    """The kernel of a name such as warp_shuffle/shuffle."""
    study, _, kernel = name.partition("/")
    return load_study(study, ROOT).kernels[kernel]


def point(array_size: int, block_size: int, **others: Any) -> Point:
    """A cold int32 sum, not unrolled, unless said otherwise."""
    values = {"dtype": "int32", "operation": "sum", "cache": "cold", "array_size": array_size, "block_size": block_size}
    return Point({**values, "unroll": 1, **others})


def require(*modules: str, extras: Sequence[str] = ("gpu", "compare")) -> None:
    """End the script, saying what to type, where a module that it needs is not installed.

    extras  those of pyproject.toml that have the modules
    """
    for module in modules:
        try:
            found = importlib.util.find_spec(module) is not None
        except ModuleNotFoundError:  # of the package that it is in
            found = False
        if not found:
            script = f"benchmarks/{Path(sys.argv[0]).name}"
            wanted = " ".join(f"--extra {extra}" for extra in extras)
            sys.exit(f"{module} is not installed. Type: uv run {wanted} python {script}")


@contextmanager
def leased() -> Iterator[Gpu]:
    """The GPU, kept for this comparison, and alone visible to the processes that it starts. Ends the script without."""
    gpus = visible_gpus()
    if not gpus:
        sys.exit("No GPU is visible here: NVML lists none, or CUDA_VISIBLE_DEVICES hides it.")
    with leased_gpu(gpus[0].platform) as (device, _):
        yield device


def source_of(kernel: KernelSource, target: str) -> Source:
    """The kernel's source with its headers' folders; for the emulator its runtime, too."""
    emulator = ROOT / "emulator/cpp"
    runtime = compiled_runtime(emulator) if target == EMULATOR else None
    include = [kernel.path.parent, ROOT / "kernels/include"]
    return Source(kernel.path, include, emulator, runtime, kernel.options, kernel.launches.entry.host_variables)


def build_variants(kernel: KernelSource, points: Sequence[Point], folder: Path, target: str) -> dict[str, Any]:
    """The report of building every variant of the points into `folder`. Ends the script where that fails."""
    report = build(source_of(kernel, target), binary_of(kernel, folder), target, units(kernel, points))
    if report["status"] != "ok":
        sys.exit(f"{kernel.name} could not be built:\n{report['message']}")
    return report


def binary_of(kernel: KernelSource, folder: Path) -> Path:
    """Where a kernel's variants are built."""
    return folder / f"{kernel.name}.cubin"


def sweep(
    kernel: KernelSource,
    points: Sequence[Point],
    report: dict[str, Any],
    folder: Path,
    samples: int,
    seed: int,
    device: dict[str, Any],
) -> dict[Point, Outcome]:
    """The outcomes of the points, each visited once for exactly `samples` samples. Ends the script on a failure.

    report  of build_variants() with the same folder
    seed    of the input and of the points' order
    device  name and driver
    """
    exactly = Sampling(relative_precision=0.0, min_samples=samples, max_samples=samples, max_seconds=MAX_SECONDS)
    protocol = Protocol(exactly, timeout_seconds=TIMEOUT_SECONDS, seed=seed)
    built = BuiltKernel(kernel, report, binary_of(kernel, folder))
    task = built.task(kind_of(report["target"]).implementation, protocol)
    planned = [PlannedPoint(point, instantiation(kernel, point)) for point in points]
    with Journal(folder / f"{kernel.name}.{seed}.jsonl") as journal:
        outcomes = sweep_points(task, planned, {}, journal, device)
    failed = [
        f"  {outcome.status}: {outcome.message} at {p}" for p, outcome in outcomes.items() if outcome.status != "ok"
    ]
    if failed:
        sys.exit("\n".join([f"{kernel.name}: {len(failed)} of {len(points)} points failed:", *failed[:5]]))
    return outcomes
