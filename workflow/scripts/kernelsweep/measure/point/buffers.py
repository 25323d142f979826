"""Memory on a platform that is kept from point to point, and grows with them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from kernelsweep.platforms.platform import Memory, Platform

WORD = 4  # Platform.fill() takes whole words, and copies are rounded up to them.


class Role(Enum):
    """What a buffer holds of an array."""

    ARRAY = "the array itself"
    COPY = "the working copy of an array whose contents kernels change"
    CONTENTS = "one repetition of the contents, which no kernel is given"
    LOWEST = "the lowest right value of each element of a result, or the only one"
    HIGHEST = "the highest one, where they differ"
    KEPT = "the result of a run before"


class Buffers:
    """Memory by the name of an array, its role and its place.

    granularity  bytes to which every allocation is rounded up
    """

    def __init__(self, platform: Platform, granularity: int) -> None:
        self._platform = platform
        self._granularity = granularity
        self._memory: dict[tuple[str, Role, int], tuple[int, Memory]] = {}

    def room(self, name: str, role: Role, size: int, place: int = 0) -> bool:
        """Make a buffer hold at least `size` bytes. Returns whether it is a new one. Raises MemoryError."""
        have, memory = self._memory.get((name, role, place), (0, None))
        if have >= size:
            return False
        if memory is not None:
            del self._memory[name, role, place]
            self._platform.free(memory)
        rounded = -(-size // self._granularity) * self._granularity
        self._memory[name, role, place] = (rounded, self._platform.allocate(rounded))
        return True

    def get(self, name: str, role: Role, place: int = 0) -> Memory:
        """A buffer's memory."""
        return self._memory[name, role, place][1]

    def all(self) -> Iterator[tuple[str, Memory]]:
        """All memory, each with the name of its array."""
        return ((name, memory) for (name, _, _), (_, memory) in self._memory.items())

    def free(self) -> None:
        """Give all of it back."""
        for _, memory in self._memory.values():
            self._platform.free(memory)
        self._memory.clear()


def whole_words(size: int) -> int:
    """A number of bytes, rounded up to whole words."""
    return -(-size // WORD) * WORD
