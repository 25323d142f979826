"""Where points run: one small interface, and a module for each platform behind it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

# Memory of a platform, as its own allocate() returned it.
Memory = Any


class ContextLost(Exception):
    """The platform can run nothing more in this process, as after an illegal address on a GPU; the text says why."""


class Platform(Protocol):
    """Allocate, copy, fill, get a function, launch, time. All but allocate, upload and download are queued in order.

    has_clock  whether the platform's times mean anything
    """

    has_clock: bool

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

    def fill(self, memory: Memory, size: int) -> None:
        """Overwrite the first `size` bytes with a pattern that no right result shows."""

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

    def clock_mhz(self) -> int | None:
        """The multiprocessors' clock while the last samples ran, where the platform knows."""
