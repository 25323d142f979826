"""The interface of a platform, on which points run. Each platform is a module that implements it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from kernelsweep.errors import LaunchError, MisfitError
from kernelsweep.study.kernels.plan import Launch

# A stream holds about 1,000 commands; the host waits where more are queued. While samples are timed, a GPU's stream
# waits for the host, so that two samples with what prepares them must fit. A plan of more launches is one command, a
# graph.
MOST_LAUNCHES = 300

# A platform's memory, as its allocate() returns it.
Memory = Any

# What a launch passes to a kernel.
Given = Sequence[Memory | np.generic]


class Address(int):
    """A place in a GPU's memory, which a kernel takes as a pointer, and not as a number."""


@dataclass(frozen=True)
class Conditions:
    """A device's state at one moment; None for a quantity that it doesn't report.

    clock_mhz         of the multiprocessors
    power_w           of the board; on some GPUs an average over about the last second
    throttle_reasons  why the clock is lowered, such as sw_power_cap; empty if it isn't, or if the device doesn't say
    clocks_are_set    whether the clock is held by a setting of the user's
    """

    clock_mhz: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    throttle_reasons: tuple[str, ...] = ()
    clocks_are_set: bool = False


@dataclass(frozen=True)
class MemoryMistake:
    """A mistake in a kernel's use of memory; its fields are those of the emulator's Finding (mistakes.py)."""

    kind: str
    lines: tuple[str, ...]
    message: str
    count: int
    array: str = ""
    is_doubtful: bool = False
    is_below: bool = False


# The types of a texture's elements, by CUarray_format's number.
TEXELS = {"uint8": 1, "uint16": 2, "uint32": 3, "int8": 8, "int16": 9, "int32": 10, "float32": 32}

# The types of a tensor map's elements, by CUtensorMapDataType's number.
ELEMENTS = {"uint8": 0, "int8": 0, "uint16": 1, "int16": 1, "uint32": 2, "int32": 3, "uint64": 4, "int64": 5}
ELEMENTS |= {"float16": 6, "float32": 7, "float64": 8, "bfloat16": 9}


class Platform(Protocol):
    """Allocates, copies, launches and times. All calls but allocate, upload, download, equal and within are queued.

    A platform inherits what is here of things that it hasn't.

    has_clock     whether the platform's times mean anything
    uuid          the device's UUID; empty if it has none
    busy_seconds  how long the host has waited for the device so far

    guard_bytes   how many bytes before and behind an array a kernel may overwrite unnoticed; the caller guards them. 0
                  behind it: the platform notices itself, if the array ends where its allocation does

    watches       whether the platform sees every access to memory, and finds mistakes
    """

    has_clock: bool
    uuid: str = ""
    busy_seconds: float = 0.0
    guard_bytes: tuple[int, int]
    watches: bool = False

    @staticmethod
    def describe(platform: str) -> dict[str, Any]:
        """The device of a platform, by its name as in results/: what results are read against, and how they came about.

        kind, a key of kinds.KINDS; name, multiprocessors; peak_bandwidth_gbs, None without a clock; provenance; and
        what else the device tells. Raises UserError if there is no such device.
        """

    def allocate(self, size: int) -> Memory:
        """`size` bytes, with room for whole words. Where the platform watches, no kernel has more than `size`.

        Raises MemoryError.
        """

    def free(self, memory: Memory) -> None:
        """Give memory back."""
        return

    def part(self, memory: Memory, offset: int) -> Memory:
        """The memory from `offset` bytes on. Only the whole memory can be freed."""

    def address(self, memory: Memory) -> int:
        """Where memory begins, as a kernel has it in a pointer."""

    def texture(
        self, memory: Memory, dtype: np.dtype[Any], sides: tuple[int, int], is_linear: bool, channels: int = 1
    ) -> int:
        """A handle of a texture on memory, which it reads at places that are clamped, of width and height.

        dtype     one of TEXELS
        sides     width and height; a height of 0 is tex1Dfetch's
        channels  the numbers of a texel: 1, 2 or 4
        """

    def tensor_map(
        self, memory: Memory, dtype: np.dtype[Any], sides: Sequence[int], box: Sequence[int], swizzle: int
    ) -> np.void:
        """A CUtensorMap of memory, whose tiles have zeros outside of it.

        dtype       one of ELEMENTS
        sides, box  elements of the array and of a tile in each dimension, the innermost first
        swizzle     bytes of a swizzled tile's rows, or 0

        Raises LaunchError where there is none.
        """

    def upload(self, memory: Memory, array: np.ndarray[Any, Any], offset: int = 0) -> None:
        """Copy an array from the host to `offset` bytes in `memory`."""

    def download(self, memory: Memory, array: np.ndarray[Any, Any]) -> None:
        """Fill an array on the host from the start of `memory`."""

    def copy(self, target: Memory, source: Memory, size: int, offset: int = 0) -> None:
        """Copy `size` bytes from the start of `source` to `offset` in `target`."""

    def fill(self, memory: Memory, size: int, word: int) -> None:
        """Overwrite the first `size` bytes, rounded up to whole words, with copies of a 32-bit word."""

    def equal(self, first: Memory, second: Memory, size: int, offset: int = 0) -> bool:
        """Whether `size` bytes from `offset`, a multiple of 4, in `first` equal the start of `second`.

        Waits for all that is queued. Raises as synchronize() does.
        """

    def error_share(
        self, found: Memory, dtype: np.dtype[Any], count: int, right: tuple[Memory, Memory], counts: tuple[int, int]
    ) -> float | None:
        """The largest error of `count` floats of a type, as a share of its bound; None where one exceeds it, or is NaN.

        right   what is expected, and bounds, in float64; both repeat
        counts  their numbers of elements

        Waits for all that is queued. Raises as synchronize() does.
        """

    def flush_cache(self) -> None:
        """Evict everything from the L2 cache."""
        return

    def load(self, binary: Path, variants: dict[str, dict[str, Any]]) -> None:
        """Load a build's binary, in addition to those before; `variants` as in its report."""

    def unload(self) -> None:
        """Forget all binaries."""
        return

    def parameter_types(self, variant: str) -> Sequence[str]:
        """What a function's parameters hold, each a kind and its bytes, such as f4; empty where nothing tells.

        A pointer to numbers is "p8 f4".

        Kinds are p a pointer, f a float of IEEE 754, b a bfloat16, i and u a whole number with and without a sign, s a
        structure, and ? what nothing tells.
        """

    def restorations(self, variants: Iterable[str]) -> list[Callable[[], None]]:
        """Functions that queue the restoration of all variables in global memory, as the functions' binaries have them.

        None where the platform knows no such variables.
        """
        return []

    def leaves_state(self, variants: Iterable[str]) -> bool:
        """Whether a variable that restorations() restores has another value now. Waits for all that is queued."""
        return False

    def variable(self, variant: str, name: str) -> tuple[Memory, int]:
        """A variable in the constant or global memory of a function's unit, and its bytes. Raises LaunchError.

        It is the host's from now on: restorations() does not know it.
        """
        raise LaunchError(f"the kernel has no variable {name}")

    def launcher(self, launch: Launch, arguments: Given) -> Callable[[], None]:
        """What queues a launch with these arguments in place of its names. Raises LaunchError, as it.

        NumPy scalars are passed at their own width.
        """

    def sequence(self, launches: Sequence[Callable[[], None]]) -> Callable[[], None]:
        """What queues several launches, made by launcher(), one after another. Raises LaunchError, as each of them."""

        def queue() -> None:
            for launch in launches:
                launch()

        return queue

    def occupancy(self, launch: Launch) -> float | None:
        """The fraction of a multiprocessor's threads that can be resident, or None if the platform doesn't know."""
        return None

    def synchronize(self) -> None:
        """Wait for all queued work. Raises LaunchError or ContextLost if some of it failed."""
        return

    def time(self, sample: Any, count: int) -> list[float]:
        """Run `sample(start, stop)` `count` times and return the microseconds between its start() and stop().

        All that follows the first start() is queued before it runs, so that no launch latency falls between the two.
        Ends synchronised.
        """

    def conditions(self) -> Conditions:
        """The device's state while the last samples ran."""
        return Conditions()

    def other_processes(self) -> tuple[int, ...]:
        """The ids of processes on the device that are not kernelsweep's, as far as the platform knows them."""
        return ()

    def start_profiler(self) -> None:
        """Have a profiler that observes this process record the launches that follow."""
        return

    def stop_profiler(self) -> None:
        """Wait for all that is queued, and have the profiler record no further launch."""
        return

    def watch(self, filling: int | None = None) -> None:
        """Look for mistakes in the use of memory from now on. Memory that is not filled after this is uninitialised.

        filling  a byte that uninitialised memory is full of, and that plain reads get which were in a race with atomic
                 functions. Races of writes that store one value are then same_value, and those of such reads
                 unordered_read
        """
        return

    def set_order(self, number: int) -> None:
        """Run blocks, warps and lanes in another order from now on, where the platform can; 0 for the usual one."""
        return

    def order_name(self, number: int) -> str:
        """What runs first in an order, in words."""
        return ""

    def steps(self, memory: Memory | None = None, offset: int = 0, size: int = 0) -> list[str]:
        """Some atomic functions since watch() in their order, in words; those at a place, where memory is given."""
        return []

    def mistakes(self, buffers: Iterable[tuple[Memory, str, np.dtype[Any]]]) -> list[MemoryMistake]:
        """The mistakes since watch(); none where the platform doesn't watch.

        buffers  all buffers, each with the name of the array in it, for messages, and the type of its rows or elements
        """
        return []

    def touched(self, memory: Memory) -> int:
        """The bytes of a buffer up to the last one that a launch has accessed; 0 where the platform doesn't watch."""
        return 0

    def counts(self) -> dict[str, float]:
        """Metrics of all launches since watch(), by name; empty where the platform counts none."""
        return {}

    def close(self) -> None:
        """Release the device before the process ends. All memory must have been freed; nothing may be called later."""
        return


def constant_bytes(name: str, values: np.ndarray[Any, Any], size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The content of a variable of `size` bytes in constant memory: the values, then ones.

    Raises MisfitError if the values are longer.
    """
    if values.nbytes > size:
        raise MisfitError(f"the variable {name} in constant memory has {size} bytes, its values have {values.nbytes}")
    content = np.full(size, 0xFF, np.uint8)
    content[: values.nbytes] = values.view(np.uint8)
    return content
