"""How fast the emulator runs: element-steps (array elements times launches) per second and core.

    PYTHONPATH=workflow/scripts uv run python benchmarks/emulator_speed.py

Measures the best of several launches of kernels/unrolling/interleaved.cu: block size 256, int32, sum. Each element is a
thread that goes through eight barriers, so this is nearly all switching between threads.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
import time
from pathlib import Path

import numpy as np

from kernelsweep.compilers import gcc
from kernelsweep.platforms.emulated_library import EmulatedLibrary

ROOT = Path(__file__).resolve().parent.parent
ARRAY_SIZE = 2**22
BLOCK_SIZE = 256
LAUNCHES = 7  # the first one or two are slower: the stacks' pages are new

UNIT = """\
#include "emulator.hpp"
#include "kernels/unrolling/interleaved.cu"

static const emulator::Entry entries[] = {
    emulator::entry("interleaved<int, Sum>", &interleaved<int, Sum>),
};
EMULATOR_EXPORT(entries)
"""


def seconds_per_launch(library: EmulatedLibrary, workers: int) -> float:
    """The shortest of LAUNCHES launches, each checked."""
    values = np.random.default_rng(0).integers(-1000, 1000, ARRAY_SIZE).astype(np.int32)
    partials = np.zeros(ARRAY_SIZE // BLOCK_SIZE, np.int32)
    seconds = []
    for _ in range(LAUNCHES):
        data = values.copy()
        arguments = [data.ctypes.data, partials.ctypes.data, ctypes.c_size_t(ARRAY_SIZE)]
        start = time.perf_counter()
        library.launch(0, len(partials), BLOCK_SIZE, 0, arguments, workers)
        seconds.append(time.perf_counter() - start)
        assert partials.sum() == values.sum()
    return min(seconds)


def main() -> None:
    """Print the speed with one worker and with one on each core."""
    with tempfile.TemporaryDirectory() as folder:
        unit, path = Path(folder) / "unit.cpp", Path(folder) / "unit.so"
        unit.write_text(UNIT)
        start = time.perf_counter()
        gcc.compile_for_emulator(unit, path, [ROOT / "workflow/emulator", ROOT / "kernels/include", ROOT])
        print(f"{gcc.version()}: compiled in {time.perf_counter() - start:.2f} s")
        library = EmulatedLibrary(path)
        for workers in sorted({1, len(os.sched_getaffinity(0))}):
            rate = ARRAY_SIZE / seconds_per_launch(library, workers) / workers
            print(f"{workers} workers: {rate / 1e6:.1f} million element-steps per second and core")


if __name__ == "__main__":
    main()
