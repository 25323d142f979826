"""Where points run: one small interface, and a module for each platform behind it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

# Memory of a platform, as its own allocate() returned it.
Memory = Any


class ContextLost(Exception):
    """The platform can run nothing more in this process, as after an illegal address on a GPU; the text says why."""


@dataclass(frozen=True)
class Conditions:
    """What a device is like at one moment; None for what it doesn't tell.

    clock_mhz         of the multiprocessors
    power_w           of the board; on some GPUs an average over about the last second
    throttle_reasons  why the clock is held back, in texts such as sw_power_cap; empty as well where it isn't told
    """

    clock_mhz: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    throttle_reasons: tuple[str, ...] = ()


class Platform(Protocol):
    """Allocate, copy, fill, get a function, launch, time. All but allocate, upload and download are queued in order.

    has_clock     whether the platform's times mean anything
    uuid          the device's, empty where it has none
    busy_seconds  how long the device has been at work so far, as far as the host has waited for it
    """

    has_clock: bool
    uuid: str
    busy_seconds: float

    @staticmethod
    def describe(platform: str) -> dict[str, Any]:
        """The device of a platform, by its name as in results/: what results are read against, and how they came about.

        kind, a key of kinds.KINDS; name, multiprocessors; peak_bandwidth_gbs, None without a clock; provenance; and
        what else the device tells. Raises UserError if there is no such device.
        """

    def allocate(self, size: int) -> Memory:
        """`size` bytes. Raises MemoryError."""

    def free(self, memory: Memory) -> None:
        """Give memory back."""

    def upload(self, memory: Memory, array: np.ndarray[Any, Any]) -> None:
        """Copy an array from the host to the start of `memory`."""

    def download(self, memory: Memory, array: np.ndarray[Any, Any]) -> None:
        """Fill an array on the host from the start of `memory`."""

    def copy(self, target: Memory, source: Memory, size: int, offset: int = 0) -> None:
        """Copy `size` bytes from the start of `source` to `offset` in `target`."""

    def fill(self, memory: Memory, size: int, word: int) -> None:
        """Overwrite the first `size` bytes with a 32-bit word, repeated; a last part of a word as a whole one."""

    def equal(self, first: Memory, second: Memory, size: int, offset: int = 0) -> bool:
        """Whether `size` bytes from `offset` in `first` are those at the start of `second`; both are whole words.

        Waits for all that is queued. Raises as synchronize() does.
        """

    def flush_cache(self) -> None:
        """Drive everything out of the L2 cache."""

    def load(self, binary: Path, variants: dict[str, dict[str, Any]]) -> None:
        """Load a build's binary; `variants` as in its report."""

    def launch(self, variant: str, grid: int, block: int, shared_bytes: int, arguments: Sequence[Any]) -> None:
        """Launch a variant; arguments are Memory, or int for a size_t. Raises LaunchError."""

    def occupancy(self, variant: str, block: int, shared_bytes: int) -> float | None:
        """The fraction of a multiprocessor's threads that fit at once, where the platform knows."""

    def synchronize(self) -> None:
        """Wait for all that is queued. Raises LaunchError or ContextLost for what went wrong in it."""

    def time(self, sample: Any, count: int) -> list[float]:
        """Run `sample(start, stop)` `count` times and return the microseconds between its start() and stop().

        All is queued before any of it runs, so that no launch latency falls between the two. Ends synchronised.
        """

    def conditions(self) -> Conditions:
        """What the device was like while the last samples ran."""

    def energy_mj(self) -> int | None:
        """The device's counter of energy, millijoules, where it has one."""

    def other_processes(self, own_pids: Collection[int]) -> tuple[int, ...]:
        """The pids of processes on the device besides `own_pids`, where the platform knows."""

    def start_profiler(self) -> None:
        """Have a profiler that observes this process record the launches that follow."""

    def stop_profiler(self) -> None:
        """Wait for all that is queued, and have the profiler record no further launch."""

    def close(self) -> None:
        """Release the device before the process ends. All memory must have been freed; nothing may be called later."""
