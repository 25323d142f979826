"""How fast the emulator runs: element-steps (array elements times launches) per second.

    PYTHONPATH=workflow/scripts uv run python benchmarks/emulator_speed.py

Measures the best of several launches of kernels/unrolling/interleaved.cu: block size 256, int32, sum. Each element is a
thread that goes through eight barriers, so this is nearly all switching between threads.

Then how many times slower the same launch is when mistakes in the use of memory are looked for, beside counting. Beside
that, of kernels/stepwise/cascaded.cu, which does little but load: the most expensive kind.
"""

from __future__ import annotations

import ctypes
import tempfile
import time
from pathlib import Path

import numpy as np

from kernelsweep.build import gcc
from kernelsweep.platforms.counting.counting_platform import CountingPlatform
from kernelsweep.platforms.emulated_library import EmulatedLibrary

ROOT = Path(__file__).resolve().parent.parent
ARRAY_SIZE = 2**22
BLOCK_SIZE = 256
LAUNCHES = 7  # the first one or two are slower: the stacks' pages are new
COUNTED_SIZE = 2**20
CASCADED_BLOCKS = 32

UNIT = """\
#include "emulator.hpp"
#include "kernels/unrolling/interleaved.cu"
#include "kernels/stepwise/cascaded.cu"

static const emulator::Entry entries[] = {
    emulator::entry("interleaved<int, Sum>", &interleaved<int, Sum>),
    emulator::entry("cascaded<int, Sum, 256u>", &cascaded<int, Sum, 256u>),
};
EMULATOR_EXPORT(entries)
"""
ENTRIES = {"interleaved": "interleaved<int, Sum>", "cascaded": "cascaded<int, Sum, 256u>"}


def seconds_per_launch(library: EmulatedLibrary) -> float:
    """The shortest of LAUNCHES launches, each checked."""
    values = np.random.default_rng(0).integers(-1000, 1000, ARRAY_SIZE).astype(np.int32)
    partials = np.zeros(ARRAY_SIZE // BLOCK_SIZE, np.int32)
    seconds = []
    for _ in range(LAUNCHES):
        data = values.copy()
        arguments = [data.ctypes.data, partials.ctypes.data, ctypes.c_size_t(ARRAY_SIZE)]
        start = time.perf_counter()
        library.launch(0, len(partials), BLOCK_SIZE, 0, arguments)
        seconds.append(time.perf_counter() - start)
        assert partials.sum() == values.sum()
    return min(seconds)


def seconds_of_counting(platform: CountingPlatform, name: str, blocks: int, check: bool) -> float:
    """The processor time of the shortest of LAUNCHES counted launches, each checked."""
    values = np.random.default_rng(0).integers(-1000, 1000, COUNTED_SIZE).astype(np.int32)
    partials = np.zeros(blocks, np.int32)
    data, result = platform.allocate(values.nbytes), platform.allocate(partials.nbytes)
    seconds = []
    for _ in range(LAUNCHES):
        platform.watch(check=check)
        platform.upload(data, values)
        start = time.process_time()
        sizes = (blocks, 1, 1), (BLOCK_SIZE, 1, 1)
        platform.launch(ENTRIES[name], *sizes, 0, [data, result, np.uint64(COUNTED_SIZE)])
        seconds.append(time.process_time() - start)
        platform.download(result, partials)
        assert partials.sum() == values.sum()
    platform.free(data)
    platform.free(result)
    return min(seconds)


def main() -> None:
    """Print the speed, and what the search for mistakes costs."""
    with tempfile.TemporaryDirectory() as folder:
        unit, path = Path(folder) / "unit.cpp", Path(folder) / "unit.so"
        unit.write_text(UNIT)
        start = time.perf_counter()
        include = [ROOT / "workflow/emulator", ROOT / "kernels/include", ROOT]
        runtime = Path(folder) / "runtime.o"
        gcc.compile_runtime(include[0], runtime)
        gcc.compile_for_emulator(unit, path, runtime, include)
        print(f"{gcc.version()}: compiled in {time.perf_counter() - start:.2f} s")
        library = EmulatedLibrary(path)
        print(f"{ARRAY_SIZE / seconds_per_launch(library) / 1e6:.1f} million element-steps per second")

        platform = CountingPlatform()
        platform.load(path, {name: {"unit": 0, "entry": entry} for entry, name in enumerate(ENTRIES.values())})
        for name, blocks in (("interleaved", COUNTED_SIZE // BLOCK_SIZE), ("cascaded", CASCADED_BLOCKS)):
            counting, checking = (seconds_of_counting(platform, name, blocks, check) for check in (False, True))
            print(f"{name}: {checking / counting:.1f} times slower with mistakes looked for")


if __name__ == "__main__":
    main()
