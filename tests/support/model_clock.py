"""The emulator with a clock that follows a model, for tests of what only a platform with times does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from kernelsweep.device.emulator import EmulatorPlatform
from kernelsweep.study.kernels.plan import Launch

BEST_BLOCK = 400  # Of the multiples of 32, two are equally near.


def model_us(block_size: int) -> float:
    """The median time of a launch with this block size."""
    return 10 + abs(block_size - BEST_BLOCK) / 64


class Timed(EmulatorPlatform):
    """Each sample takes 1 ns longer than the one before it."""

    has_clock = True

    def time(self, sample: Any, count: int) -> list[float]:
        for _ in range(count):
            sample(lambda: None, lambda: None)
        return [20 + 0.001 * number for number in range(count)]


class ModelClock(EmulatorPlatform):
    """Times depend on the block size, with a scatter of 0.2% that is the same for each point."""

    has_clock = True
    _is_timing = False

    def __init__(self) -> None:
        super().__init__()
        self._known: set[str] = set()

    @property
    def uuid(self) -> str:
        """The GPU that this process was given."""
        return os.environ.get("CUDA_VISIBLE_DEVICES", "")

    def launch(self, launch: Launch, arguments: Sequence[Any]) -> None:
        variant = launch.function
        if getattr(self, "_block_size", None) != launch.block[0]:
            self._block_size, self._taken = launch.block[0], 0
        # On a GPU, a first launch may wait for the device, which waits until all samples are queued.
        assert variant in self._known or not self._is_timing, f"{variant} is first launched while it is timed"
        self._known.add(variant)
        super().launch(launch, arguments)

    def time(self, sample: Any, count: int) -> list[float]:
        self._is_timing, times = True, []
        for number in range(self._taken, self._taken + count):
            sample(lambda: None, lambda: None)
            times.append(round(model_us(self._block_size) * (1 + 0.001 * (number * 7 % 5 - 2)), 3))
        self._is_timing = False
        self._taken += count
        return times
