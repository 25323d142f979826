"""How long a point's first run may take before it counts as hanging."""

from __future__ import annotations

import math
from contextlib import suppress

from kernelsweep.device.kinds import kind_of_implementation
from kernelsweep.device.task import KernelTask
from kernelsweep.study.point import Point
from kernelsweep.study.problem.problem_file import problem_of
from kernelsweep.sweep.journal import Journal

# A point's first run may take so many times as long as it took before, or else as another point of the study took, and
# as its size is larger; and at least these seconds, on the emulator and elsewhere. Where no point of the study is
# known, it may take some seconds, and more an element, but on the emulator.
_TIMES_ITSELF, _TIMES_ANOTHER = 20, 100
_SHORTEST = {False: 30.0, True: 2.0}
_UNKNOWN, _UNKNOWN_AN_ELEMENT = 10.0, 1e-5

# So many points of each other kernel of the study tell how long one takes.
_MOST_OF_OTHERS = 50


class TimeLimits:
    """The time limits of a kernel's points, from the seconds that the study's points took."""

    def __init__(self, task: KernelTask, journal: Journal) -> None:
        self._problem = problem_of(task.problem)
        self._most = task.protocol.timeout_seconds
        kind = kind_of_implementation(task.platform)
        self._has_clock = kind is None or kind.has_clock
        self._least = _SHORTEST[self._has_clock]
        self._per_size = math.inf  # the fewest seconds that a point took, over its size
        self._fewest = math.inf
        self._own: dict[Point, float] = {}
        for is_own, values in ((True, journal.values()), (False, journal.beside(_MOST_OF_OTHERS))):
            for value in values:
                # A sweep's line, one of a study with other axes, or one that was edited.
                with suppress(KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
                    point, outcome = Point(value["of"]["point"]), value["outcome"]
                    # The platform's seconds are without those of the host.
                    seconds = outcome["visits"][0]["seconds"] if outcome["visits"] else outcome["seconds"]
                    if outcome["status"] == "ok" and seconds > 0:
                        if outcome["visits"]:
                            self.add(point, seconds)
                        if is_own:
                            self._own[point] = min(seconds, self._own.get(point, math.inf))

    def add(self, point: Point, seconds: float) -> None:
        """Note how long a point took."""
        if seconds > 0:
            self._per_size = min(self._per_size, seconds / max(1.0, self._problem.size(point)))
            self._fewest = min(self._fewest, seconds)

    def of(self, point: Point) -> float:
        """The most seconds that its first run may take."""
        size = self._problem.size(point)
        if self._fewest == math.inf and self._has_clock:
            return min(self._most, _UNKNOWN + _UNKNOWN_AN_ELEMENT * size)
        another = _TIMES_ANOTHER * max(self._fewest, self._per_size * size)
        itself = _TIMES_ITSELF * self._own.get(point, math.inf)
        return min(self._most, max(self._least, min(itself, another)))
