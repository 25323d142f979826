"""Memory on a platform that is kept from point to point, and grows with them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import numpy as np

from kernelsweep.device.platform import Memory, Platform

WORD = 4  # bytes. Platform.fill() takes whole words, and copies are rounded up to them.

# A guard is looked at as far as this many bytes from its buffer.
_LONGEST_GUARD = 4096


class Role(Enum):
    """What a buffer holds of an array."""

    ARRAY = "the array itself"
    COPY = "the working copy of an array whose contents kernels change"
    CONTENTS = "one repetition of the contents, which no kernel is given"
    EXPECTED = "the right value of each element of a result"
    BOUNDS = "how far each may be off"
    KEPT = "the result of a run before"


class Buffers:
    """Memory by the name of an array, its role and its place.

    granularity  bytes to which every allocation is rounded up
    guard        bytes before and behind each buffer that are not its own, as in platforms.platform.Platform
    """

    def __init__(self, platform: Platform, granularity: int, guard: tuple[int, int] = (0, 0)) -> None:
        self._platform = platform
        self._granularity = granularity
        before, self._behind = guard
        self._front = _rounded(before, granularity)
        self._ends_with_the_memory = platform.watches or (self._front > 0 and not self._behind)
        self._memory: dict[tuple[str, Role, int], tuple[int, Memory]] = {}

    def room(self, name: str, role: Role, size: int, place: int = 0) -> bool:
        """Make a buffer hold at least `size` bytes. Returns whether it is a new one. Raises MemoryError.

        Where accesses past its end are looked for, it holds `size` bytes, rounded up, and no more.
        """
        needed = _rounded(size + self._behind, self._granularity)
        have, memory = self._memory.get((name, role, place), (0, None))
        if have == needed or (have > needed and not self._ends_with_the_memory):
            return False
        if memory is not None:
            del self._memory[name, role, place]
            self._platform.free(memory)
        self._memory[name, role, place] = (needed, self._platform.allocate(self._front + needed))
        return True

    def get(self, name: str, role: Role, place: int = 0) -> Memory:
        """A buffer's memory, behind the guard."""
        memory = self._memory[name, role, place][1]
        return self._platform.part(memory, self._front) if self._front else memory

    def all(self) -> Iterator[tuple[str, Memory]]:
        """All memory, each with the name of its array."""
        return ((name, self.get(name, role, place)) for name, role, place in self._memory)

    def set_guards(self, name: str, role: Role, size: int, word: int) -> None:
        """Fill what lies before a buffer and behind `size` bytes of it with copies of a word."""
        for memory, length, _ in self._guards(name, role, size):
            self._platform.fill(memory, length, word)

    def overwritten(self, name: str, role: Role, size: int, word: int) -> int | None:
        """The byte nearest to the buffer that differs from what set_guards() left, from its start; None if none does.

        Waits for all that is queued, as platforms.platform.Platform.download().
        """
        for memory, length, start in self._guards(name, role, size):
            found = np.empty(length // WORD, np.uint32)
            self._platform.download(memory, found.view(np.uint8))
            expected = np.full(found.size, word, np.uint32).view(np.uint8)
            places = np.flatnonzero(found.view(np.uint8) != expected)
            if places.size:
                return start + int(places[-1 if start < 0 else 0])
        return None

    def free(self) -> None:
        """Give all of it back."""
        for _, memory in self._memory.values():
            self._platform.free(memory)
        self._memory.clear()

    def _guards(self, name: str, role: Role, size: int) -> Iterator[tuple[Memory, int, int]]:
        """The guard before a buffer and that behind it: memory, length, and start from the buffer's, in bytes."""
        if not self._front:
            return
        have, memory = self._memory[name, role, 0]
        length = min(self._front, _LONGEST_GUARD)
        yield self._platform.part(memory, self._front - length), length, -length
        end = whole_words(size)
        if length := min(have - end, _LONGEST_GUARD):
            yield self._platform.part(memory, self._front + end), length, end


def _rounded(size: int, granularity: int) -> int:
    return -(-size // granularity) * granularity


def whole_words(size: int) -> int:
    """A number of bytes, rounded up to whole words."""
    return _rounded(size, WORD)
