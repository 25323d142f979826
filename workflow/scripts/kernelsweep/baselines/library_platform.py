"""A GPU on which a library's reduction takes the place of a kernel's launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kernelsweep.baselines.libraries import load
from kernelsweep.platforms.gpu import STREAMS, GpuPlatform


class LibraryPlatform(GpuPlatform):
    """As GpuPlatform, for one rival. Variants are its types and operations.

    Libraries compile, and allocate memory, at their first call for a type, a size or a stream. Neither may happen while
    samples are queued behind a stream that is held back: what waits for the device then would wait for ever. So each
    sample is run once on every stream before any is timed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._variants: dict[str, dict[str, Any]] = {}
        self._warm: object = None

    def _open_context(self) -> Any:
        """The device's primary context. The CUDA runtime, and so every library on it, has no other: in a context of
        PyCUDA's own, a library that names its device would leave that, and find none of our memory.
        """
        context = self._device.retain_primary_context()
        context.push()
        return context

    def load(self, binary: Path, variants: dict[str, dict[str, Any]]) -> None:
        """`variants` by name: the rival, the type and the operation of each."""
        self._variants = variants
        (rival,) = {variant["rival"] for variant in variants.values()}
        self._reduce = load(rival, binary)

    def launch(self, variant: str, grid: int, block: int, shared_bytes: int, arguments: Sequence[Any]) -> None:
        data, value, count = arguments
        asked = self._variants[variant]
        self._reduce(asked["operation"], asked["dtype"], int(data), int(value), count, self._stream)

    def occupancy(self, variant: str, block: int, shared_bytes: int) -> float | None:
        return None

    def time(self, sample: Callable[[Callable[[], None], Callable[[], None]], None], count: int) -> list[float]:
        if sample is not self._warm:
            for _ in range(STREAMS):
                self._stream = next(self._streams)
                sample(_nothing, _nothing)
                self.synchronize()
            self._warm = sample
        return super().time(sample, count)


def _nothing() -> None:
    """No event is recorded for a run that isn't timed."""
