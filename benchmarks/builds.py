"""How long macro variants take to compile: the kernel `register_tile` of matmul, a unit each, side by side.

    uv run python benchmarks/builds.py [--variants 1000] [--cores 16] [--arch sm_90]

The template parameters are handed over as macros, each time with other values, so that no two units come to the same
code. Printed are the seconds until the first unit is ready, when a GPU could begin, until all are, and until all were
found again in the store where they are kept. Ends with 1 where 1,000 variants take more than 60 s on 16 cores, or take
other numbers more than their share. Needs nvcc and no GPU.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from support.own_sweep import ROOT

from kernelsweep.build.build import Source
from kernelsweep.build.builder import Builder
from kernelsweep.build.unit_store import UnitStore
from kernelsweep.sweep.kernels.units import Unit, variant_name

# What 16 cores are to do in 60 s.
GOAL_CORE_SECONDS = 60 * 16 / 1000

ENTRY = """\
#include "register_tile.cuh"
extern "C" __global__ void __launch_bounds__((BLOCK_M / THREAD_M) * (BLOCK_N / THREAD_N))
tuned(float *C, const float *A, const float *B, int m, int n, int k)
{
    register_tile<BLOCK_M, BLOCK_N, TILE_K, THREAD_M, THREAD_N>(C, A, B, m, n, k);
}
"""


def macro_sets(count: int) -> Iterator[dict[str, str]]:
    """That many sets of valid values, no two of them the same."""
    names = ("BLOCK_M", "BLOCK_N", "TILE_K", "THREAD_M", "THREAD_N")
    sizes = range(16, 129, 16)
    found = (
        values
        for values in itertools.product(sizes, sizes, (4, 8, 16, 32), (2, 4, 8), (2, 4, 8))
        if 32 <= values[0] * values[1] // (values[3] * values[4]) <= 1024
        and 4 * values[2] * (values[0] + values[1]) <= 48 * 1024
    )
    for values in itertools.islice(found, count):
        yield dict(zip(names, map(str, values), strict=True))


def source_in(folder: Path) -> Source:
    """matmul's kernel as a function of the device, and an entry that the macros complete."""
    text = (ROOT / "kernels/matmul/register_tile.cu").read_text(encoding="utf-8")
    bounds = text[text.index("__launch_bounds__") : text.index("register_tile(")]
    body = text.replace("__global__", "__device__ __forceinline__").replace(bounds, "")
    (folder / "register_tile.cuh").write_text(body, encoding="utf-8")
    kernel = folder / "tuned.cu"
    kernel.write_text(ENTRY, encoding="utf-8")
    return Source(kernel, [folder, ROOT / "kernels/matmul", ROOT / "kernels/include"])


def seconds(source: Source, arch: str, units: list[Unit], folder: Path, cores: int) -> tuple[float, float]:
    """Until the first of the units is compiled, and until all are."""
    names = [variant_name(unit.variants[0], unit.macros) for unit in units]
    started = time.perf_counter()
    with Builder(source, arch, UnitStore(folder / "store"), cores) as builder:
        builder.offer(units)
        builder.ask(names)
        builder.wait(names[0])
        first = time.perf_counter() - started
        for name in names:
            builder.wait(name)
        return first, time.perf_counter() - started


def main() -> int:
    """Compile, and print the seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variants", type=int, default=1000)
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--arch", default="sm_90")
    settings = parser.parse_args()
    units = [Unit(macros, [["tuned"]]) for macros in macro_sets(settings.variants)]
    if len(units) < settings.variants:
        sys.exit(f"--variants {settings.variants}: there are {len(units)} valid sets of macros")
    with tempfile.TemporaryDirectory() as name:
        source = source_in(Path(name))
        before = os.times()
        first, whole = seconds(source, settings.arch, units, Path(name), settings.cores)
        after = os.times()
        _, again = seconds(source, settings.arch, units, Path(name), settings.cores)
    used = after.children_user + after.children_system - before.children_user - before.children_system
    goal = GOAL_CORE_SECONDS * len(units) / settings.cores
    print(f"{len(units)} macro variants of matmul's register_tile for {settings.arch}, {settings.cores} cores:")
    print(
        f"  first ready after {first:.1f} s, all after {whole:.1f} s (goal {goal:.0f} s), found again in {again:.1f} s"
    )
    print(f"  processor time of the compilers: {used:.0f} s, {used / len(units):.2f} s a variant")
    return 0 if whole <= goal else 1


if __name__ == "__main__":
    sys.exit(main())
