"""The emulator runs kernels as CUDA defines them, and turns a kernel's faults into errors that say where they are."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import signal
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulator_units import INCLUDE, KERNELS, line_of, runtime, write_unit

from cuda_emulator import LaunchFailed, Library, Refused
from cuda_emulator.compiling import compile_for_emulator

ENTRIES = [
    *("shuffle_down<int>", "reductions", "counts"),
    *("early_return", "skipped_barrier", "fails_in_block", "ended_lanes"),
    *("deep", "wild", "divide", "trap", "fill"),
    *("reverse_blocks<double>", "reverse_blocks<int>", "reverse_dynamic", "count_all", "read_total", "places"),
    "block_sums",
    *("weigh", "tiles<4>", "tiles<32>", "integers", "floats", "complexes"),
    *("small_floats<__half>", "small_floats<__nv_bfloat16>", "add_pairs", "add_vectors"),
]
FILES = [KERNELS / f"{stem}.cu" for stem in ("exchanges", "waits", "faults", "memory", "found")]


Size = int | tuple[int, int, int]


class Kernels(Library):
    """The kernels of a library: launched by name."""

    def run(self, name: str, grid: Size, block: Size, *arguments: object, shared_bytes: int = 0) -> None:
        values = [argument.ctypes.data if isinstance(argument, np.ndarray) else argument for argument in arguments]
        self.launch(self.entries.index(name), grid, block, shared_bytes, values)


# One process compiles the kernels.
pytestmark = pytest.mark.xdist_group("emulator")


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    folder = tmp_path_factory.mktemp("kernels")
    unit = write_unit(folder / "unit.cpp", FILES, ENTRIES)
    assert compile_for_emulator(unit, folder / "unit.so", runtime(), INCLUDE) == ""
    return Kernels(folder / "unit.so")


def refused(kernels: Kernels, name: str, grid: Size, block: Size, *arguments: object, kind: str = "") -> str:
    with pytest.raises(LaunchFailed) as error:
        kernels.run(name, grid, block, *arguments)
    assert error.value.kind == kind
    return str(error.value)


# Exchanges


def test_a_partial_warp_may_name_lanes_that_do_not_exist(kernels: Kernels) -> None:
    values = np.arange(48, dtype=np.int32)
    results = np.zeros_like(values)
    distance = np.full(48, 16, np.int32)
    kernels.run("shuffle_down<int>", 1, 48, values, distance, results, ctypes.c_int(32))
    # Lanes that read beyond the block keep their own values.
    np.testing.assert_array_equal(results, [*range(16, 32), *range(16, 32), *range(32, 48)])


def test_reductions_votes_and_matches(kernels: Kernels) -> None:
    values = np.random.default_rng(3).integers(-(2**31), 100, 64).astype(np.int32)
    values[40] = 7
    results = np.zeros((64, 12), np.int32)
    kernels.run("reductions", 1, 64, values, results)
    lanes = np.arange(32, dtype=np.uint32)
    for warp, rows in zip(np.split(values, 2), np.split(results, 2), strict=True):
        bits = warp.view(np.uint32)
        unsigned = [
            np.add.reduce(bits, dtype=np.uint32),
            warp.min().view(np.uint32),
            warp.max().view(np.uint32),
            bits.min(),
            bits.max(),
            np.bitwise_and.reduce(bits),
            np.bitwise_or.reduce(bits),
            np.bitwise_xor.reduce(bits),
            np.bitwise_or.reduce(np.where(warp < 0, np.uint32(1) << lanes, np.uint32(0))),
            np.uint32((warp == 7).any()),
            np.uint32((warp < 100).all()),
        ]
        odd = int(np.bitwise_or.reduce(np.where(warp & 1, np.uint32(1) << lanes, np.uint32(0))))
        for lane in range(32):
            match = odd if warp[lane] & 1 else ~odd & 0xFFFFFFFF
            np.testing.assert_array_equal(rows[lane].view(np.uint32), [*unsigned, match])


@pytest.mark.parametrize(("positive", "outcome"), [(0, 0), (30, 30 * 4 + 1), (200, 200 * 4 + 3)])
def test_barriers_count_predicates(kernels: Kernels, positive: int, outcome: int) -> None:
    values = (np.arange(200) < positive).astype(np.int32)
    results = np.zeros(200, np.int32)
    kernels.run("counts", 1, 200, values, results)
    assert (results == outcome).all()


# Waiting in vain


@pytest.mark.parametrize(("stride", "offset"), [(8, 3), (256, 40), (256, 1), (64, 32)])
def test_threads_that_have_ended_count_as_arrived_at_a_barrier(kernels: Kernels, stride: int, offset: int) -> None:
    results = np.zeros((4, 256), np.int32)
    kernels.start(check=True)
    kernels.run("early_return", 4, 256, *map(ctypes.c_int, (2, stride, offset)), results)
    stay = np.arange(256) % stride < offset
    assert (results[:2] == 2 * 256 + (offset == stride)).all(), "in these blocks, all stay"
    np.testing.assert_array_equal(results[2:], [np.where(stay, 2 * stay.sum() + 1, 0)] * 2)
    found = kernels.mistakes()[0]
    assert (found.mistake, found.block, found.thread) == ("partial_barrier", 2, offset % stride)
    assert f"{found.file.decode()}:{found.line}".endswith(line_of("waits", "early_return"))
    kernels.start(check=True)
    kernels.run("early_return", 2, 256, *map(ctypes.c_int, (2, stride, offset)), results)
    assert kernels.mistakes() == []


def test_lanes_that_have_ended_count_as_arrived(kernels: Kernels) -> None:
    results = np.zeros(64, np.int32)
    kernels.run("ended_lanes", 1, (4, 2, 8), ctypes.c_int(0), results)
    lane = np.arange(64) % 32
    expected = 1000 + 20 + np.where(lane < 4, 0xF, 0xFFFF0)
    np.testing.assert_array_equal(results, np.where(lane < 20, expected, 0))


def test_a_barrier_that_some_threads_skip(kernels: Kernels) -> None:
    message = refused(kernels, "skipped_barrier", (1, 2, 3), (16, 4, 2), kind="barrier")
    assert message.startswith("skipped_barrier: block (0, 0, 0): 64 of 128 threads wait at the barrier at ")
    assert f"{line_of('waits', 'skipped')}:22, and 64 elsewhere: thread (8, 0, 0) waits at the one at" in message
    assert f"{line_of('waits', 'next')}:" in message


def test_the_first_failing_block_is_named(kernels: Kernels) -> None:
    message = refused(kernels, "fails_in_block", 100, 64, ctypes.c_int(37), kind="barrier")
    assert message.startswith("fails_in_block: block 37: 63 of 64 threads wait at the barrier")


# Faults


def still_works(kernels: Kernels) -> bool:
    data = np.zeros(4096, np.uint32)
    kernels.run("fill", 16, 256, data)
    return bool((data == np.arange(4096)).all())


def test_a_stack_overflow_ends_the_launch_only(kernels: Kernels) -> None:
    data = np.ones(2, np.uint32)
    kernels.run("deep", 8, 64, data, ctypes.c_uint(1))
    assert data[0] != 0
    message = refused(kernels, "deep", 8, 64, data, ctypes.c_uint(1000))
    assert message.startswith("deep: block 0: stack overflow in thread 7: more than 512 KiB of local memory")
    assert still_works(kernels)


def test_a_launch_that_lasts_too_long_says_where_its_threads_are(kernels: Kernels) -> None:
    """The worker sends SIGUSR1; one in 30 came while the threads of "fill", which are short, changed places."""
    data, before = np.zeros(1 << 20, np.uint32), signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    for _ in range(100):
        clock = subprocess.Popen(["sh", "-c", f"while kill -USR1 {os.getpid()}; do sleep 0.001; done"])
        try:
            message = refused(kernels, "fill", 4096, 256, data)
        finally:
            clock.kill()
            clock.wait()
        # Pins: "stack overflow in thread 109" of a kernel of one line.
        assert re.fullmatch(r"fill: block \d+: (.*, and )?thread \d+ runs(, at .*faults.cu:\d+)?", message), message
    signal.signal(signal.SIGUSR1, before)
    assert still_works(kernels)


def test_an_illegal_access_ends_the_launch_only(kernels: Kernels) -> None:
    message = refused(kernels, "wild", 4, 64, ctypes.c_void_p(0xDEAD0000), kind="illegal_access")
    assert message.startswith("wild: block 2: illegal memory access by thread 33, where there is no memory, at ")
    assert message.endswith(line_of("faults", "wild"))
    message = refused(kernels, "wild", 4, 64, ctypes.c_void_p(0), kind="illegal_access")
    assert "null or malformed address by thread 33, at" in message
    assert still_works(kernels)


def test_other_ways_to_end_a_launch(kernels: Kernels) -> None:
    assert "thread 9 called __trap()" in refused(kernels, "trap", 1, 32)
    if platform.machine() == "x86_64":  # elsewhere a division by zero gives a value, as on the GPU
        data = np.ones(2, np.int32)
        message = refused(kernels, "divide", 1, 1, data, ctypes.c_int(0))
        assert "thread 0 divided an integer by zero, at" in message and message.endswith(line_of("faults", "divided"))
    assert still_works(kernels)


# Memory, limits, cores


@pytest.mark.parametrize(
    ("grid", "block"),
    [((5, 1, 1), (31, 1, 1)), ((1, 1, 1), (1024, 1, 1)), ((2, 3, 4), (5, 3, 7)), ((1, 3, 1), (1, 16, 64))],
)
def test_every_thread_knows_its_place(
    kernels: Kernels, grid: tuple[int, int, int], block: tuple[int, int, int]
) -> None:
    blocks, threads = int(np.prod(grid)), int(np.prod(block))
    results = np.zeros((blocks, threads, 13), np.uint32)
    kernels.run("places", grid, block, results)
    # NumPy's order has the last index fastest, so x, y and z are reversed.
    for number, size, found in ((threads, block, results[0, :, :3]), (blocks, grid, results[:, 0, 3:6])):
        np.testing.assert_array_equal(found, np.stack(np.unravel_index(np.arange(number), size[::-1])[::-1], axis=1))
    assert (results[:, :, :3] == results[:1, :, :3]).all() and (results[:, :, 3:6] == results[:, :1, 3:6]).all()
    assert (results[:, :, 6:12] == [*block, *grid]).all()
    assert (results[:, :, 12] == np.arange(threads) % 32).all(), "warps follow the threads' numbers"


@pytest.mark.parametrize("block", [1, 33, 1024])
def test_shared_memory_is_a_blocks_own(kernels: Kernels, block: int) -> None:
    grid = 50
    data = np.arange(grid * block, dtype=np.float64)
    expected = data.reshape(grid, block)[:, ::-1].ravel()
    reversed_static, reversed_dynamic = data.copy(), data.astype(np.float32)
    kernels.run("reverse_blocks<double>", grid, block, reversed_static)
    kernels.run("reverse_dynamic", grid, block, reversed_dynamic, shared_bytes=4 * block)
    np.testing.assert_array_equal(reversed_static, expected)
    np.testing.assert_array_equal(reversed_dynamic, expected)


def test_atomics_count_right(kernels: Kernels) -> None:
    grid, block = 64, 500
    count = grid * block
    integers = np.array([0, 0, 0, 0, 0, 0, -1], np.int32)
    unsigneds, longs = np.zeros(3, np.uint32), np.zeros(1, np.uint64)
    floats, doubles = np.zeros(1, np.float32), np.zeros(1, np.float64)
    before, after = np.zeros(1, np.uint64), np.zeros(1, np.uint64)
    kernels.run("read_total", 1, 1, before)
    arguments = (integers, unsigneds, longs, floats, doubles)
    kernels.run("count_all", grid, block, *arguments)
    kernels.run("read_total", 1, 1, after)
    indices = np.arange(count)
    assert integers[0] == count
    assert integers[1] == -indices.sum()
    assert integers[2] == -(count - 1)
    assert integers[3] == count - 1
    assert integers[4] == np.bitwise_xor.reduce(indices)
    assert integers[5] == 2**31 - 1
    assert integers[6] == -(2**31)
    assert list(unsigneds) == [count % 1000, 5, 3 * count]
    assert longs[0] == count << 33
    assert after[0] - before[0] == count
    assert floats[0] == count
    assert doubles[0] == count / 2


# Kernels as they are found


def test_a_failed_assertion_ends_the_launch_only(kernels: Kernels) -> None:
    message = refused(kernels, "weigh", 1, (8, 2, 1), np.zeros(8, np.float32))
    assert message.startswith("weigh: block 0: thread (4, 0, 0) failed an assertion at ")
    assert message.endswith(f"{line_of('found', 'assert')}: threadIdx.x < 4")


@pytest.mark.parametrize("size", [4, 32])
def test_tiles_and_coalesced_groups(kernels: Kernels, size: int) -> None:
    values = np.random.default_rng(5).integers(0, 1000, 64).astype(np.int32)
    results = np.zeros((64, 13), np.int32)
    kernels.run(f"tiles<{size}>", 1, (8, 4, 2), values, results)
    for thread, row in enumerate(results):
        rank, first = thread % size, thread // size * size
        tile = values[first : first + size]
        expected = [
            rank + rank * size,
            thread // size + (64 // size) ** 2,
            tile[1],
            tile[min(rank + 1, size - 1)],
            tile[rank - 2 if rank >= 2 else rank],
            tile[rank ^ 1],
            (tile > 900).any(),
            (tile < 900).all(),
            np.packbits(tile & 1, bitorder="little").view(f"u{max(1, size // 8)}")[0].astype(np.int32),
            tile.sum(),
            tile.max(),
        ]
        assert list(row[:11]) == expected, thread
        warp = values[thread // 32 * 32 : thread // 32 * 32 + 32]
        odd = warp[warp % 2 == 1]
        before = int((warp[: thread % 32] % 2 == 1).sum())
        ballot = sum(1 << rank for rank, value in enumerate(odd) if value > 500)
        active = [odd.min(), np.int64(odd.size * 100 + before + 10000 * ballot).astype(np.int32)]
        assert list(row[11:]) == (active if values[thread] % 2 else [0, 0]), thread


def test_integer_intrinsics(kernels: Kernels) -> None:
    random = np.random.default_rng(6)
    first, second = random.integers(0, 2**32, (2, 64)).astype(np.uint32)
    first[:3], second[:3] = [0, 1, 0x80000000], [0xFFFFFFFF, 0, 0x80000000]
    results = np.zeros((64, 20), np.uint32)
    kernels.run("integers", 1, 64, first, second, results)

    def signed(value: int, bits: int = 32) -> int:
        value &= (1 << bits) - 1
        return value - (value >> (bits - 1) << bits)

    for a, b, row in zip(first.tolist(), second.tolist(), results.tolist(), strict=True):
        x, y, both, shift = signed(a), signed(b), b << 32 | a, b % 32
        picked = [*(both >> 8 * digit & 0xFF for digit in (7, 1, 4)), 0xFF if both >> 8 & 0x80 else 0]
        dot = sum(signed(a >> 8 * i, 8) * signed(b >> 8 * i, 8) for i in range(4))
        expected = [
            int(f"{a:032b}"[::-1], 2),
            sum(byte << 8 * i for i, byte in enumerate(picked)),
            both << shift >> 32,
            both >> shift,
            a,
            x * y >> 32,
            a * b >> 32,
            signed(a, 24) * signed(b, 24),
            (a & 0xFFFFFF) * (b & 0xFFFFFF),
            abs(a - b) + 7,
            (x + y) >> 1,
            (x + y + 1) >> 1,
            a.bit_count(),
            32 - a.bit_length(),
            (a & -a).bit_length(),
            dot + 5,
            (a * 0x100000001) * (b * 0x100000001) >> 64,
            min(a, 3) + max(x, 5),
            a,
            1,
        ]
        assert row == [value & 0xFFFFFFFF for value in expected], (a, b)


def test_float_intrinsics_round_as_they_say(kernels: Kernels) -> None:
    first, second = np.random.default_rng(7).standard_normal((2, 64)).astype(np.float32)
    first[:3], second[:3] = [3e9, -3e9, 0.5], 1
    results, converted = np.zeros((64, 22), np.float32), np.zeros((64, 4), np.int32)
    kernels.run("floats", 1, 64, first, second, results, converted)
    for x, y, row in zip(first.tolist(), second.tolist(), results, strict=True):
        a, b = Fraction(x), Fraction(y)
        for exact, found in zip((a + b, a * b, a / b, a * b + abs(a)), row[:16].reshape(4, 4), strict=True):
            nearest, to_zero, up, down = (Fraction(value) for value in found.tolist())
            assert down <= exact <= up
            assert up == down == exact or np.float32(up) == np.nextafter(np.float32(down), np.float32(np.inf))
            assert to_zero == (down if exact > 0 else up)
            assert abs(nearest - exact) == min(up - exact, exact - down)
    a, b, size = first.astype(np.float64), second.astype(np.float64), abs(first).astype(np.float64)
    precise = [size**-0.5, a / b, np.exp(np.minimum(a, 80)), np.clip(a, 0, 1), size**b, np.full(64, np.pi)]
    found = np.where(np.isinf(results[:, 16:]), np.exp(80), results[:, 16:])
    np.testing.assert_allclose(found.T, precise, rtol=3e-7)
    limits = np.iinfo(np.int32)
    for column, values in enumerate((np.rint(np.float32(1e9) * first), np.trunc(a), np.ceil(a), np.floor(a))):
        saturated = np.clip(values.astype(np.float64), limits.min, limits.max)
        np.testing.assert_array_equal(converted[:, column], saturated.astype(np.int32))


def nearest_bfloat16(values: np.ndarray) -> np.ndarray:
    """The bits of the bfloat16 nearest to each float32, ties to even."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    return np.where(np.isnan(values), 0x7FFF, (bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def bfloat16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


@np.errstate(all="ignore")
@pytest.mark.parametrize("kernel", ["small_floats<__half>", "small_floats<__nv_bfloat16>"])
def test_16_bit_floats_are_rounded_to_nearest_even(kernels: Kernels, kernel: str) -> None:
    random = np.random.default_rng(8)
    bits = random.permutation(2**16).astype(np.uint16)
    is_half = kernel.endswith("<__half>")
    # A sum whose last term decides a tie, and is lost in double precision.
    for place, value in ((0, 0x3E00 if is_half else 0x3FC0), (1, 0x3C01 if is_half else 0x3F81), (65535, 0x8001)):
        elsewhere = np.flatnonzero(bits == value)[0]
        bits[[place, elsewhere]] = bits[[elsewhere, place]]
    floats = random.integers(0, 2**32, 2**16, dtype=np.uint32).view(np.float32)
    floats[: 2**15] = random.standard_normal(2**15) * 2.0 ** random.integers(-26, 18, 2**15)
    decoded, encoded, sums, fused = np.zeros_like(floats), *np.zeros((3, 2**16), np.uint16)
    kernels.run(kernel, 2**8, 2**8, bits, decoded, floats, encoded, sums, fused)
    decode = (lambda values: values.view(np.float16).astype(np.float32)) if is_half else bfloat16
    encode = (lambda values: values.astype(np.float16).view(np.uint16)) if is_half else nearest_bfloat16
    a = decode(bits)
    b = a.reshape(-1, 32)[:, [*range(1, 32), 31]].ravel()
    c = a[::-1]
    right_sums = encode(decode(encode(a * b)) + c)
    np.testing.assert_array_equal(decoded, a)
    for found, right in ((encoded, encode(floats)), (sums, right_sums)):
        nan = np.isnan(decode(right))
        np.testing.assert_array_equal(np.isnan(decode(found)), nan)
        np.testing.assert_array_equal(found[~nan], right[~nan])
    between = np.flatnonzero(np.isfinite(decode(fused) + decode(fused + 1)) & (fused & 0x7FFF != 0))
    for i in between[:1000]:
        exact = Fraction(float(a[i])) * Fraction(float(b[i])) + Fraction(float(c[i]))
        near = decode(fused[i] + np.array([0xFFFF, 0, 1], np.uint16))
        below, here, above = (abs(Fraction(float(value)) - exact) for value in near)
        assert here < min(below, above) or (here == min(below, above) and fused[i] % 2 == 0)


def test_pairs_of_halves_are_added_atomically(kernels: Kernels) -> None:
    pair = np.zeros(2, np.float16)
    kernels.run("add_pairs", 1, 64, pair)
    assert list(pair) == [3 * 64, 3 * 32]


def test_vectors_are_shuffled_and_added_atomically(kernels: Kernels) -> None:
    pair, bounds = np.zeros(2, np.float16), np.zeros(2, np.uint32)
    sums, halves = np.zeros(4, np.float32), np.zeros(2, np.float32)
    kernels.run("add_vectors", 1, 32, pair, sums, halves, bounds)
    assert [*pair] == [496, 32] and [*sums] == [32, 64, 96, 496] and [*halves] == [16, 16]
    assert [*bounds] == [7, 14]


def test_complex_numbers_are_computed_without_overflow(kernels: Kernels) -> None:
    # The squares of the last are beyond a float.
    x, y = np.array([1 + 2j, -3j, 4e30 + 4e30j], np.complex64), np.array([3 - 1j, -0.5 + 2j, 2e30 - 2e30j])
    results = np.zeros((3, 7), np.complex128)
    kernels.run("complexes", 1, 3, x, y, results)
    wide = x.astype(complex)
    expected = [wide + y, wide - y, wide * y, wide / y, wide * y + wide.conj(), wide / y, abs(wide) + 1j * abs(y)]
    products = [2, 4]
    for place, right in enumerate(expected):
        points = slice(2 if place in products else 3)
        assert np.allclose(results[points, place], right[points], rtol=3e-7 if place < 5 else 1e-7), place


def test_sums_of_a_block_by_cub(kernels: Kernels) -> None:
    data = np.random.default_rng(1).integers(-50, 50, 96).astype(np.int32)
    data[40:60] = 99
    found, largest, before, pairs = (np.zeros(size, np.int32) for size in (1, 2, 96, 192))
    kernels.run("block_sums", 1, 96, data, found, largest, before, pairs, 50)
    total = data.sum()
    assert found[0] == total and [*largest] == [40, 99]
    assert (before == np.cumsum(data) - data).all()
    assert (pairs == np.cumsum(np.column_stack([data, np.full(96, total)]).ravel())).all()


# Building


def build(folder: Path, source: str, name: str = "kernel", **settings: Any) -> str:
    kernel = folder / "planted.cu"
    kernel.write_text(source)
    unit = write_unit(folder / "unit.cpp", [kernel], [name])
    return compile_for_emulator(unit, folder / "unit.so", runtime(), [], **settings)


def test_constant_memory_has_64_kib(tmp_path: Path) -> None:
    kernel = "__global__ void kernel(int *data) {{ data[0] = own::table[data[1]] + weights[data[0]]; }}\n"
    source = "namespace own {{ __constant__ int table[8192]; }}\n__constant__ char weights[{} * 1024];\n" + kernel
    build(tmp_path, source.format(32), constant_names=["table", "weights"])
    with pytest.raises(Refused, match=r"own::table, weights: 66560 bytes of constant memory; a GPU allows 65536"):
        build(tmp_path, source.format(33), constant_names=["table", "weights"])


def test_a_template_without_its_arguments_is_told(tmp_path: Path) -> None:
    source = "template <int n> __global__ void kernel(int *data) { data[0] = n < INT_MAX; }\n"
    assert build(tmp_path, source, "kernel<3>") == ""
    with pytest.raises(Refused, match=r"^a launch names a template without its arguments.* as in sums<256>\."):
        build(tmp_path, source)


GROUPS = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
TILE = "auto tile = cg::tiled_partition<32>(cg::this_thread_block()); "


@pytest.mark.parametrize(
    ("head", "line", "word"),
    [
        ("", "data[0] = tex1D<int>(0, 1);", "tex1D"),
        ("#include <cub/cub.cuh>\n", "cub::BlockRadixSort<int, 32, 1> sort;", "cub::BlockRadixSort"),
        ("#include <cuda/latch>\n", "", "cuda/latch"),
        ("", "cuda::latch ready(1);", "cuda::latch"),
        (
            "#include <cuda/pipeline>\n",
            "cuda::pipeline<cuda::thread_scope_device> pipe;",
            "pipeline of more than a block",
        ),
        (
            "",
            'float x; asm("wgmma.fence.sync.aligned;" : "=f"(x) : "f"(x)); data[0] = x;',
            "PTX instruction wgmma.fence",
        ),
        ("", "kernel<<<1, 1>>>(data);", "a launch from a kernel"),
        ("", "NV_IF_TARGET(NV_PROVIDES_SM_90, (data[0] = 1;))", "NV_PROVIDES_SM_90"),
        ("__block_size__((32, 1, 1)) ", "", "__block_size__"),
        ("", "data[0] = erfcinvf(0.5f);", "erfcinvf"),
        ("#include <curand_kernel.h>\n", "", "curand_kernel.h"),
        (GROUPS, "cg::this_cluster().query_shared_rank(data);", "cooperative_groups::cluster_group::query_shared_rank"),
    ],
)
def test_a_word_that_is_not_supplied_is_named(tmp_path: Path, head: str, line: str, word: str) -> None:
    with pytest.raises(Refused) as error:
        build(tmp_path, f"{head}__global__ void kernel(int *data) {{\n{line}\n}}\n")
    assert word in error.value.cause and "emulator does not supply" in error.value.cause and error.value.is_lacking


@pytest.mark.parametrize(
    ("head", "line", "cause"),
    [
        ("", "__shfl(1, 2);", "__shfl is gone since compute capability 7.0. Use __shfl_sync, with a mask of lanes"),
        ("", "half x;", "half comes with cuda_fp16.h, which nothing includes here"),
        ("", "__nv_bfloat16 x;", "__nv_bfloat16 comes with cuda_bf16.h, which nothing includes here"),
        (
            "",
            "cuda::atomic_ref<int> one(data[0]);",
            "cuda::atomic_ref comes with cuda/atomic, which nothing includes here",
        ),
        (
            "",
            "data[0] = cuda::std::numeric_limits<int>::max();",
            "comes with cuda/std/limits, which nothing includes here",
        ),
        (
            "",
            "nvcuda::wmma::fill_fragment(data, 0);",
            "nvcuda::wmma::fill_fragment comes with mma.h, which nothing includes here",
        ),
        ("", "cub::BlockReduce<int, 32> sums;", "cub::BlockReduce comes with cub/cub.cuh, which nothing includes here"),
        (
            GROUPS,
            TILE + "data[0] = cg::inclusive_scan(tile, 1);",
            "cg::inclusive_scan comes with cooperative_groups/scan.h, which nothing includes here",
        ),
        ('#include "cudacommon.h"\n', "", "error: cudacommon.h: No such file or directory"),
        ("template <typename T> concept Any = true;\n", "", "Name the language in the kernel's options: [-std=c++20]"),
    ],
)
def test_what_the_emulator_supplies_is_not_said_to_lack(tmp_path: Path, head: str, line: str, cause: str) -> None:
    with pytest.raises(Refused) as error:
        build(tmp_path, f"{head}__global__ void kernel(int *data) {{\n{line}\n}}\n")
    assert error.value.cause.endswith(cause) and not error.value.is_lacking


def test_a_parameter_that_copies_itself_is_not_supplied(tmp_path: Path) -> None:
    own = "struct Own { int *at; Own(const Own &other) : at(other.at) {} };\n"
    source = f"{own}__global__ void kernel(Own y) {{ *y.at = 1; }}\n"
    with pytest.raises(Refused, match="a kernel's parameter with a copy constructor of its own") as error:
        build(tmp_path, source)
    assert error.value.is_lacking


UNSEEN = "__device__ __attribute__((no_sanitize_thread, noinline)) "


@pytest.mark.parametrize(
    ("head", "line", "cause"),
    [
        (
            f"{UNSEEN}void put(int *to) {{ *to = 1; }}\n",
            "put(data);",
            "not checked in _Z3putPi, which calls no hook: movl",
        ),
        (
            f"{UNSEEN}int got(int i) {{ __shared__ int s[8]; return s[i]; }}\n",
            "data[0] = got(data[1]);",
            "in _Z3goti, which",
        ),
        (
            "",
            'snprintf(reinterpret_cast<char *>(data), 9, "%d", 5);',
            "a call of snprintf, which is no function of a GPU",
        ),
        ("", "data[0] = strlen(reinterpret_cast<char *>(data));", "a call of strlen"),
        ("extern int abort_all();\n", "abort_all();", "a call of _Z9abort_allv"),
        ("struct First { First(); };\n__device__ First first;\n", "", "code that runs when it is loaded"),
    ],
)
def test_an_untrusted_kernel_has_watched_functions_of_the_device_alone(
    tmp_path: Path, head: str, line: str, cause: str
) -> None:
    honest = (
        "__device__ __attribute__((noinline)) int middle(int n) { int t[9]; for (int i = 0; i < 9; ++i) t[i] = i * n; "
        "return t[4]; }\nstruct Any { __device__ virtual int get() = 0; };\n"
        "struct One : Any { __device__ int get() override { return 1; } };\nstruct Nine { int of[9]; };\n"
        "__device__ __attribute__((noinline)) Nine nine(int n) { return {{n, 1, 2, 3, n, 5, 6, 7, 8}}; }\n"
    )
    sums = (
        "One one; atomicAdd(data + 1, static_cast<Any &>(one).get() + middle(data[0]) + nine(data[1]).of[data[2] & 7]);"
    )
    kernel = f"{honest}__global__ void kernel(int *data) {{\n{line}\n{sums}\n}}\n"
    if not head:
        build(tmp_path, kernel.replace(line, 'printf("%g", __fadd_rz(data[0], 0.1f));'), is_untrusted=True)
    with pytest.raises(Refused, match=re.escape(cause)):
        build(tmp_path, head + kernel, is_untrusted=True)
