"""Results where they are, on the device: compared with the limits of right ones, and with those of a run before.

So right results are not fetched, however large they are. What is to be said about others is the host's to find.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelsweep.measure.point.buffers import WORD, Buffers, Role, whole_words
from kernelsweep.platforms.platform import Memory, Platform
from kernelsweep.problems.problem import Elements, Instance


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

    def fetched(self, platform: Platform, most: int | None = None) -> Elements:
        """The result's elements on the host, shape (count,), or the first `most` of them."""
        elements = np.empty(self.count if most is None else min(self.count, most), self.dtype)
        platform.download(self.memory, elements.view(np.uint8))
        return elements


Results = Mapping[str, DeviceResult]


class ResultComparison:
    """The limits of an instance's right results, and the results of a run that was kept. Both stay on the device."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._buffers = Buffers(platform, WORD)
        self._instances: dict[int, Instance] = {}  # whose limits are on the device, by the number of the input
        # Whether a result has one right value for each element, by number and name.
        self._exact: dict[int, dict[str, bool]] = {}
        self._kept: dict[str, Elements] = {}  # what there is no room for on the device

    def are_right(self, instance: Instance, results: Results, number: int = 0) -> bool:
        """Whether results are within their limits. If not, they may still be right, as the host's judgement says.

        number  of the input: the limits of one stay while those of another are looked at
        """
        if self._instances.get(number) is not instance:
            exact = self._upload_limits(instance, results, number)
            self._instances[number], self._exact[number] = instance, exact
        known = self._exact[number]
        return bool(known) and all(self._is_right(name, result, number) for name, result in results.items())

    def keep(self, results: Results) -> None:
        """Keep a copy of results, to compare others with it."""
        self._kept = {}
        for name, result in results.items():
            try:
                self._buffers.room(name, Role.KEPT, whole_words(result.size))
                self._platform.copy(self._buffers.get(name, Role.KEPT), result.memory, whole_words(result.size))
            except MemoryError:
                self._kept[name] = result.fetched(self._platform)

    def equal_kept(self, results: Results) -> bool:
        """Whether the bits of results are those that were kept."""
        return all(
            result.fetched(self._platform).tobytes() == self._kept[name].tobytes()
            if name in self._kept
            else self._platform.equal(result.memory, self._buffers.get(name, Role.KEPT), result.size)
            for name, result in results.items()
        )

    def free(self) -> None:
        """Give all memory back."""
        self._buffers.free()
        self._instances, self._exact, self._kept = {}, {}, {}

    def _is_right(self, name: str, result: DeviceResult, number: int) -> bool:
        lowest = self._buffers.get(name, Role.LOWEST, number)
        if self._exact[number][name]:
            return self._platform.equal(result.memory, lowest, result.size)
        highest = self._buffers.get(name, Role.HIGHEST, number)
        return self._platform.within(result.memory, lowest, highest, result.count, result.dtype.itemsize)

    def _upload_limits(self, instance: Instance, results: Results, number: int) -> dict[str, bool]:
        """Put the limits on the device; none if there are none, or no room for them."""
        limits = instance.limits()
        roles = {
            name: (Role.LOWEST,) if each.is_exact else (Role.LOWEST, Role.HIGHEST) for name, each in limits.items()
        }
        try:
            for name in limits:
                for role in roles[name]:
                    self._buffers.room(name, role, whole_words(results[name].size), number)
        except MemoryError:
            self.free()
            return {}
        for name, each in limits.items():
            offset = 0
            for part in each.parts():
                if part is None:
                    return {}
                for role, values in zip(roles[name], part, strict=True):
                    self._platform.upload(self._buffers.get(name, role, number), values, offset)
                offset += part[0].nbytes
        return {name: each.is_exact for name, each in limits.items()}
