"""A kernel's buffers on a platform: kept between points, grown with them, each at one place of the memory or more."""

from __future__ import annotations

from kernelsweep.platforms.platform import Memory, Platform


class Buffers:
    """Memory by name and place.

    granularity  bytes to which every allocation is rounded up
    """

    def __init__(self, platform: Platform, granularity: int) -> None:
        self._platform = platform
        self._granularity = granularity
        self._memory: dict[tuple[str, int], tuple[int, Memory]] = {}

    def room(self, name: str, size: int, place: int = 0) -> bool:
        """Make a buffer hold at least `size` bytes; True where it had to be allocated anew. Raises MemoryError."""
        have, memory = self._memory.get((name, place), (0, None))
        if have >= size:
            return False
        if memory is not None:
            del self._memory[name, place]
            self._platform.free(memory)
        rounded = -(-size // self._granularity) * self._granularity
        self._memory[name, place] = (rounded, self._platform.allocate(rounded))
        return True

    def get(self, name: str, place: int = 0) -> Memory:
        """A buffer's memory."""
        return self._memory[name, place][1]

    def free(self) -> None:
        """Give all of it back."""
        for _, memory in self._memory.values():
            self._platform.free(memory)
        self._memory.clear()
