"""Results are judged on the device as on the host, and right ones are not fetched."""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar

import numpy as np
import pytest
from checkout import ROOT
from emulator_units import INCLUDE, runtime, write_unit

from kernelsweep.build import gcc
from kernelsweep.float_order import floats_of, order_of
from kernelsweep.measure.point.device_results import DeviceResult, ResultComparison
from kernelsweep.platforms.emulated_library import EmulatedLibrary
from kernelsweep.platforms.emulator import EmulatorPlatform
from kernelsweep.problems.array_values import ArrayValue, read_dtype
from kernelsweep.problems.comparison import right, wide
from kernelsweep.problems.result_limits import limits_of

FLOATS = ["float16", "bfloat16", "float32", "float64"]


def value(array: np.ndarray[Any, Any]) -> ArrayValue:
    return ArrayValue(array.dtype, array.shape, array.reshape(-1))


def planted_references(dtype: np.dtype[Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """References of float64 and their bounds: ordinary, tiny, near the type's largest, zeros, infinities."""
    random = np.random.default_rng(1)
    largest = float(floats_of(order_of(np.array([np.inf]).astype(dtype)) - 1, dtype)[0])
    of_type = random.standard_normal(300).astype(dtype).astype(np.float64)
    references = [of_type, of_type + 1e-9, of_type * 1e-30, [0.0, -0.0, 1e-45, -1e-45, np.inf, -np.inf]]
    references += [[largest, -largest, largest * (1 + 2**-20), 1e30, 0.1]]
    expected = np.concatenate([np.array(one, np.float64) for one in references])
    bounds = [0.0, 1e-12, 2.0**-24, 1e-3, 0.4, 5.0, 1e6, 1e300]
    return np.repeat(expected, len(bounds)), np.tile(bounds, expected.size)


@pytest.fixture(scope="module")
def within(tmp_path_factory: pytest.TempPathFactory) -> EmulatedLibrary:
    """The functions that within.ptx was made of, compiled for the emulator."""
    folder = tmp_path_factory.mktemp("within")
    lines = (ROOT / "workflow/scripts/kernelsweep/platforms/within.ptx").read_text().splitlines()
    (folder / "within.cu").write_text("\n".join(line[7:] for line in lines if line.startswith("//     ")))
    unit = write_unit(folder / "unit.cpp", [folder / "within.cu"], ["within16", "within32", "within64"])
    assert gcc.compile_for_emulator(unit, folder / "unit.so", runtime(), INCLUDE) == ""
    return EmulatedLibrary(folder / "unit.so")


@pytest.mark.parametrize("name", FLOATS)
def test_a_float_is_within_its_limits_just_where_the_host_says_it_is_right(name: str, within: EmulatedLibrary) -> None:
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")
    dtype = read_dtype(name, "here")
    expected, bound = planted_references(dtype)
    parts = list(limits_of(dtype, value(expected), value(bound)).parts())
    low, high = (np.concatenate([part[side] for part in parts if part]) for side in (0, 1))
    assert low.size == expected.size
    with np.errstate(all="ignore"):
        nearest = order_of(expected.astype(dtype))
    special = order_of(np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0]).astype(dtype))
    candidates = [edge + step for edge in (low, high, nearest) for step in (-2, -1, 0, 1, 2)]
    candidates += [np.full_like(low, one) for one in special]
    seen = set()
    for order in candidates:
        found = floats_of(order.astype(low.dtype), dtype)
        by_host = right(found, expected, bound)
        order = order_of(found)
        by_limits = (low <= order) & (order <= high)
        assert not (by_limits & ~by_host).any()
        # What the host takes besides is at the bound's end, where differences are rounded.
        with np.errstate(all="ignore"):
            at_end = (abs(abs(wide(found) - expected) / bound - 1) < 2.0**-50) | (wide(found) == 0)
        assert (by_limits | ~by_host | at_end).all()
        # The device's function has one answer for all.
        inside = np.flatnonzero(by_limits)
        assert is_within(within, found[inside], low[inside], high[inside])
        for outside in np.flatnonzero(~by_limits)[:20]:
            one = slice(outside, outside + 1)
            assert not is_within(within, found[one], low[one], high[one])
        seen |= set(by_limits.tolist())
    assert seen == {True, False}


def is_within(
    library: EmulatedLibrary, found: np.ndarray[Any, Any], low: np.ndarray[Any, Any], high: np.ndarray[Any, Any]
) -> bool:
    outside = np.zeros(1, np.uint32)
    arrays = [np.ascontiguousarray(array) for array in (found, low, high)]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    arguments = [*pointers, ctypes.c_uint64(found.size), ctypes.c_void_p(outside.ctypes.data)]
    library.launch({2: 0, 4: 1, 8: 2}[found.itemsize], 2, 64, 0, arguments)
    return not outside[0]


class Counted(EmulatorPlatform):
    """The emulator; it counts what is fetched and uploaded, and has memory for some buffers only."""

    def __init__(self, buffers: int) -> None:
        super().__init__()
        self.fetched, self.uploaded, self.left = 0, 0, buffers

    def allocate(self, size: int) -> np.ndarray[Any, Any]:
        if not self.left:
            raise MemoryError
        self.left -= 1
        return super().allocate(size)

    def free(self, memory: np.ndarray[Any, Any]) -> None:
        self.left += 1

    def download(self, memory: np.ndarray[Any, Any], array: np.ndarray[Any, Any]) -> None:
        self.fetched += array.nbytes
        super().download(memory, array)

    def upload(self, memory: np.ndarray[Any, Any], array: np.ndarray[Any, Any], offset: int = 0) -> None:
        self.uploaded += array.nbytes
        super().upload(memory, array, offset)


class WithLimits:
    """An instance of one output of bytes, one of floats: the first has to be exact."""

    expected: ClassVar = {"bytes": np.arange(70_001) % 251, "floats": np.linspace(-1, 1, 70_001)}

    def limits(self) -> dict[str, Any]:
        exact, floats = (value(self.expected[name]) for name in ("bytes", "floats"))
        return {
            "bytes": limits_of(np.dtype(np.uint8), exact, None),
            "floats": limits_of(np.dtype(np.float32), floats, value(np.array(1e-3))),
        }


def on_device(platform: Counted, **arrays: np.ndarray[Any, Any]) -> dict[str, DeviceResult]:
    found = {}
    for name, array in arrays.items():
        memory = np.zeros(-(-array.nbytes // 4) * 4, np.uint8)
        memory[: array.nbytes] = array.view(np.uint8)
        found[name] = DeviceResult(memory, array.dtype, array.size)
    return found


@pytest.mark.parametrize("buffers", [0, 2, 3, 5])
def test_right_results_are_not_fetched_and_need_no_room(buffers: int) -> None:
    platform = Counted(buffers)
    comparison, instance = ResultComparison(platform), WithLimits()
    right = {"bytes": instance.expected["bytes"].astype(np.uint8), "floats": instance.expected["floats"].astype("f4")}
    results = on_device(platform, **right)
    known = buffers >= 3  # One for the bytes, two for the floats.
    assert comparison.are_right(instance, results) == comparison.are_right(instance, results) == known
    assert platform.uploaded == (9 * 70_001 if known else 0) and not platform.fetched
    for name, place in (("bytes", 70_000), ("floats", 70_000), ("floats", 0)):
        wrong = {one: array.copy() for one, array in right.items()}
        wrong[name][place] = 2
        assert not comparison.are_right(instance, on_device(platform, **wrong))
        comparison.keep(results)
        assert comparison.equal_kept(on_device(platform, **right))
        assert not comparison.equal_kept(on_device(platform, **wrong))
    # Without the limits, what they took is free for what is kept.
    assert bool(platform.fetched) == (buffers in (0, 3))


def test_a_reference_that_the_outputs_type_cannot_hold_is_the_hosts_to_judge() -> None:
    expected = np.array([5, 2**32 + 5])
    assert list(limits_of(np.dtype(np.uint32), value(expected), None).parts()) == [None]
