"""Results where they are, on the device: compared with right ones, and with those of a run before.

So right results are not fetched, however large they are. What is to be said about others is the host's to find.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelsweep.device.platform import Memory, Platform
from kernelsweep.device.point.buffers import WORD, Buffers, Role, whole_words
from kernelsweep.study.problem.comparison import right
from kernelsweep.study.problem.file_instance import FileInstance
from kernelsweep.study.problem.problem import Elements, Judgement, RightValues


@dataclass(frozen=True)
class DeviceResult:
    """A result on the device: `count` elements from the start of `memory`."""

    memory: Memory
    dtype: np.dtype[Any]
    count: int

    @property
    def size(self) -> int:
        """The result's size in bytes."""
        return self.count * self.dtype.itemsize

    def fetched(self, platform: Platform) -> Elements:
        """The result's elements on the host, shape (count,)."""
        elements = np.empty(self.count, self.dtype)
        platform.download(self.memory, elements.view(np.uint8))
        return elements


Results = Mapping[str, DeviceResult]


# Elements that are uploaded at once.
_AT_ONCE = 2**20


class ResultComparison:
    """The right results of an instance, and the results of a run that was kept. Both stay on the device."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._buffers = Buffers(platform, WORD)
        # Of the instances whose right results are on the device, by the number of the input: those, none where the
        # device can't tell, and the counts of their elements and bounds.
        self._known: dict[int, tuple[FileInstance, dict[str, tuple[int, int]]]] = {}

    def judged(self, instance: FileInstance, results: Results, number: int = 0) -> Judgement | None:
        """The judgement of right results; None for others, which may still be right, as the host's says.

        number  of the input: the right results of one stay while those of another are looked at
        """
        if number not in self._known or self._known[number][0] is not instance:
            self._known[number] = instance, self._upload(instance.right_values(), results, number)
        counts = self._known[number][1]
        shares = []
        for name in counts:
            share = self._error_share(name, results[name], counts[name], number)
            if share is None:
                return None
            shares += [share] if counts[name][1] else []
        return Judgement(None, error_share=max(shares, default=None)) if counts else None

    def keep(self, results: Results) -> bool:
        """Keep a copy of results, to compare others with it. Returns whether there is room."""
        with suppress(MemoryError):
            for name, result in results.items():
                self._buffers.room(name, Role.KEPT, whole_words(result.size))
                self._platform.copy(self._buffers.get(name, Role.KEPT), result.memory, whole_words(result.size))
            return True
        return False

    def equal_kept(self, results: Results) -> bool:
        """Whether the bits of results are those that were kept."""
        return all(
            self._platform.equal(result.memory, self._buffers.get(name, Role.KEPT), result.size)
            for name, result in results.items()
        )

    def free(self) -> None:
        """Give all memory back."""
        self._buffers.free()
        self._known = {}

    def _error_share(self, name: str, result: DeviceResult, counts: tuple[int, int], number: int) -> float | None:
        """The largest error of a result as a share of its bound, 0 where it has none; None where it is not right."""
        expected = self._buffers.get(name, Role.EXPECTED, number)
        if not counts[1]:
            return 0.0 if self._platform.equal(result.memory, expected, result.size) else None
        bounds = self._buffers.get(name, Role.BOUNDS, number)
        return self._platform.error_share(result.memory, result.dtype, result.count, (expected, bounds), counts)

    def _upload(self, values: Mapping[str, RightValues], results: Results, number: int) -> dict[str, tuple[int, int]]:
        """Put right values on the device; none if there are none, or no room for them. Returns counts as in _known."""
        try:
            for name, one in values.items():
                if one.bound is None:
                    self._buffers.room(name, Role.EXPECTED, whole_words(results[name].size), number)
                else:
                    self._buffers.room(name, Role.EXPECTED, 8 * one.values.size, number)
                    self._buffers.room(name, Role.BOUNDS, 8 * one.bound.size, number)
        except MemoryError:
            self.free()
            return {}
        for name, one in values.items():
            if one.bound is None:
                if not self._upload_rounded(name, one.values, results[name], number):
                    return {}
                continue
            for role, elements in ((Role.EXPECTED, one.values), (Role.BOUNDS, one.bound)):
                for start in range(0, elements.size, _AT_ONCE):
                    part = elements[start : start + _AT_ONCE].astype(np.float64, copy=False)
                    self._platform.upload(self._buffers.get(name, role, number), part, 8 * start)
        return {name: (one.values.size, 0 if one.bound is None else one.bound.size) for name, one in values.items()}

    def _upload_rounded(self, name: str, values: Elements, result: DeviceResult, number: int) -> bool:
        """Upload the expected elements, rounded to the result's type. Returns whether that type has them all."""
        memory = self._buffers.get(name, Role.EXPECTED, number)
        for start in range(0, result.count, _AT_ONCE):
            stop = min(start + _AT_ONCE, result.count)
            repeats = values.size < result.count
            part = np.take(values, np.arange(start, stop), mode="wrap") if repeats else values[start:stop]
            with np.errstate(all="ignore"):
                rounded = part.astype(result.dtype, copy=False)
            # Of the type's own values, only NaN is no right one: equal to none.
            if not (rounded == part if rounded is part else right(rounded, part, None)).all():
                return False
            self._platform.upload(memory, rounded, start * result.dtype.itemsize)
        return True
