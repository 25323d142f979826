"""The emulator runs kernels as CUDA defines them, and turns a kernel's faults into errors that say where they are."""

from __future__ import annotations

import ctypes
import platform
import re
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from emulator_units import INCLUDE, KERNELS, line_of, write_unit

from kernelsweep.build import gcc
from kernelsweep.errors import BuildError, LaunchError
from kernelsweep.platforms.emulated_library import EmulatedLibrary

ENTRIES = {
    "exchanges": [
        *(
            f"{kernel}<{dtype}>"
            for kernel in ("shuffle", "shuffle_up", "shuffle_down", "shuffle_xor")
            for dtype in ("int", "double")
        ),
        "halves",
        "reductions",
        "counts",
    ],
    "waits": [
        "early_return",
        "skipped_barrier",
        "different_barriers",
        "fails_in_block",
        "ended_lanes",
        "not_in_own_mask",
        "mixed_operations",
        "different_masks",
        "lane_at_barrier",
    ],
    "faults": ["deep", "wild", "divide", "trap", "fill"],
    "memory": [
        "reverse_blocks<double>",
        "reverse_blocks<int>",
        "reverse_dynamic",
        "count_all",
        "read_total",
        "places",
        "ordered_sums",
    ],
}


Size = int | tuple[int, int, int]


class Kernels:
    """The kernels of one file: launched by name."""

    def __init__(self, library: Path) -> None:
        self.library = EmulatedLibrary(library)

    def launch(
        self,
        name: str,
        grid: Size,
        block: Size,
        *arguments: object,
        shared_bytes: int = 0,
        workers: int | None = None,
    ) -> None:
        values = [argument.ctypes.data if isinstance(argument, np.ndarray) else argument for argument in arguments]
        self.library.launch(self.library.entries.index(name), grid, block, shared_bytes, values, workers)


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Kernels]:
    built: dict[str, Kernels] = {}

    def build(stem: str) -> Kernels:
        if stem not in built:
            folder = tmp_path_factory.mktemp(stem)
            unit = write_unit(folder / "unit.cpp", KERNELS / f"{stem}.cu", ENTRIES[stem])
            assert gcc.compile_for_emulator(unit, folder / "unit.so", INCLUDE) == ""
            built[stem] = Kernels(folder / "unit.so")
        return built[stem]

    return build


def refused(
    kernels: Kernels, name: str, grid: Size, block: Size, *arguments: object, workers: int | None = None
) -> str:
    with pytest.raises(LaunchError) as error:
        kernels.launch(name, grid, block, *arguments, workers=workers)
    return str(error.value)


# Exchanges


def source_lanes(kernel: str, operands: np.ndarray, width: int) -> np.ndarray:
    """Which lane each lane reads: shfl.sync as the PTX manual's pseudocode has it."""
    lane = np.arange(32)
    operand = operands & 31
    segment_mask = (32 - width) & 31
    clamp = 0 if kernel == "shuffle_up" else 31
    last = (lane & segment_mask) | (clamp & ~segment_mask)
    first = lane & segment_mask
    if kernel == "shuffle_up":
        source = lane - operand
        inside = source >= last
    elif kernel == "shuffle_down":
        source = lane + operand
        inside = source <= last
    elif kernel == "shuffle_xor":
        source = lane ^ operand
        inside = source <= last
    else:
        source = first | (operand & ~segment_mask)
        inside = source <= last
    return np.where(inside, source, lane)


@pytest.mark.parametrize("dtype", ["int", "double"])
@pytest.mark.parametrize("kernel", ["shuffle", "shuffle_up", "shuffle_down", "shuffle_xor"])
def test_shuffles_follow_the_ptx_manual(kernels: Callable[[str], Kernels], kernel: str, dtype: str) -> None:
    random = np.random.default_rng(1)
    values = random.integers(-(2**31), 2**31, 96).astype(np.int32 if dtype == "int" else np.float64)
    for width in (2, 4, 8, 16, 32):
        uniform = [np.full(96, operand, np.int32) for operand in range(33)]
        for operands in [*uniform, random.integers(0, 40, 96).astype(np.int32)]:
            results = np.zeros_like(values)
            kernels("exchanges").launch(f"{kernel}<{dtype}>", 1, 96, values, operands, results, ctypes.c_int(width))
            for warp in np.split(np.arange(96), 3):
                expected = values[warp][source_lanes(kernel, operands[warp], width)]
                np.testing.assert_array_equal(results[warp], expected)


def test_a_partial_warp_may_name_lanes_that_do_not_exist(kernels: Callable[[str], Kernels]) -> None:
    values = np.arange(48, dtype=np.int32)
    results = np.zeros_like(values)
    distance = np.full(48, 16, np.int32)
    kernels("exchanges").launch("shuffle_down<int>", 1, 48, values, distance, results, ctypes.c_int(32))
    # Lanes that read beyond the block keep their own values.
    np.testing.assert_array_equal(results, [*range(16, 32), *range(16, 32), *range(32, 48)])


def test_parts_of_a_warp_exchange_on_their_own(kernels: Callable[[str], Kernels]) -> None:
    values = np.random.default_rng(2).integers(0, 1000, 64).astype(np.int32)
    results = np.zeros_like(values)
    kernels("exchanges").launch("halves", 1, 64, values, results)
    for warp in (0, 32):
        assert (results[warp : warp + 16] == values[warp : warp + 16].sum()).all()
        assert (results[warp + 16 : warp + 32] == values[warp + 31]).all()


def test_reductions_votes_and_matches(kernels: Callable[[str], Kernels]) -> None:
    values = np.random.default_rng(3).integers(-(2**31), 100, 64).astype(np.int32)
    values[40] = 7
    results = np.zeros((64, 12), np.int32)
    kernels("exchanges").launch("reductions", 1, 64, values, results)
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
def test_barriers_count_predicates(kernels: Callable[[str], Kernels], positive: int, outcome: int) -> None:
    values = (np.arange(200) < positive).astype(np.int32)
    results = np.zeros(200, np.int32)
    kernels("exchanges").launch("counts", 1, 200, values, results)
    assert (results == outcome).all()


# Waiting in vain


@pytest.mark.parametrize(("stride", "offset"), [(8, 3), (256, 40), (256, 1), (64, 32)])
def test_threads_that_have_ended_count_as_arrived_at_a_barrier(
    kernels: Callable[[str], Kernels], stride: int, offset: int
) -> None:
    waits = kernels("waits")
    results = np.zeros((4, 256), np.int32)
    waits.launch("early_return", 4, 256, *map(ctypes.c_int, (2, stride, offset)), results)
    stay = np.arange(256) % stride < offset
    assert (results[:2] == 2 * 256 + (offset == stride)).all(), "in these blocks, all stay"
    np.testing.assert_array_equal(results[2:], [np.where(stay, 2 * stay.sum() + 1, 0)] * 2)
    assert waits.library.partial_barrier.endswith(line_of("waits", "early_return"))
    waits.launch("early_return", 2, 256, *map(ctypes.c_int, (2, stride, offset)), results)
    assert waits.library.partial_barrier == ""


def test_lanes_that_have_ended_count_as_arrived_and_have_no_value(kernels: Callable[[str], Kernels]) -> None:
    results = np.zeros(64, np.int32)
    kernels("waits").launch("ended_lanes", 1, (4, 2, 8), ctypes.c_int(0), results)
    lane = np.arange(64) % 32
    expected = 1000 + 20 + np.where(lane < 4, 0xF, 0xFFFF0)
    np.testing.assert_array_equal(results, np.where(lane < 20, expected, 0))
    message = refused(kernels("waits"), "ended_lanes", 1, (4, 2, 8), ctypes.c_int(3), results)
    assert message.startswith("ended_lanes: block 0: thread (1, 0, 2) reads the value of lane 20 of warp 0 (thread (0,")
    assert "which has ended, in __shfl_down_sync with mask 0xffffffff at" in message
    assert message.endswith(line_of("waits", "ended_lanes"))


def test_a_barrier_that_some_threads_skip(kernels: Callable[[str], Kernels]) -> None:
    message = refused(kernels("waits"), "skipped_barrier", (1, 2, 3), (16, 4, 2))
    assert message.startswith("skipped_barrier: block (0, 0, 0): thread (0, 2, 0) waits at the barrier at ")
    assert f"{line_of('waits', 'next')} while 32 of 128 threads wait" in message
    assert message.endswith(line_of("waits", "skipped"))


def test_barriers_at_different_lines(kernels: Callable[[str], Kernels]) -> None:
    message = refused(kernels("waits"), "different_barriers", 1, 64)
    assert line_of("waits", "first barrier") in message
    assert line_of("waits", "second barrier") in message


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_lowest_failing_block_is_named_whatever_the_workers(
    kernels: Callable[[str], Kernels], workers: int
) -> None:
    message = refused(kernels("waits"), "fails_in_block", 100, 64, ctypes.c_int(37), workers=workers)
    assert message.startswith("fails_in_block: block 37: thread 5 waits at the barrier")


@pytest.mark.parametrize(
    ("kernel", "parts"),
    [
        ("not_in_own_mask", ["thread 0", "0x0000fffe", "does not name it", line_of("waits", "not_in_own_mask")]),
        ("mixed_operations", ["__shfl_xor_sync", "__shfl_down_sync", line_of("waits", "mixed xor")]),
        ("different_masks", ["__syncwarp", "0x0000ffff", "0xffffffff"]),
        ("lane_at_barrier", ["thread 2", line_of("waits", "lane at barrier"), line_of("waits", "lanes in warp")]),
    ],
)
def test_warp_operations_that_cannot_complete(kernels: Callable[[str], Kernels], kernel: str, parts: list[str]) -> None:
    message = refused(kernels("waits"), kernel, 1, 64)
    for part in [f"{kernel}: block 0: ", *parts]:
        assert part in message


# Faults


def still_works(kernels: Kernels) -> bool:
    data = np.zeros(4096, np.uint32)
    kernels.launch("fill", 16, 256, data)
    return bool((data == np.arange(4096)).all())


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stack_overflow_ends_the_launch_only(kernels: Callable[[str], Kernels], workers: int) -> None:
    data = np.ones(2, np.uint32)
    kernels("faults").launch("deep", 8, 64, data, ctypes.c_uint(1), workers=workers)
    assert data[0] != 0
    message = refused(kernels("faults"), "deep", 8, 64, data, ctypes.c_uint(1000), workers=workers)
    assert message.startswith("deep: block 0: stack overflow in thread 7: more than 64 KiB of local memory")
    assert still_works(kernels("faults"))


@pytest.mark.parametrize("workers", [1, 2])
def test_an_illegal_access_ends_the_launch_only(kernels: Callable[[str], Kernels], workers: int) -> None:
    message = refused(kernels("faults"), "wild", 4, 64, ctypes.c_void_p(0xDEAD0000), workers=workers)
    assert message == "wild: block 2: illegal memory access by thread 33, where there is no memory"
    message = refused(kernels("faults"), "wild", 4, 64, ctypes.c_void_p(0), workers=workers)
    assert "null or malformed address by thread 33" in message
    assert still_works(kernels("faults"))


def test_other_ways_to_end_a_launch(kernels: Callable[[str], Kernels]) -> None:
    assert "thread 9 called __trap()" in refused(kernels("faults"), "trap", 1, 32)
    if platform.machine() == "x86_64":  # elsewhere a division by zero gives a value, as on the GPU
        data = np.ones(2, np.int32)
        message = refused(kernels("faults"), "divide", 1, 1, data, ctypes.c_int(0))
        assert "thread 0 divided an integer by zero" in message
    assert still_works(kernels("faults"))


def test_signal_handlers_are_put_back(kernels: Callable[[str], Kernels]) -> None:
    before = signal.getsignal(signal.SIGFPE)
    received = []
    signal.signal(signal.SIGFPE, lambda number, frame: received.append(number))
    try:
        refused(kernels("faults"), "wild", 4, 64, ctypes.c_void_p(0xDEAD0000))
        signal.raise_signal(signal.SIGFPE)
        assert received == [signal.SIGFPE]
    finally:
        signal.signal(signal.SIGFPE, before)


# Memory, limits, cores


@pytest.mark.parametrize(
    ("grid", "block"),
    [((5, 1, 1), (31, 1, 1)), ((1, 1, 1), (1024, 1, 1)), ((2, 3, 4), (5, 3, 7)), ((1, 3, 1), (1, 16, 64))],
)
def test_every_thread_knows_its_place(
    kernels: Callable[[str], Kernels], grid: tuple[int, int, int], block: tuple[int, int, int]
) -> None:
    blocks, threads = int(np.prod(grid)), int(np.prod(block))
    results = np.zeros((blocks, threads, 13), np.uint32)
    kernels("memory").launch("places", grid, block, results)
    # NumPy's order has the last index fastest, so x, y and z are reversed.
    for number, size, found in ((threads, block, results[0, :, :3]), (blocks, grid, results[:, 0, 3:6])):
        np.testing.assert_array_equal(found, np.stack(np.unravel_index(np.arange(number), size[::-1])[::-1], axis=1))
    assert (results[:, :, :3] == results[:1, :, :3]).all() and (results[:, :, 3:6] == results[:, :1, 3:6]).all()
    assert (results[:, :, 6:12] == [*block, *grid]).all()
    assert (results[:, :, 12] == np.arange(threads) % 32).all(), "warps follow the threads' numbers"


@pytest.mark.parametrize("workers", [1, 2, 7])
@pytest.mark.parametrize("block", [1, 33, 1024])
def test_shared_memory_is_a_blocks_own(kernels: Callable[[str], Kernels], block: int, workers: int) -> None:
    grid = 50
    data = np.arange(grid * block, dtype=np.float64)
    expected = data.reshape(grid, block)[:, ::-1].ravel()
    reversed_static, reversed_dynamic = data.copy(), data.astype(np.float32)
    kernels("memory").launch("reverse_blocks<double>", grid, block, reversed_static, workers=workers)
    kernels("memory").launch("reverse_dynamic", grid, block, reversed_dynamic, shared_bytes=4 * block, workers=workers)
    np.testing.assert_array_equal(reversed_static, expected)
    np.testing.assert_array_equal(reversed_dynamic, expected)


@pytest.mark.parametrize("workers", [1, 4])
def test_atomics_count_right_over_several_workers(kernels: Callable[[str], Kernels], workers: int) -> None:
    grid, block = 64, 500
    count = grid * block
    integers = np.array([0, 0, 0, 0, 0, 0, -1], np.int32)
    unsigneds, longs = np.zeros(3, np.uint32), np.zeros(1, np.uint64)
    floats, doubles = np.zeros(1, np.float32), np.zeros(1, np.float64)
    before, after = np.zeros(1, np.uint64), np.zeros(1, np.uint64)
    kernels("memory").launch("read_total", 1, 1, before)
    arguments = (integers, unsigneds, longs, floats, doubles)
    kernels("memory").launch("count_all", grid, block, *arguments, workers=workers)
    kernels("memory").launch("read_total", 1, 1, after)
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


def test_results_do_not_depend_on_the_number_of_workers(kernels: Callable[[str], Kernels]) -> None:
    data = np.random.default_rng(4).standard_normal(300 * 640).astype(np.float32)
    sums = {workers: np.zeros(300, np.float32) for workers in (1, 2, 3, 8)}
    for workers, result in sums.items():
        kernels("memory").launch("ordered_sums", 300, 640, data, result, workers=workers)
    for result in sums.values():
        np.testing.assert_array_equal(result, sums[1])


def test_more_workers_than_the_system_has_room_for(kernels: Callable[[str], Kernels]) -> None:
    # 500 workers with 1024 stacks each would need a million memory maps.
    results = np.zeros((500, 1024, 13), np.uint32)
    kernels("memory").launch("places", 500, 1024, results, workers=500)
    np.testing.assert_array_equal(results[:, 0, 3], np.arange(500))


@pytest.mark.parametrize(
    ("grid", "block", "shared_bytes", "limit"),
    [
        (1, 0, 0, "1024"),
        (1, 1025, 0, "1024"),
        (0, 1, 0, "2147483647"),
        (2**31, 1, 0, "blocks in x, where CUDA allows 1 to 2147483647"),
        ((1, 1, 65536), 1, 0, "blocks in z, where CUDA allows 1 to 65535"),
        (1, (1, 1, 65), 0, "65 threads in z, where CUDA allows 1 to 64"),
        (1, (32, 33, 1), 0, "1056 threads, where CUDA allows at most 1024"),
        (1, 1, 10**6, "232448"),
    ],
)
def test_limits_are_named(
    kernels: Callable[[str], Kernels],
    grid: Size,
    block: Size,
    shared_bytes: int,
    limit: str,
) -> None:
    with pytest.raises(LaunchError, match=f"places: .*{limit}"):
        kernels("memory").launch("places", grid, block, np.zeros(4), shared_bytes=shared_bytes)


def test_arguments_must_fit_the_parameters(kernels: Callable[[str], Kernels]) -> None:
    with pytest.raises(LaunchError, match=r"deep: the kernel's parameters have \[8, 4\] bytes, the arguments \[8, 8\]"):
        kernels("faults").launch("deep", 1, 1, np.zeros(4), ctypes.c_size_t(1))


# Building


def build(folder: Path, source: str, name: str = "kernel") -> str:
    kernel = folder / "planted.cu"
    kernel.write_text(source)
    return gcc.compile_for_emulator(write_unit(folder / "unit.cpp", kernel, [name]), folder / "unit.so", [INCLUDE[0]])


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("    __nanosleep(100);", "__nanosleep"),
        ("    data[0] = cooperative_groups::this_thread_block().thread_rank();", "cooperative_groups"),
        ("    data[0] = tex1Dfetch<int>(0, 1);", "tex1Dfetch"),
        ("    __noinline__ int value = 1;", "__noinline__"),
        ("#include <cuda/atomic>", "cuda/atomic"),
        ('    asm volatile("mov.u32 %0, %%laneid;" : "=r"(data[0]));', "PTX"),
    ],
)
def test_a_word_that_is_not_supplied_is_named_with_its_place(tmp_path: Path, line: str, word: str) -> None:
    with pytest.raises(BuildError) as error:
        build(tmp_path, f"__global__ void kernel(int *data)\n{{\n{line}\n}}\n")
    first = str(error.value).splitlines()[0]
    assert "planted.cu:3: " in first
    assert word in first
    assert "emulator does not supply" in first
    assert "__CUDACC__" in first


def test_an_error_names_file_and_line_of_the_kernel(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"planted\.cu:3:.*expected ';'"):
        build(tmp_path, "__global__ void kernel(int *data)\n{\n    data[0] = 1\n}\n")


def test_a_function_that_nothing_defines(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"nothing defines elsewhere\(int\)"):
        build(tmp_path, "__device__ int elsewhere(int);\n__global__ void kernel(int *data) { *data = elsewhere(1); }\n")


def test_warnings_are_returned(tmp_path: Path) -> None:
    output = build(tmp_path, "__global__ void kernel(int *data)\n{\n    int unused;\n    *data = 1;\n}\n")
    assert re.search(r"planted\.cu:3:.*unused variable", output)


def test_what_only_the_gpu_has_can_be_guarded(tmp_path: Path) -> None:
    source = "__global__ void kernel(int *data)\n{\n#if defined(__CUDACC__) || defined(__CUDA_ARCH__)\n"
    assert build(tmp_path, source + "    __nanosleep(1);\n#endif\n    *data = 1;\n}\n") == ""


def test_without_a_compiler_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(BuildError, match=r"g\+\+ was not found.*apt install g\+\+.*CXX"):
        build(tmp_path, "__global__ void kernel() {}\n")


def test_the_library_is_reproducible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The same sources in two folders: no path and no time may enter the bytes.
    libraries = []
    for name in ("one", "another"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        build(folder, (KERNELS / "memory.cu").read_text(), "reverse_dynamic")
        libraries.append((folder / "unit.so").read_bytes())
    assert libraries[0] == libraries[1]
    assert b"planted.cu" in libraries[0]


def test_two_libraries_with_kernels_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    results = []
    for value in (1, 2):
        folder = tmp_path / str(value)
        folder.mkdir()
        build(
            folder,
            "template <typename Element> __global__ void kernel(Element *data)\n{\n"
            f"    __shared__ Element kept[{value * 1000}];\n    kept[threadIdx.x] = {value};\n    __syncthreads();\n"
            "    data[threadIdx.x] = kept[threadIdx.x];\n}\n",
            "kernel<int>",
        )
        results.append(Kernels(folder / "unit.so"))
    data = np.zeros(64, np.int32)
    for expected in (1, 2):
        results[expected - 1].launch("kernel<int>", 1, 64, data)
        assert (data == expected).all()
