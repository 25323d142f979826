"""A kernel's memory on a platform: its arrays, their contents, and the places that samples go round."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import gcd
from typing import Any

import numpy as np

from kernelsweep.device.platform import ELEMENTS, TEXELS, Memory, Platform, constant_bytes
from kernelsweep.device.point.buffers import WORD, Buffers, Role, whole_words
from kernelsweep.device.point.device_results import DeviceResult, ResultComparison, Results
from kernelsweep.errors import MisfitError
from kernelsweep.study.kernels.plan import TENSOR_MAP, Plan, array_of
from kernelsweep.study.problem.file_instance import FileInstance
from kernelsweep.study.problem.problem import ALL_ONES, Array, Elements

# The time of a short kernel depends on where its buffers lie: on an H200 by up to 3% for kernels of 5 to 7 us, while
# runs on the same memory differ by 0.1%. So samples go round several places, each on memory pages of its own. Larger
# arrays have fewer places, such that all fit into PLACED_BYTES: they touch all parts of the memory anyway.
MOST_PLACES = 8
PLACED_BYTES = 2**29
PAGE = 2**21

# Poisons of integers: of four bytes or more with a sign, and of others.
_SMALLEST, _LARGEST, _ODD = 0x80000000, 0x7FFFFFFF, 0xABABABAB

# The widest access of a thread in bytes; guarded arrays end where a multiple of it does.
_WIDEST = 16


@dataclass(frozen=True)
class _Filled:
    """What a place has of an array: the input of this number, up to so many bytes."""

    input: int
    bytes: int


@dataclass(frozen=True)
class _Uploaded:
    """What a buffer of Role.CONTENTS has: an array's contents, repeated so many times."""

    contents: Elements
    repeats: int


class KernelMemory:
    """The memory of a kernel's points, one point after another. It is kept between points, and grows with them.

    A kernel that changes an array's contents works on a copy, which is restored before every run.

    comparison  compares results on the platform
    """

    def __init__(self, platform: Platform, own_pages: bool) -> None:
        """`own_pages`: whether each buffer starts on a memory page of its own, as for places."""
        self._platform = platform
        guard = platform.guard_bytes
        granularity = 1 if platform.watches else PAGE if own_pages else _WIDEST if any(guard) else WORD
        self._buffers = Buffers(platform, granularity, guard)
        self.comparison = ResultComparison(platform)
        self._filled: dict[tuple[str, int], _Filled] = {}  # by array and place
        self._uploaded: dict[tuple[str, int], _Uploaded] = {}  # by array and number of the input
        self._arrays: dict[str, Array] = {}  # of the point that was prepared last
        self._input = 0  # the number of the input that was prepared
        self._has_pointers = False  # whether a structure has the address of an array
        self._alternates = False  # whether every second place has the second input
        # Of the inputs, by their numbers: arrays with contents, and scalars.
        self._inputs: dict[int, Mapping[str, Array]] = {}
        self._scalars: dict[int, Mapping[str, Any]] = {}

    def prepare(self, plan: Plan, instance: FileInstance, number: int = 0) -> None:
        """Make room for a point's arrays, and put their contents in place. Raises MemoryError and LaunchError.

        number   of the input: what was uploaded of one stays on the device while the other is in place
        """
        arrays, scalars = arrays_of(plan, instance), instance.scalars()
        self._results = plan.results or {name: array.size for name, array in arrays.items() if array.is_result}
        named = {array_of(one) for launch in plan.launches for one in launch.arguments if isinstance(one, str)}
        named |= {*plan.variables}
        given = {name: one for name, one in {**scalars, **arrays}.items() if name in {*named, *plan.constants}}
        pointed = [one.dtype for one in given.values() if isinstance(one, Array | np.void)]
        pointed = [dtype for dtype in pointed if _pointers(dtype)]
        named |= {name for dtype in pointed for name in _pointers(dtype).values()}
        self._arrays = {name: array for name, array in arrays.items() if name in named or name in self._results}
        self._input, self._alternates = number, False
        self._scalars[number], self._inputs[number] = scalars, self._with_contents()
        self._constants = [arrays[name].contents for name in plan.constants]
        self._has_pointers = any({*_pointers(dtype).values()} & {*self._arrays} for dtype in pointed)
        self._make_room()
        self.set_constants(plan, instance)

    def set_constants(self, plan: Plan, instance: FileInstance) -> None:
        """Copy a plan's constants, which are among the problem's inputs, to the variables of its first function."""
        arrays = arrays_of(plan, instance)
        for name in plan.constants:
            contents = arrays[name].contents
            assert contents is not None, "a constant is one of the problem's inputs"
            values = np.resize(self._with_addresses(contents), arrays[name].size)
            memory, size = self._platform.variable(plan.launches[0].function, name)
            self._platform.synchronize()
            self._platform.upload(memory, constant_bytes(name, values, size))

    def copies(self, plan: Plan, place: int = 0, back: bool = False) -> list[Callable[[], None]]:
        """Functions that queue the copies of arrays to a plan's variables, or back from there. Raises MisfitError."""
        found: list[Callable[[], None]] = []
        for name in plan.variables:
            variable, size = self._platform.variable(plan.launches[0].function, name)
            array, memory = self._arrays[name], self._memory_of(name, place)
            needed = array.size * array.dtype.itemsize
            if needed > size:
                raise MisfitError(f"the variable {name} has {size} bytes, the problem's array has {needed}")
            target, source = (memory, variable) if back else (variable, memory)
            found.append(partial(self._platform.copy, target, source, needed))
        return found

    def _with_addresses(self, value: Any, place: int = 0) -> Any:
        """A structure, or an array of them, with the addresses of the arrays that its fields name; else the value.

        What such a field holds is added to the address.
        """
        pointers = {field: name for field, name in _pointers(value.dtype).items() if name in self._arrays}
        if not pointers:
            return value
        filled = np.array(value).copy()  # NumPy makes an array of a structure in the same memory.
        for field, name in pointers.items():
            filled[field] += np.uint64(self._platform.address(self._memory_of(name, place)))
        return filled[()] if isinstance(value, np.generic) else filled

    def changed(self) -> list[str]:
        """The arrays whose contents the run before has changed, though nothing says that the kernel may."""
        changed = [
            name for name, array in self._with_contents().items() if not array.updated and not self._is_unchanged(name)
        ]
        for name in changed:
            self._forget(name)
        return changed

    @property
    def dtypes(self) -> dict[str, np.dtype[Any]]:
        """The element types of the point's arrays by their names."""
        return {name: array.dtype for name, array in self._arrays.items()}

    @property
    def contents_bytes(self) -> int:
        """The bytes of all contents, each counted once where it repeats."""
        return sum(_contents_bytes(array) for array in self._with_contents().values())

    @property
    def bytes(self) -> int:
        """The bytes of all arrays."""
        return sum(map(_bytes, self._arrays.values()))

    def overwritten(self) -> str | None:
        """Which element outside of an array the runs so far have written, in a sentence, or None. Waits for them."""
        for name, array in self._arrays.items():
            place = self._buffers.overwritten(name, self._role(name), _bytes(array), self._poison_of(array))
            if place is not None:
                side = "before the start" if place < 0 else "past the end"
                return f"the kernel writes {side} of {name}: {self.element(name, place)}"
        return None

    def element(self, name: str, offset: int) -> str:
        """The element of an array at a byte, which may lie outside of it, in words."""
        array = self._arrays[name]
        return f"{name}[{offset // array.dtype.itemsize}], where {name} has {array.size:,} elements"

    def forget_contents(self) -> None:
        """Put all contents in place again for the next point, after a run that may have written anything."""
        self._filled.clear()

    def prepare_places(self, plan: Plan, second: FileInstance | None = None) -> int:
        """Make the arrays that the kernel is given at several places. Returns the number of places.

        second  the second input, which every second place has then, unless constants or sizes differ between the two
        """
        places = max(1, min(MOST_PLACES, PLACED_BYTES // max(self.bytes, 1)))
        if self._has_pointers:
            places = 1
        if second and places > 1 and self._is_alike(arrays := arrays_of(plan, second), plan):
            self._alternates, places = True, places - places % 2
            self._scalars[1] = second.scalars()
            self._inputs[1] = {name: arrays[name] for name in self._with_contents()}
            self._drop_other_contents(1)
        for place in range(1, places):
            try:
                for name in self._arrays:
                    self._allocate(name, self._role(name), place)
                for name in self._with_contents():
                    if self._arrays[name].updated and place == self._origin(place):
                        self._allocate(name, Role.ARRAY, place)
                    if not self._arrays[name].updated or place == self._origin(place):
                        self._put(name, place)
            except MemoryError:
                self._alternates = self._alternates and place > 1
                places = place - place % 2 if self._alternates else place
                break
        self._platform.synchronize()
        return places

    def input_at(self, place: int) -> int:
        """The number of the input that a place has."""
        return self._origin(place) or self._input

    def argument(self, value: str | np.generic, place: int = 0) -> Memory | np.generic:
        """What a launch passes for an argument of its plan: an array's memory, or a scalar."""
        if not isinstance(value, str):
            return value
        if value in self._arrays:
            return self._memory_of(value, place)
        if made := TENSOR_MAP.fullmatch(value):
            return self._tensor_map(made[1], place, list(map(float, made[2].split(","))), int(made[3]))
        if (name := array_of(value)) != value:
            return np.uint64(self._texture(name, place, value.startswith("linear")))
        scalar: np.generic = self._scalars[self.input_at(place)][value]
        return self._with_addresses(scalar, place) if isinstance(scalar, np.void) else scalar

    def _texture(self, name: str, place: int, is_linear: bool) -> int:
        """The handle of a texture made from an array. Raises MisfitError where none can be."""
        array = self._arrays[name]
        *rows, width = array.shape or (array.size,)
        channels = 1
        if rows and width in (2, 4):  # A row of so few numbers would be none of a multiple of 32 bytes.
            channels = width
            *rows, width = rows
        bytes_of_row = width * channels * array.dtype.itemsize
        fits = array.dtype.name in TEXELS and len(rows) < 2 and not (rows and bytes_of_row % 32)
        if not fits or (is_linear and not (rows and array.dtype == np.float32)):
            raise MisfitError(
                f"{name} makes no texture: it needs one or two dimensions, rows of a multiple of 32 bytes, and "
                "integers or float32 of at most 32 bits; for linear_texture two dimensions, and float32. A last "
                "dimension of 2 or 4 makes texels such as float4"
            )
        sides = (width, sum(rows))
        return self._platform.texture(self._memory_of(name, place), array.dtype, sides, is_linear, channels)

    def _tensor_map(self, name: str, place: int, box: list[float], swizzle: int) -> np.void:
        """The tensor map of an array, with tiles of `box` elements. Raises MisfitError where none can be."""
        array = self._arrays[name]
        sides, bytes_of = array.shape or (array.size,), array.dtype.itemsize
        fits = array.dtype.name in ELEMENTS and len(sides) == len(box) <= 5 and swizzle in (0, 32, 64, 128)
        rows = box[-1:] if len(sides) == 1 else [box[-1], sides[-1]]
        fits = fits and (not swizzle or box[-1] * bytes_of <= swizzle)
        if not fits or any(side not in range(1, 257) for side in box) or any(row * bytes_of % 16 for row in rows):
            raise MisfitError(
                f"{name} makes no tensor map: it needs one to five dimensions and numbers of 1 to 8 bytes, and its "
                "tile as many sides, each from 1 to 256; the rows of both have a multiple of 16 bytes, and swizzle is "
                "32, 64 or 128, and no less than a tile's row has bytes"
            )
        whole = [int(side) for side in box[::-1]]
        return self._platform.tensor_map(self._memory_of(name, place), array.dtype, sides[::-1], whole, swizzle)

    def restorations(self, place: int = 0) -> list[Callable[[], None]]:
        """Functions that queue the restoration of all arrays whose contents the point changes."""
        origin = self._origin(place)
        return [
            partial(
                self._platform.copy,
                self._memory_of(name, place),
                self._buffers.get(name, Role.ARRAY, origin),
                _bytes(array),
            )
            for name, array in self._arrays.items()
            if self._arrays[name].updated
        ]

    def poisonings(self, place: int = 0) -> list[Callable[[], None]]:
        """Functions that queue the overwriting of all arrays without contents, so that missing writes show."""
        return [
            partial(self._platform.fill, self._memory_of(name, place), _bytes(array), self._poison_of(array, place))
            for name, array in self._arrays.items()
            if array.contents is None
        ]

    def results(self, place: int = 0) -> Results:
        """The results of the last run at a place, by the names of their arrays."""
        return {
            name: DeviceResult(self._memory_of(name, place), self._arrays[name].dtype, count)
            for name, count in self._results.items()
        }

    def fetched_results(self, place: int = 0) -> dict[str, Elements]:
        """The elements of the last run's results at a place, by the names of their arrays."""
        return {name: result.fetched(self._platform) for name, result in self.results(place).items()}

    def untouched(self, results: Mapping[str, Elements], place: int = 0) -> str:
        """How many elements of results hold what they were poisoned with, as the end of a sentence; "" where none does.

        Those of less than four bytes may do so by chance.
        """
        for name, elements in results.items():
            array = self._arrays[name]
            if array.contents is None and array.dtype.itemsize >= WORD:
                words = whole_words(elements.nbytes) // WORD
                poison = np.full(words, self._poison_of(array, place), np.uint32).view(np.uint8)[: elements.nbytes]
                raw = np.dtype(np.uint32 if array.dtype.itemsize == WORD else (np.void, array.dtype.itemsize))
                if count := int(np.count_nonzero(elements.view(raw) == poison.view(raw))):
                    return f"; {count:,} of {name}'s elements hold what they held before the run"
        return ""

    def buffers(self) -> Iterator[tuple[Memory, str, np.dtype[Any]]]:
        """All memory of the point's arrays, each with the array's name and type: of several dimensions, a row's."""
        for name, memory in self._buffers.all():
            if name in self._arrays:
                array = self._arrays[name]
                yield memory, name, np.dtype((array.dtype, array.shape[1:]))

    def free(self) -> None:
        """Give all buffers back."""
        self._buffers.free()
        self.comparison.free()
        self._filled.clear()
        self._uploaded.clear()

    def _with_contents(self) -> Mapping[str, Array]:
        return {name: array for name, array in self._arrays.items() if array.contents is not None}

    def _memory_of(self, name: str, place: int = 0) -> Memory:
        return self._buffers.get(name, self._role(name), place)

    def _role(self, name: str) -> Role:
        return Role.COPY if self._arrays[name].updated else Role.ARRAY

    def _origin(self, place: int) -> int:
        """The place with the same input that is filled from the input's contents."""
        return place % 2 if self._alternates else 0

    def _is_alike(self, arrays: Mapping[str, Array], plan: Plan) -> bool:
        """Whether a second input's arrays can be beside those of the first."""
        sizes = all(arrays[name].size == array.size for name, array in self._arrays.items())
        return sizes and all(
            np.array_equal(arrays[name].contents, values)  # type: ignore[arg-type]
            for name, values in zip(plan.constants, self._constants, strict=True)
        )

    def _poison_of(self, array: Array, place: int = 0) -> int:
        """What an array without contents holds before a kernel writes there: a 32-bit word, repeated.

        Wherever it is left, or is combined with right values, the results are wrong: NaN, and of integers the smallest
        for the first input and the largest for the second, since a minimum hides the one and a maximum the other.
        """
        if array.dtype.kind == "i" and array.dtype.itemsize >= WORD:
            return _LARGEST if self.input_at(place) else _SMALLEST
        return _ODD if array.dtype.kind in "iu" else ALL_ONES

    def _make_room(self) -> None:
        """Allocate the point's buffers, and put the part of the contents in place that is not there yet."""
        self._drop_other_contents(self._input)
        for name in [name for name, array in self._with_contents().items() if _pointers(array.dtype)]:
            self._forget(name)
            self._uploaded.pop((name, self._input), None)
        for name in self._with_contents():
            self._allocate(name, Role.ARRAY)
        for name in self._arrays:
            self._allocate(name, self._role(name))
        for name in self._with_contents():
            self._put(name, 0)
        for name, array in self._arrays.items():
            self._buffers.set_guards(name, self._role(name), _bytes(array), self._poison_of(array))
            if (name, 0) in self._filled:  # The guard may lie on more contents, of a longer array before.
                filled = self._filled[name, 0]
                self._filled[name, 0] = replace(filled, bytes=min(filled.bytes, _bytes(array)))

    def _allocate(self, name: str, role: Role, place: int = 0) -> None:
        array = self._arrays[name]
        if self._buffers.room(name, role, array.size * array.dtype.itemsize, place) and role is Role.ARRAY:
            self._filled.pop((name, place), None)

    def _put(self, name: str, place: int) -> None:
        """Copy the contents of a place's input there, unless they are there already."""
        size, number, origin = _bytes(self._arrays[name]), self.input_at(place), self._origin(place)
        filled = self._filled.get((name, place))
        if filled and filled.input == number and filled.bytes >= size:
            return
        if place == origin:
            self._fill(name, self._inputs[number][name], place)
        else:
            source, target = (self._buffers.get(name, Role.ARRAY, at) for at in (origin, place))
            self._platform.copy(target, source, size)
        self._filled[name, place] = _Filled(number, size)

    def _fill(self, name: str, array: Array, place: int) -> None:
        """Repeat an array's contents over it."""
        size, repeats, number = _bytes(array), _repeats(array), self.input_at(place)
        if (name, number) not in self._uploaded:
            assert array.contents is not None
            uploaded = _in_words(self._with_addresses(array.contents, place), repeats)
            self._buffers.room(name, Role.CONTENTS, uploaded.nbytes, number)
            self._platform.upload(self._buffers.get(name, Role.CONTENTS, number), uploaded)
            self._uploaded[name, number] = _Uploaded(array.contents, repeats)
        memory, filled = self._buffers.get(name, Role.ARRAY, place), min(_contents_bytes(array), size)
        self._platform.copy(memory, self._buffers.get(name, Role.CONTENTS, number), filled)
        while filled < size:
            step = min(filled, size - filled)
            self._platform.copy(memory, memory, step, filled)
            filled += step

    def _drop_other_contents(self, number: int) -> None:
        """Forget what other points have left of the input of a number."""
        for name, array in self._inputs[number].items():
            uploaded = self._uploaded.get((name, number))
            if not uploaded or uploaded.contents is not array.contents or uploaded.repeats != _repeats(array):
                self._uploaded.pop((name, number), None)
                self._filled = {
                    key: filled for key, filled in self._filled.items() if key[0] != name or filled.input != number
                }

    def _is_unchanged(self, name: str) -> bool:
        """Whether the last run left an array's contents unchanged. Compared on the device."""
        array = self._arrays[name]
        memory, size = self._memory_of(name), _bytes(array)
        first = min(_contents_bytes(array), size)
        return self._platform.equal(memory, self._buffers.get(name, Role.CONTENTS, self._input), first) and (
            # Each further repetition is the one before it.
            size == first or self._platform.equal(memory, memory, size - first, first)
        )

    def _forget(self, name: str) -> None:
        """Have an array's contents put in place again, at all places."""
        self._filled = {at: was for at, was in self._filled.items() if at[0] != name}


def arrays_of(plan: Plan, instance: FileInstance) -> dict[str, Array]:
    """The arrays of a problem's instance, the kernel's own, and the scalars that are variables."""
    scalars = {name: one for name, one in instance.scalars().items() if isinstance(one, np.generic)}
    constants = {name: scalars[name] for name in (*plan.constants, *plan.variables) if name in scalars}
    arrays = {**instance.arrays(), **plan.arrays}
    arrays |= {name: Array(one.dtype, 1, np.array([one], one.dtype)) for name, one in constants.items()}
    return arrays | {name: replace(arrays[name], updated=True) for name in plan.updates if name in arrays}


def _pointers(dtype: Any) -> dict[str, str]:
    """The fields of a structure that hold the address of an array, if there is one of their name up to a dot."""
    return {field: field.partition(".")[0] for field in dtype.names or () if dtype[field] == np.uint64}


def _bytes(array: Array) -> int:
    """The bytes of an array, rounded up to whole words."""
    return whole_words(array.size * array.dtype.itemsize)


def _repeats(array: Array) -> int:
    """How often an array's contents are uploaded one after another, so that a further repetition begins at a word."""
    assert array.contents is not None
    return 1 if array.contents.size == array.size else WORD // gcd(WORD, array.contents.nbytes)


def _contents_bytes(array: Array) -> int:
    assert array.contents is not None
    return whole_words(array.contents.nbytes * _repeats(array))


def _in_words(contents: Elements, repeats: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """The bytes of repeated contents, with zeros up to a whole word."""
    found = np.tile(contents.view(np.uint8), repeats) if repeats > 1 else contents.view(np.uint8)
    return np.pad(found, (0, -found.size % WORD)) if found.size % WORD else found
