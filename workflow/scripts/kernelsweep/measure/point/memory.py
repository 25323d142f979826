"""A kernel's memory on a platform: its buffers, the input in them, and the places that samples go round."""

from __future__ import annotations

import numpy as np

from kernelsweep.platforms.platform import Memory, Platform
from kernelsweep.problems.operations import Array
from kernelsweep.problems.problem import Instance
from kernelsweep.sweep.kernels.launch_plans import DATA, Plan
from kernelsweep.sweep.points import Point

# Buffers besides the plan's: the working copy of the input for a kernel that updates its input, and one repetition of
# the input's contents, which no kernel is given.
_COPY = "copy"
_TILE = "tile"

# The time of a short kernel depends on where its buffers lie: on an H200 by up to 3% for kernels of 5 to 7 us, while
# runs on the same memory differ by 0.1%. So samples go round several places, each on memory pages of its own. Larger
# arrays have fewer places, such that all fit into PLACED_BYTES: they touch all parts of the memory anyway.
MOST_PLACES = 8
PLACED_BYTES = 2**29
PAGE = 2**21

_WORD = 4  # Platform.fill() writes whole words.


class Buffers:
    """Memory by name and place.

    granularity  bytes to which every allocation is rounded up
    """

    def __init__(self, platform: Platform, granularity: int) -> None:
        self._platform = platform
        self._granularity = granularity
        self._memory: dict[tuple[str, int], tuple[int, Memory]] = {}

    def room(self, name: str, size: int, place: int = 0) -> bool:
        """Make a buffer hold at least `size` bytes. Returns whether it is a new one. Raises MemoryError."""
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


class KernelMemory:
    """The memory of a kernel's points, one point after another. It is kept between points, and grows with them.

    A kernel that updates its input works on a copy, which is restored before every run. Whether it does is found by
    comparing the input after a run with what it was.
    """

    def __init__(self, platform: Platform, own_pages: bool) -> None:
        """`own_pages`: whether each buffer starts on a memory page of its own, as for places."""
        self._platform = platform
        self._buffers = Buffers(platform, PAGE if own_pages else _WORD)
        self._filled: dict[int, int] = {}  # the bytes of input that are in place, by place
        self._tile_of: Instance | None = None
        self._updated_before = False  # whether some point so far has updated its input

    def prepare(self, point: Point, plan: Plan, instance: Instance, updates_input: bool | None = None) -> None:
        """Make room for a point's buffers, and put its input in place. Raises MemoryError.

        updates_input  whether the point updates its input; None if that is still to be found
        """
        self._plan, self._instance = plan, instance
        self._input_bytes = point["array_size"] * instance.dtype.itemsize
        # A kernel that has updated its input before gets a copy at once, and not only after a first run on the input.
        self._uses_copy = self._updated_before if updates_input is None else updates_input
        if instance is not self._tile_of:
            self._filled.clear()
        self._make_room()
        for name, count in plan.zeroed.items():
            self._platform.upload(self._buffers.get(name), np.zeros(count, instance.dtype))

    def settle_input(self) -> bool:
        """Whether the run before changed its input. If so, the point works on a copy from now on; if not, on the input.

        Raises MemoryError.
        """
        changed = not self._input_is_unchanged()
        if changed and not self._uses_copy:
            self._filled.clear()
        self._updated_before |= changed
        self._uses_copy = changed
        self._make_room()
        return changed

    def forget_input(self) -> None:
        """Fill the input again for the next point, after a run that may have written anything."""
        self._filled.clear()

    def prepare_places(self) -> int:
        """Make the buffers that the kernel touches at several places. Returns the number of places."""
        touched = self._touched()
        places = max(1, min(MOST_PLACES, PLACED_BYTES // max(sum(touched.values()), 1)))
        for place in range(1, places):
            try:
                new = [name for name, size in touched.items() if self._buffers.room(name, size, place)]
            except MemoryError:
                return place
            if DATA in new:
                self._filled.pop(place, None)
            size = touched.get(DATA, 0)
            if self._filled.get(place, 0) < size:
                self._platform.copy(self._buffers.get(DATA, place), self._buffers.get(DATA), size)
                self._filled[place] = size
            for name, count in self._plan.zeroed.items():
                self._platform.upload(self._buffers.get(name, place), np.zeros(count, self._instance.dtype))
        self._platform.synchronize()
        return places

    def argument(self, value: str | int, place: int = 0) -> Memory | int:
        """The value that a launch passes for an argument of its plan: a buffer's memory, or the number itself."""
        if not isinstance(value, str):
            return value
        return self._buffers.get(_COPY if value == DATA and self._uses_copy else value, place)

    @property
    def updates_input(self) -> bool:
        """Whether the input is restored before every run."""
        return self._uses_copy

    def restore_input(self, place: int = 0) -> None:
        """Queue the input's restoration, if the point updates it."""
        if self._uses_copy:
            self._platform.copy(self._buffers.get(_COPY, place), self._buffers.get(DATA), self._input_bytes)

    def poison(self) -> None:
        """Queue the overwriting of all memory that the plan writes, so that missing writes show."""
        for name, count in self._plan.buffers.items():
            size = count * self._instance.dtype.itemsize
            self._platform.fill(self._buffers.get(name), size, self._instance.poison)

    def results(self) -> Array:
        """The results of the last run, shape (plan.results,)."""
        results = np.empty(self._plan.results, self._instance.dtype)
        self._platform.download(self.argument(self._plan.result), results)
        return results

    def not_zeroed(self) -> str | None:
        """A message if the run before did not leave the plan's zeroed buffers zero, or None."""
        for name, count in self._plan.zeroed.items():
            left = np.empty(count * self._instance.dtype.itemsize, np.uint8)
            self._platform.download(self._buffers.get(name), left)
            if left.any():
                found = f"{np.count_nonzero(left)} bytes of it are not"
                return f"the result is right, but {name} is not left zero, as the next run needs it: {found}"
        return None

    def free(self) -> None:
        """Give all buffers back."""
        self._buffers.free()
        self._filled.clear()
        self._tile_of = None

    def _touched(self) -> dict[str, int]:
        """The sizes, in bytes, of the buffers that the kernel itself reads or writes."""
        counts = {**self._plan.buffers, **self._plan.zeroed}
        named = {name: count * self._instance.dtype.itemsize for name, count in counts.items()}
        return {_COPY if self._uses_copy else DATA: self._input_bytes, **named}

    def _make_room(self) -> None:
        """Allocate the buffers that the point needs, and fill the part of the input that is not filled yet."""
        if self._buffers.room(DATA, self._input_bytes):
            self._filled.clear()
        for name, size in self._touched().items():
            self._buffers.room(name, size)
        if self._filled.get(0, 0) < self._input_bytes:
            self._fill_input()

    def _fill_input(self) -> None:
        """Repeat the problem's tile over the input."""
        tile, size = self._instance.tile, self._input_bytes
        if self._instance is not self._tile_of:
            self._buffers.room(_TILE, tile.nbytes)
            self._platform.upload(self._buffers.get(_TILE), tile)
            self._tile_of = self._instance
        memory, filled = self._buffers.get(DATA), min(tile.nbytes, size)
        self._platform.copy(memory, self._buffers.get(_TILE), filled)
        while filled < size:
            step = min(filled, size - filled)
            self._platform.copy(memory, memory, step, filled)
            filled += step
        self._filled[0] = size

    def _input_is_unchanged(self) -> bool:
        """Whether the last run left its input unchanged: the problem's tile, repeated. Compared on the device."""
        memory, tile = self.argument(DATA), min(self._instance.tile.nbytes, self._input_bytes)
        return self._platform.equal(memory, self._buffers.get(_TILE), tile) and (
            # Each further repetition is the one before it.
            self._input_bytes == tile or self._platform.equal(memory, memory, self._input_bytes - tile, tile)
        )
