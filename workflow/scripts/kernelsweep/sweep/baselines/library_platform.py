"""A GPU on which a library's function takes the place of a kernel's launches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.device.gpu import STREAMS, GpuPlatform
from kernelsweep.device.platform import Given, Memory
from kernelsweep.study.kernels.plan import Launch
from kernelsweep.sweep.baselines.library_calls import load


class LibraryPlatform(GpuPlatform):
    """A GpuPlatform for one library, whose variants are the words that its function is called with.

    Libraries compile and allocate memory at their first call for a type, a size or a stream. Either would block forever
    while a stream is held back for queueing samples, if it waits for the device. So each sample runs once on every
    stream before it is timed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._warm: object = None

    def _open_context(self) -> Any:
        """The device's primary context, which the CUDA runtime uses, and with it every library.

        A library that selects its device leaves a context of PyCUDA, and does not find memory that is allocated there.
        """
        context = self._device.retain_primary_context()
        context.push()
        return context

    def load(self, binary: Path, variants: dict[str, dict[str, Any]]) -> None:
        """`variants` have a library and words each."""
        self._variants = variants
        (name,) = {variant["rival"] for variant in variants.values()}
        self._function = load(name, binary)

    def launcher(self, launch: Launch, arguments: Given) -> Callable[[], None]:
        words, given = self._variants[launch.function]["words"], [*map(_plain, arguments)]
        return lambda: self._function(*words, *given, self._stream)

    def occupancy(self, launch: Launch) -> float | None:
        return None

    def time(self, sample: Callable[[Callable[[], None], Callable[[], None]], None], count: int) -> list[float]:
        if sample is not self._warm:
            for _ in range(STREAMS):
                self._stream = next(self._streams)
                sample(_nothing, _nothing)
                self.synchronize()
            self._warm = sample
        return super().time(sample, count)


def _plain(argument: Memory | np.generic) -> Any:
    """An argument as one of Python's numbers: an array as its address."""
    if isinstance(argument, np.generic):
        return argument.item()
    return argument if isinstance(argument, bool | int | float) else int(argument)


def _nothing() -> None:
    """Record no event: this run is not timed."""
