"""Plans of one launch that leave one value: grids no larger than the array needs, and buffers that are left zero."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted import kernel_in, point, run
from reductions import REDUCTION
from shipped_kernels import shipped_study

from kernelsweep.study.axes import resolve_axes
from kernelsweep.study.kernel_sweep import launched_points
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.spaces import valid_points

STUDY = shipped_study("bandwidth_bound")

AXES = {
    "array_size": [2**16],
    "block_size": [128, 1024],
    "unroll": [4],
    "dtype": ["int32", "float64"],
    "operation": ["sum"],
    "cache": ["cold"],
}


def test_a_small_array_gets_no_more_blocks_than_it_has_work_for_and_is_measured_once() -> None:
    axes = resolve_axes(REDUCTION.axes, AXES, {"array_size": [1000, 2**16, 2**28], "grid_size": [3, 264, 528, 1056]})
    every, kernel = valid_points([axes], [], []), STUDY.kernels["last_block"]
    found = launched_points(kernel, every)
    # With 4 vectors of 16 bytes a thread, a block of 128 threads takes 2048 elements of int32 or 1024 of float64.
    grids = {
        (dtype, size): [
            p["grid_size"] for p in found if (p["dtype"], p["array_size"], p["block_size"]) == (dtype, size, 128)
        ]
        for dtype in ("int32", "float64")
        for size in (1000, 2**16, 2**28)
    }
    assert grids == {
        ("int32", 1000): [1],
        ("int32", 2**16): [3, 32],
        ("int32", 2**28): [3, 264, 528, 1056],
        ("float64", 1000): [1],
        ("float64", 2**16): [3, 64],
        ("float64", 2**28): [3, 264, 528, 1056],
    }
    assert all(kernel.plan(p).launches[0].blocks == p["grid_size"] for p in found)
    clusters = launched_points(STUDY.kernels["clusters"], every)
    assert all(p["grid_size"] is not None and p["grid_size"] % 8 == 0 for p in clusters)
    assert launched_points(STUDY.kernels["clusters"], clusters) == clusters
    # Launches that don't fit their grid have the sweep's grid sizes.
    assert launched_points(STUDY.kernels["vector_loads"], every) == [*every]


SOURCE = """\
// A planted kernel of one launch, each block of which adds its elements to the result by one thread.

#include "arrivals.cuh"
#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void planted(const Element *data, Element *partials, unsigned *arrivals, Element *value, size_t array_size)
{
    if (threadIdx.x == 0) {
        Element sum = 0;
        for (size_t i = blockIdx.x; i < array_size; i += gridDim.x)
            sum += data[i];
        partials[blockIdx.x] = sum;
    }
    const bool last = LAST;
    if (last && threadIdx.x == 0) {
        Element sum = 0;
        for (unsigned block = 0; block < gridDim.x; ++block)
            sum += partials[block];
        *value = sum;
    }
}
"""


def planted(folder: Path, last: str) -> KernelSource:
    path = folder / "planted.cu"
    path.write_text(SOURCE.replace("LAST", last))
    return kernel_in(path, plan="single_launch")


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ("arrives_last(arrivals, gridDim.x)", ""),
        # A counter that goes on counting: right once, and never again.
        (
            "threadIdx.x == 0 && atomicAdd(arrivals, 1u) == gridDim.x - 1",
            "arrivals is not left as it was, as the next run needs",
        ),
        # One that is left zero where it is looked at last, but is used up somewhere else.
        (
            "arrives_last(arrivals, gridDim.x) && [] { static int runs = 0; return ++runs <= int(blockDim.x); }()",
            "run again",
        ),
    ],
)
def test_a_kernel_that_leaves_its_counter_used_is_caught(last: str, message: str, tmp_path: Path) -> None:
    kernel = planted(tmp_path, last)
    one = point(5000, 32, grid_size=5)
    outcome = run(kernel, [one], tmp_path)[one]
    assert (outcome.status == "ok") == (message == "")
    assert message in outcome.message
