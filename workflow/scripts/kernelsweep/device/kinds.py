"""The kinds of platforms. Imports almost nothing, because a job uses it before it starts a worker."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernelsweep.device.names import is_recording
from kernelsweep.study.kernels.units import EMULATOR

GPU = "gpu"


@dataclass(frozen=True)
class Kind:
    """The properties that all platforms of a kind share.

    implementation      the platform.Platform that runs points, as module:class; empty for recordings
    has_clock           whether points have times
    needs_gpu           whether a job that runs points keeps a GPU for itself
    counts              whether metrics are counted, and not collected by Nsight Compute
    target              what kernels are compiled for; None for the architecture of the GPU
    most_repeated_runs  how many runs of a point can show that its bits differ; None for any number
    """

    implementation: str = ""
    has_clock: bool = True
    needs_gpu: bool = False
    counts: bool = False
    target: str | None = None
    most_repeated_runs: int | None = None


# As device.json names them.
KINDS: Mapping[str, Kind] = {
    GPU: Kind("kernelsweep.device.gpu:GpuPlatform", needs_gpu=True),
    # Threads take turns in a fixed order. One further run shows whether a result depends on the order of the blocks.
    EMULATOR: Kind(
        "kernelsweep.device.emulator:EmulatorPlatform",
        has_clock=False,
        counts=True,
        target=EMULATOR,
        most_repeated_runs=2,
    ),
}
_RECORDING = Kind()


def kind_of(platform: str) -> Kind:
    """The kind of a platform, by its name as in results/: emulator, recording/<name>, or a GPU's model."""
    return _RECORDING if is_recording(platform) else KINDS.get(platform, KINDS[GPU])


def kind_of_implementation(implementation: str) -> Kind | None:
    """The kind whose points an implementation runs; None for a library's, which has none."""
    return next((kind for kind in KINDS.values() if kind.implementation == implementation), None)


def load(implementation: str) -> Any:
    """The class that a Kind's `implementation` names. Importing it touches no device."""
    module, _, name = implementation.partition(":")
    return getattr(importlib.import_module(module), name)
