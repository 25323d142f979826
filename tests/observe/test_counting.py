"""Memory accesses are counted as Nsight Compute counts them, and mistakes in them are found, with their lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulator_units import INCLUDE, KERNELS, line_of, runtime, write_unit
from planted import point
from shipped_builds import compiled
from shipped_kernels import shipped_study

from cuda_emulator.compiling import compile_for_emulator
from kernelsweep.compile.device_code import kernel_heads
from kernelsweep.device.emulator import EmulatorPlatform
from kernelsweep.device.platform import MemoryMistake
from kernelsweep.device.point.runner import Runner
from kernelsweep.device.request import VisitRequest
from kernelsweep.device.task import Protocol
from kernelsweep.device.worker.serve import run_watched
from kernelsweep.observe.accesses.picture import WARPS, cost, draw, rows_of
from kernelsweep.observe.counting.run import Tracer
from kernelsweep.study.kernel_sweep import instantiation
from kernelsweep.study.kernels.plan import Launch, Size

VECTOR = "float4"
ENTRIES = {
    "requests": [
        *(f"strided_global<int, {stride}>" for stride in (1, 2, 8, 33)),
        f"strided_global<{VECTOR}, 1>",
        "strided_global<double, 1>",
        *(f"strided_shared<int, {stride}>" for stride in (1, 2, 32, 33)),
        *(f"strided_shared<{element}, {stride}>" for element in ("double", VECTOR) for stride in (1, 2)),
        *(f"transpose<{padding}, {synchronised}>" for padding in (0, 1) for synchronised in ("true", "false")),
        "ragged_loop",
        "synchronises",
    ]
}


class Kernels:
    """The kernels of one file, each launched on buffers of its own."""

    def __init__(self, stem: str, folder: Path) -> None:
        source = KERNELS / f"{stem}.cu"
        unit = write_unit(folder / "unit.cpp", [source], ENTRIES[stem])
        assert compile_for_emulator(unit, folder / "unit.so", runtime(), INCLUDE) == ""
        self._source = source.read_text()
        self._platform = EmulatorPlatform()
        self._platform.load(folder / "unit.so", {name: {"unit": 0, "entry": i} for i, name in enumerate(ENTRIES[stem])})

    def run(
        self, name: str, *arguments: np.ndarray, outputs: int = 0, grid: int | Size = 1, block: int | Size = 32
    ) -> tuple[dict[str, float], list[MemoryMistake]]:
        """Launch a kernel with these arguments; `outputs` uninitialised ints are inserted after the first argument."""
        platform = self._platform
        platform.watch()
        values: list[Any] = []
        for argument in arguments:
            memory = platform.allocate(argument.nbytes)
            platform.upload(memory, argument)
            values.append(memory)
        if outputs:
            values.insert(min(1, len(values)), platform.allocate(outputs * 4))
        blocks, threads = ((size, 1, 1) if isinstance(size, int) else size for size in (grid, block))
        platform.launch(Launch(blocks, threads, (), name), values)
        names = [text.split()[-1].strip("*") for text in kernel_heads(self._source)[name.split("<")[0]].parameters]
        buffers = [(value, names[i], np.dtype(np.int32)) for i, value in enumerate(values)]
        found = platform.mistakes(buffers)
        counted = platform.counts()
        for value in values:
            platform.free(value)
        return counted, found


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Kernels]:
    built: dict[str, Kernels] = {}

    def get(stem: str) -> Kernels:
        if stem not in built:
            built[stem] = Kernels(stem, tmp_path_factory.mktemp(stem))
        return built[stem]

    return get


def ones(count: int) -> np.ndarray:
    return np.ones(count, np.int32)


# Requests, sectors, conflicts


@pytest.mark.parametrize(("name", "sectors", "size"), [
    ("strided_global<int, 1>", 4, 4), ("strided_global<int, 2>", 8, 4), ("strided_global<int, 8>", 32, 4),
    ("strided_global<int, 33>", 32, 4), ("strided_global<double, 1>", 8, 8), ("strided_global<float4, 1>", 16, 16),
])  # fmt: skip
def test_sectors_of_a_strided_load(kernels: Callable[[str], Kernels], name: str, sectors: int, size: int) -> None:
    counted, found = kernels("requests").run(name, ones(32 * 33), outputs=32 * 4)
    assert not found
    assert counted["global_load_requests"] == 1
    assert counted["global_load_sectors"] == sectors
    assert counted["global_load_bytes"] == 32 * size
    assert counted["global_load_efficiency"] == 100 * size / sectors
    assert counted["global_store_sectors"] == size


@pytest.mark.parametrize(("name", "wavefronts", "conflicts"), [
    ("strided_shared<int, 1>", 1, 0), ("strided_shared<int, 2>", 2, 1), ("strided_shared<int, 32>", 32, 31),
    ("strided_shared<int, 33>", 1, 0),  # the classic padding
    ("strided_shared<double, 1>", 2, 0), ("strided_shared<double, 2>", 4, 2),  # half a warp at a time
    ("strided_shared<float4, 1>", 4, 0), ("strided_shared<float4, 2>", 8, 4),  # a quarter
])  # fmt: skip
def test_bank_conflicts(kernels: Callable[[str], Kernels], name: str, wavefronts: int, conflicts: int) -> None:
    counted, found = kernels("requests").run(name, outputs=32 * 4)
    assert not found
    assert counted["shared_load_requests"] == counted["shared_store_requests"] == 1
    assert counted["shared_load_wavefronts"] == counted["shared_store_wavefronts"] == wavefronts
    assert counted["bank_conflict"] == 2 * conflicts


def test_lanes_that_stop_early_leave_the_others_requests_whole(kernels: Callable[[str], Kernels]) -> None:
    counted, found = kernels("requests").run("ragged_loop", ones(32 * 32), outputs=32)
    assert not found
    assert counted["global_load_requests"] == 32
    assert counted["global_load_bytes"] == 4 * sum(range(1, 33))
    # Round i has lanes i to 31, which start at element 32 * i + i of rows of four sectors.
    assert counted["global_load_sectors"] == sum(4 - i // 8 for i in range(32))
    assert counted["active_lanes"] == (sum(range(1, 33)) + 32) / 33
    assert counted["partial_requests"] == 31


def test_synchronisations_and_atomics(kernels: Callable[[str], Kernels]) -> None:
    counted, found = kernels("requests").run("synchronises", np.zeros(1, np.uint32), outputs=64, block=64)
    assert not found
    assert counted["barriers"] == 4, "two barriers by two warps"
    assert counted["warp_synchronisations"] == counted["warp_exchanges"] == 2
    assert counted["global_atomics"] == counted["shared_atomics"] == 2
    assert "global_load_efficiency" not in counted, "nothing is loaded"


@pytest.mark.parametrize("padding", [0, 1])
def test_a_transposition_in_two_dimensions(kernels: Callable[[str], Kernels], padding: int) -> None:
    shape = {"grid": (3, 2, 1), "block": (32, 8, 2), "outputs": 6 * 32 * 32}
    counted, found = kernels("requests").run(f"transpose<{padding}, true>", ones(6 * 32 * 32), **shape)
    assert {one.kind for one in found} == {"partial_barrier"}  # of the half that leaves early
    assert counted["global_load_requests"] == counted["global_store_requests"] == 6 * 32
    assert counted["global_load_efficiency"] == counted["global_store_efficiency"] == 100
    assert counted["bank_conflict"] == (0 if padding else 6 * 32 * 31)
    assert counted["barriers"] == 6 * 8, "by the warps that have not left"
    _, found = kernels("requests").run(f"transpose<{padding}, false>", ones(6 * 32 * 32), **shape)
    (race,) = found
    assert {line.rsplit("tests/", 1)[-1] for line in race.lines} == {
        line_of("requests", "tile: write"),
        line_of("requests", "tile: read"),
    }
    assert re.search(r"thread \(\d+, \d, 0\) of block \(0, 0, 0\) .* thread \(\d+, \d, 0\) of", race.message), (
        race.message
    )


# Shipped kernels


# At block size 512: of int32 as published (resources/published/unrolling.csv), of float64 as measured on an H200
# with Nsight Compute 2025.3, whose six decimals they have.
@pytest.mark.parametrize(("name", "unroll", "dtype", "load", "store"), [
    ("neighbored", 1, "int32", 25.02, 25.00),
    ("interleaved", 1, "int32", 96.15, 95.52),
    ("interleaved", 1, "float64", 98.745174, 98.461538),
    ("unrolled", 8, "int32", 99.21, 97.71),
    ("unrolled_warps", 8, "int32", 99.43, 99.40),
])  # fmt: skip
def test_efficiencies_are_those_of_nsight_compute(
    tmp_path: Path, name: str, unroll: int, dtype: str, load: float, store: float
) -> None:
    kernel, at = shipped_study("unrolling").kernels[name], point(2**16, 512, unroll=unroll, dtype=dtype)
    platform = EmulatorPlatform()
    runner = Runner(platform, compiled(kernel, [at], tmp_path).task("", Protocol(None, seed=1)))
    outcome = run_watched(platform, runner, VisitRequest(at, instantiation(kernel, at)))
    assert outcome.status == "ok"
    digits = len(str(load).split(".")[1])
    assert round(outcome.counts["global_load_efficiency"], digits) == load
    assert round(outcome.counts["global_store_efficiency"], digits) == store


def test_the_picture_shows_elements_idle_lanes_and_the_cost_of_each_step(tmp_path: Path) -> None:
    kernel = shipped_study("stepwise").kernels["strided_index"]
    one = point(64, 64, dtype="float32")
    task = compiled(kernel, [one], tmp_path).task("", Protocol(None, seed=1))
    trace = Tracer(task).trace(one, instantiation(kernel, one), WARPS)
    # The load, a store, two loads and a store in each of the tree's six steps, and the block's result.
    rows = rows_of(trace.warps)
    assert [row.memory for row in rows] == ["global", *["shared"] * 8, "global"]
    free, costs = "without bank conflict", [cost(row)[0].partition(" ")[2] for row in rows]
    assert costs == ["× 4 sectors", free, *["× 2-way bank conflict"] * 5, free, free, "× 1 sector"]
    # The second of the block's two warps only loads its elements, and falls idle with the tree's first step.
    lanes = [[len(row.lanes(warp)) for warp in (0, 1)] for row in rows]
    assert lanes == [[32, 32], [32, 32], *([lanes, 0] for lanes in (32, 16, 8, 4, 2, 1, 1, 1))]
    # The active threads are neighbours; their elements are not: every second one, then every fourth one is written.
    assert [sorted(row.elements(0, loads=False)) for row in rows[2:4]] == [list(range(0, 64, step)) for step in (2, 4)]
    # Compilers load the operands of a sum in either order.
    assert [row.array for row in rows_of([[replace(trace.warps[0][0], array=array) for array in "yx"]])] == ["x", "y"]
    # Lanes of a warp that wait for nobody load again after stores; what is only stored is the step's last row.
    load, store = trace.warps[0][0], replace(trace.warps[0][0], operation="store")
    told = [(row.step, row.array) for row in rows_of([[load, store, load, store, replace(store, array="a")]])]
    assert told == [("1.1", load.array), ("1.2", load.array), ("1", "a")]
    # Pins: a warp's second store to the same elements, drawn as one; stores of two warps are in one row.
    assert [[len(warp) for warp in row.warps] for row in rows_of([[load, store, store], [store]])] == [[2, 1], [1, 0]]
    # Pins: elements of several warps in each pixel, as in a column of a tile, were all in the last warp's colour.
    of_warps = [[replace(load, places=tuple(4 * (4 * lane + warp) for lane in range(256)))] for warp in range(4)]
    assert rows_of(of_warps)[0].bands[0][1] and not rows[0].bands[0][1]
    # Pins: a stack where a kernel accesses only variables.
    assert "access no array at n=8." in draw("of_a_variable", "n=8", replace(trace, warps=[[], []]))
    drawing = draw("strided_index", "64 elements", trace)
    counts = r">64<.*>1<.*>requests of warps: 3 global, .*>loads: 8 sectors, 64 elements<.*>stores: 1 sector<.*>15 bank"
    assert re.search(counts, drawing) and "data-sectors='9 64'" in drawing
    assert "#c65a00" in drawing and "#00805c" not in drawing, "the block has two warps"
    # A loop's step is drawn once, wherever it loads. Bold: a store that takes a sector a lane.
    loop = [replace(load, moment=turn, places=[128 * turn + 4 * lane for lane in range(32)]) for turn in range(9)]
    column = replace(store, moment=9, sectors=32, places=[256 * lane for lane in range(32)])
    drawing = draw("loop", "n=8", replace(trace, warps=[[*loop, column], [column]]))
    assert "8 rows like these" in drawing and re.findall("bold'>([^<]*)", drawing) == ["2 × 32 sectors, 4 needed"]
    # A bar is requests times cost: 4 sectors beside 64 of two requests.
    assert re.findall(r"'.25' d='M[\d. ]+h([\d.]+)v10h", drawing)[1:] == ["4.5", "72"]
