"""The process that compute-sanitizer observes: it runs each point once, on memory that is allocated for this point.

Memory of exactly a point's size lets memcheck see an access past the array's end. initcheck counts every fill as an
initialisation; for that tool, the argument "unfilled" leaves the buffers as they were allocated.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, cast

from kernelsweep.measure.point.runner import Runner
from kernelsweep.measure.task import KernelTask
from kernelsweep.observe.requests import Answer, answer_requests
from kernelsweep.platforms.platform import Memory, Platform
from kernelsweep.sweep.point import Point

UNFILLED = "unfilled"


class _Observed:
    """A platform that nothing guards, because memcheck sees every access outside of an allocation."""

    guard_bytes = (0, 0)

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    def __getattr__(self, name: str) -> Any:
        return getattr(self._platform, name)


class _Unfilled(_Observed):
    """An observed platform whose memory keeps the content that it was allocated with."""

    def fill(self, memory: Memory, size: int, word: int) -> None:
        """Do nothing."""


def prepare(platform: Platform, task: KernelTask) -> Callable[[Point, str], Answer]:
    """A function that runs a point with its variant on fresh memory."""
    runner = Runner(cast(Platform, (_Unfilled if UNFILLED in sys.argv else _Observed)(platform)), task)

    def run(point: Point, variant: str) -> Answer:
        runner.free_memory()
        outcome = runner.run(point, variant)
        return Answer(outcome.status, outcome.message)

    return run


if __name__ == "__main__":
    answer_requests(prepare)
