"""On a GPU: results are compared in its memory as on the host, and inputs and the cache are as they are asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from checkout import ROOT
from planted import kernel_in, point, run

from kernelsweep.base.running import environment
from kernelsweep.statistics import summarise

pytestmark = pytest.mark.gpu


def on_gpu(program: str) -> str:
    """What a program prints that runs in a process of its own, with an open GpuPlatform as `platform`."""
    opened = "import numpy as np\nfrom kernelsweep.device.gpu import GpuPlatform\nplatform = GpuPlatform()\n"
    ended = subprocess.run(
        [sys.executable, "-c", f"{opened}{program}\nplatform.close()"],
        capture_output=True,
        text=True,
        env=environment(),
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


COMPARE = """
random = np.random.default_rng(1)
for size in (1, 3, 4, 4097, 2**22 + 5):
    data = random.integers(0, 256, size, np.uint8)
    first, second = (platform.allocate(size + 8) for _ in range(2))
    platform.upload(first, data, 4)
    platform.upload(second, data)
    print(platform.equal(first, second, size, 4), end=" ")
    for place in {0, size // 2, size - 1}:
        platform.upload(second, data[place : place + 1] ^ 1, place)
        print(platform.equal(first, second, size, 4), end=" ")
        platform.upload(second, data[place : place + 1], place)
    del first, second
    print()
"""

ERRORS = """
for dtype in map(np.dtype, (np.float16, np.float32, np.float64)):
    count = 2**20 + 3
    floats = np.linspace(-2, 2, count).astype(dtype)
    floats[1:5] = [np.inf, -np.inf, 0.0, -0.0]
    expected = floats.astype(np.float64)
    expected[7] += 2.0**-12
    memory = [platform.allocate(one.nbytes + 8) for one in (floats, expected, expected)]
    platform.upload(memory[0], floats)
    platform.upload(memory[1], expected)
    platform.upload(memory[2], np.array([2.0**-10]))

    def share():
        return platform.error_share(memory[0], dtype, count, (memory[1], memory[2]), (count, 1))

    print(share(), end=" ")
    for place, value in ((0, np.nan), (count - 1, 2.1), (1, 1e4), (count // 2, -1)):
        platform.upload(memory[0], np.array([value], dtype), place * floats.itemsize)
        print(share(), end=" ")
        platform.upload(memory[0], floats[place : place + 1], place * floats.itemsize)
    print()
    del memory
"""


def test_memory_is_compared_byte_by_byte() -> None:
    lines = on_gpu(COMPARE).split("\n")[:-1]
    assert [line.split() for line in lines] == [["True", *["False"] * places] for places in (1, 3, 3, 3, 3)]


def test_floats_are_compared_with_what_is_expected() -> None:
    assert on_gpu(ERRORS) == "0.25 None None None None \n" * 3


def test_points_after_a_second_input_find_the_first_again(arch: str, tmp_path: Path) -> None:
    kernel = kernel_in(ROOT / "tests/planted/right.cu")
    points = [point(size, 1024, dtype=dtype) for size in (100, 2**23 + 5, 2**21) for dtype in ("int32", "float64")]
    outcomes = run(kernel, points, tmp_path, arch, visits=2, second_input=True)
    assert [outcome.status for outcome in outcomes.values()] == ["ok"] * 6


def test_a_flush_evicts_lines_that_a_kernel_has_marked_to_stay(arch: str, tmp_path: Path) -> None:
    # 16 MiB fit into the L2. Lines that stayed there would be read several times as fast as from memory.
    samples = {}
    for name, cache in (("marks_lines_to_stay", "cold"), ("marks_lines_to_stay", "hot"), ("marks_no_lines", "cold")):
        kernel = kernel_in(ROOT / f"tests/planted/{name}.cu")
        one = point(2**22, 256, unroll=16, cache=cache)
        (tmp_path / "journal.jsonl").unlink(missing_ok=True)
        outcome = run(kernel, [one], tmp_path, arch)[one]
        assert outcome.status == "ok", outcome.message
        samples[name, cache] = outcome.samples
        print(name, cache, summarise(outcome.samples), min(outcome.samples))
    plain = summarise(samples["marks_no_lines", "cold"]).median
    assert summarise(samples["marks_lines_to_stay", "hot"]).median < 0.9 * plain
    assert min(samples["marks_lines_to_stay", "cold"]) > 0.9 * plain
