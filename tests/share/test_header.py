"""The C++ header: it chooses what best.json calls the fastest, compiles for any GPU, and gives right results."""

from __future__ import annotations

import gzip
import itertools
import json
import math
import random
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT, copy_project
from shipped_kernels import shipped_study
from synthetic_sweep import EMULATOR, H200
from workflow_runs import shrink, snakemake

from kernelsweep.analysis.measurements import load_measurements
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.build import nvcc
from kernelsweep.errors import UserError
from kernelsweep.intervals import ratio, time_interval
from kernelsweep.judge.best.best_file import best_json
from kernelsweep.judge.best.find import find_best
from kernelsweep.problems.reduction import REDUCTION
from kernelsweep.results import MEASUREMENT_COLUMNS, write_rows
from kernelsweep.share.reduce_header.export import reduce_header
from kernelsweep.share.reduce_header.offered import is_offered, needed_architecture
from kernelsweep.sweep.axes import axes_on_device, resolve_axes
from kernelsweep.sweep.kernels.launch_plans import PLANS_WITH_A_GRID, launched_points
from kernelsweep.sweep.points import Point, points, skip_reason

# One process, since all use the same header.
pytestmark = pytest.mark.xdist_group("header")

STUDY = shipped_study("bandwidth_bound")
OFFERED = [kernel for kernel in STUDY.kernels.values() if is_offered(kernel)]
SIZES = [2**power for power in range(8, 30, 2)]
KINDS = [
    ("int32", "sum", "cold"),
    ("int32", "sum", "hot"),
    ("float32", "sum", "cold"),
    ("float64", "minimum", "cold"),
    ("int64", "product", "cold"),
]
CXX = {"int32": "int", "int64": "long", "float32": "float", "float64": "double"}
# At one point its result was wrong.
WRONG = [kernel for kernel in OFFERED if "float64" in kernel.dtypes and "minimum" in kernel.operations][-1].name
# Its floats differ from run to run.
VARYING = next(kernel for kernel in OFFERED if "float32" in kernel.dtypes).name


@dataclass(frozen=True)
class Made:
    """A header in a folder of its own, and best.json of the rows that it is made of."""

    folder: Path
    best: dict[str, Any]


def made_up_rows() -> list[dict[str, Any]]:
    """A sweep in which a kernel after the other is the fastest as arrays grow, in one or several of its shapes."""
    generator = random.Random(2026)
    rows = []
    for dtype, operation, cache in KINDS:
        axes: dict[str, list[Any]] = {
            "array_size": [*SIZES, 2**20 + 3],
            "block_size": [128, 256],
            "unroll": [2, 4],
            "dtype": [dtype],
            "operation": [operation],
            "cache": [cache],
            "grid_size": ["1024 threads * multiprocessors", "2048 threads * multiprocessors"],
        }
        every = points(axes_on_device(resolve_axes(REDUCTION.axes, axes), H200["multiprocessors"]))
        racing = [kernel for kernel in OFFERED if not skip_reason(every[0], kernel, [], None)]
        for kernel in STUDY.kernels.values():
            for point in launched_points(kernel.plan, every):
                fastest = racing[SIZES.index(nearest(point["array_size"])) % len(racing)]
                reason = skip_reason(point, kernel, [], None)
                time_us = (2 + point["array_size"] * 1e-6) * generator.choice([1, 1.003, 1.1])
                # A kernel that a header can't offer is faster than all that it can.
                time_us *= 0.5 if kernel not in OFFERED else 0.8 if kernel is fastest else 1
                rows.append(row(kernel.name, point, time_us, reason))
    spoiled = next(row for row in rows if (row["kernel"], row["operation"]) == (WRONG, "minimum"))
    nothing = dict.fromkeys(("time_us", "time_low_us", "time_high_us", "bandwidth_gbs"), "")
    spoiled.update(status="wrong_result", message="expected 1, found 2", **nothing)
    return rows


def row(kernel: str, point: Point, time_us: float, reason: str | None) -> dict[str, Any]:
    bits = int(point["dtype"][-2:])
    values = {key: value for key, value in point.items() if value is not None}
    identity = {"study": "bandwidth_bound", "kernel": kernel, "platform": H200["platform"], "device": H200["name"]}
    if reason:
        return {**identity, **values, "launches": 1, "status": "skipped", "message": reason}
    return {
        **identity,
        **values,
        "launches": 1,
        "status": "ok",
        "samples": 50,
        "time_us": f"{time_us:.6f}",
        "time_low_us": f"{time_us * 0.995:.6f}",
        "time_high_us": f"{time_us * 1.005:.6f}",
        "noise": 0.004,
        "bandwidth_gbs": f"{point['array_size'] * bits / 8 / time_us / 1e3:.6f}",
        "peak_fraction": 0.5,
        "clock_mhz": 1980,
        "source_sha256": "as measured",
        "bit_identical": ("no" if kernel == VARYING and point["array_size"] > 2**20 else "yes")
        if point["dtype"].startswith("float")
        else "",
    }


def nearest(array_size: int) -> int:
    return min(SIZES, key=lambda size: abs(math.log(size / array_size)))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The header that `snakemake header` makes of a recording with the made-up rows."""
    project = copy_project(tmp_path_factory.mktemp("header"))
    shrink(project, ["bandwidth_bound"])
    recordings = project / "resources/recordings"
    folder = recordings / "made-up"
    folder.mkdir()
    for name in ("builds.csv", "environment.json"):
        shutil.copy(recordings / f"nvidia-h200/{name}", folder)
    write_rows(folder / "rows.csv", MEASUREMENT_COLUMNS, made_up_rows())
    rows = load_measurements([folder / "rows.csv"])
    (folder / "measurements.csv.gz").write_bytes(gzip.compress((folder / "rows.csv").read_bytes()))
    (folder / "rows.csv").unlink()
    gridded = [name for name, kernel in STUDY.kernels.items() if kernel.plan in PLANS_WITH_A_GRID]
    found = find_best("bandwidth_bound", StudyData(STUDY.settings, rows, H200), gridded)
    run = snakemake(project, "header", "--config", "platform=recording/made-up")
    assert run.returncode == 0, run.stdout
    best = json.loads(best_json(found, ["bandwidth_bound"], H200))
    return Made(project / "results/recording/made-up/best", best)


PROGRAM = """\
#include "reduce.cuh"
#include <cstdio>
using namespace kernelsweep;
template <typename Element, typename Operation, typename Cache, typename Order>
void show(const char *kind)
{
    for (const std::size_t count : {COUNTS}) {
        const Configuration &one = configuration<Element, Operation, Cache, Order>(count);
        std::printf("%s|%zu|%s|%u|%u|%u|%zu\\n", kind, count, one.kernel, one.block_size, one.unroll,
                    grid_size<Element>(one, count, MULTIPROCESSORS), one.measured_count);
    }
}
int main()
{
SHOW}
"""


def cxx_kind(dtype: str, operation: str, cache: str, order: str) -> str:
    return f"{CXX[dtype]}, {operation.capitalize()}, {cache.capitalize()}, {order}"


def chosen(made: Made, counts: list[int], architecture: int, folder: Path) -> dict[tuple[str, int], Any]:
    """By kind and count: kernel, block size, unroll factor, grid, and the size at which that was measured.

    As a C++ compiler finds them that knows nothing of CUDA.
    """
    kinds = [cxx_kind(*kind, order) for kind in KINDS for order in ("AnyOrder", "Deterministic")]
    program = PROGRAM.replace("COUNTS", ", ".join(f"std::size_t({count})" for count in counts))
    program = program.replace("MULTIPROCESSORS", str(H200["multiprocessors"]))
    source, binary = folder / f"{architecture}.cpp", folder / f"{architecture}"
    source.write_text(program.replace("SHOW", "".join(f'    show<{kind}>("{kind}");\n' for kind in kinds)))
    options = ["-std=c++17", "-Wall", "-Wextra", "-Werror", f"-DKERNELSWEEP_ARCHITECTURE={architecture}"]
    subprocess.run(["g++", *options, f"-I{made.folder}", "-o", str(binary), str(source)], check=True)
    lines = subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout.splitlines()
    fields = [line.split("|") for line in lines]
    return {(kind, int(count)): (kernel, *map(int, rest)) for kind, count, kernel, *rest in fields}


def test_chosen_is_what_best_json_calls_the_fastest(made: Made, tmp_path: Path) -> None:
    found = chosen(made, SIZES, 90, tmp_path)
    for dtype, operation, cache in KINDS:
        shapes = set()
        for size, order in itertools.product(SIZES, ("AnyOrder", "Deterministic")):
            kernel, *shape, measured = found[cxx_kind(dtype, operation, cache, order), size]
            barred = {VARYING} if order == "Deterministic" and dtype.startswith("float") else set()
            barred |= {WRONG} if operation == "minimum" else set()
            allowed = {one.name for one in OFFERED} - barred
            place = {"array_size": size, "dtype": dtype, "operation": operation, "cache": cache}
            entries = [e for e in made.best["entries"] if place.items() <= e.items() and e["kernel"] in allowed]
            fastest = time_interval(min(entries, key=lambda entry: float(entry["time_us"])))
            as_fast = [
                (entry["kernel"], *(one[key] for key in ("block_size", "unroll", "grid_size")), size)
                for entry in entries
                for one in (entry, *entry["ties"])
                if ratio(over=time_interval(one), under=fastest).low <= 1
            ]
            assert (kernel, *shape, measured) in as_fast, (place, order)
            shapes.add((kernel, *shape[:2]))
        # Each kernel has eight shapes, of which several are as fast, at each size others.
        assert len(shapes) < len(SIZES) * 2
    kernels = {kernel for (kind, _), (kernel, *_) in found.items() if kind == "int, Sum, Cold, AnyOrder"}
    assert kernels == {kernel.name for kernel in OFFERED if "int32" in kernel.dtypes}


def test_every_size_is_served_by_the_nearest_measured_one(made: Made, tmp_path: Path) -> None:
    ends = [math.isqrt(size * following) for size, following in itertools.pairwise(SIZES)]
    counts = [0, 1, *ends, *(end + 1 for end in ends), 2**20 + 3, 2**40]
    found = chosen(made, counts, 80, tmp_path)
    for (kind, count), (name, _, _, grid, measured) in found.items():
        if count == 0:
            assert (measured, grid) == (SIZES[0], 1)
        else:
            # At an end itself, both are as near; the smaller is taken.
            assert measured == (nearest(count) if count not in ends else SIZES[ends.index(count)]), kind
        # Nothing is chosen that the architecture can't run, and no more blocks than were measured.
        assert needed_architecture(STUDY.kernels[name]) <= 80
        assert 1 <= grid <= 16 * H200["multiprocessors"]


def test_what_was_not_measured_is_refused_in_a_sentence(made: Made, tmp_path: Path) -> None:
    program = tmp_path / "unmeasured.cpp"
    program.write_text(
        '#include "reduce.cuh"\nauto &chosen = kernelsweep::configuration<double, kernelsweep::Product>(1000);\n'
    )
    run = subprocess.run(
        ["g++", "-std=c++17", "-fsyntax-only", f"-I{made.folder}", str(program)], capture_output=True, text=True
    )
    assert run.returncode != 0
    sentence = "kernelsweep: nothing was measured for this element type, operation, cache state and order"
    assert sentence in run.stderr
    assert "What was: float32 sum, cold; float32 sum, cold, deterministic; float64 minimum, cold" in run.stderr


def test_the_header_says_where_it_comes_from(made: Made) -> None:
    text = (made.folder / "reduce.cuh").read_text()
    head = re.sub(r"\n//\s+", " ", text[: text.index("#pragma once")])
    for needed in (
        r"NVIDIA H200.*driver \d+\.\d+.*Compute capability 9\.0, 132 multiprocessors",
        r"Measured 20\d\d-\d\d-\d\d at revision [0-9a-f]{40}",
        r"MIT License. Copyright \(c\)",
        r"Edited since they were measured, .*" + VARYING,
        r"float32 sum, cold, deterministic: 256\s+[\d.]+ us\s+\d+ GB/s  \w+ \d+ x \d+ in [\d,]+ blocks",
    ):
        assert re.search(needed, head), needed
    assert max(map(len, text[: text.index("#pragma once")].splitlines())) <= 120
    # The kernels as they are, but for includes.
    for kernel in OFFERED:
        body = kernel.path.read_text().split("\n__global__")[1]
        assert body in text


def test_without_times_of_such_kernels_it_says_what_to_do() -> None:
    rows = load_measurements([ROOT / "resources/recordings/nvidia-h200/measurements.csv.gz"])
    kernels = {("bandwidth_bound", name): kernel for name, kernel in STUDY.kernels.items()}
    others = rows[rows["study"] != "bandwidth_bound"]
    with pytest.raises(UserError, match=r"no kernel that leaves one value .* are in: bandwidth_bound\. Measure them"):
        reduce_header(others, kernels, ROOT / "kernels", H200, [])
    with pytest.raises(UserError, match="there are no times to choose by"):
        reduce_header(rows, kernels, ROOT / "kernels", EMULATOR, [])


def compile_cuda(source: Path, made: Made, binary: Path, *options: str) -> None:
    strict = ["-Xcompiler", "-Wall,-Wextra,-Werror", "-Werror", "all-warnings"]
    command = [nvcc.find(), "-std=c++17", *strict, *options, "-I", str(made.folder), "-o", str(binary), str(source)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout + run.stderr == ""


@pytest.mark.nvcc
@pytest.mark.parametrize("architecture", [80, 90])
def test_every_kind_compiles_for_an_architecture(made: Made, architecture: int, tmp_path: Path) -> None:
    cubin = tmp_path / "check.cubin"
    compile_cuda(ROOT / "tests/support/header_check.cu", made, cubin, "-cubin", f"-arch=sm_{architecture}")
    # Kernels that need sm_90 are compiled for sm_90 and left out for sm_80.
    found = {kernel.name for kernel in OFFERED if kernel.name.encode() in cubin.read_bytes()}
    assert found == {kernel.name for kernel in OFFERED if needed_architecture(kernel) <= architecture}


@pytest.mark.nvcc
def test_the_example_compiles_as_documented_for_two_architectures_at_once(made: Made, tmp_path: Path) -> None:
    page = (ROOT / "docs/reduce-header.md").read_text()
    (line,) = re.findall(r"nvcc (.*) -arch=native -I results/\S+/best -o reduce (\S+)", page)
    options, source = line
    assert options == "-std=c++17"
    both = [f"-gencode=arch=compute_{number},code=sm_{number}" for number in (80, 90)]
    compile_cuda(ROOT / source, made, tmp_path / "reduce", *both)


@pytest.mark.gpu
@pytest.mark.nvcc
@pytest.mark.parametrize("source", ["tests/support/header_check.cu", "examples/reduce.cu"])
def test_what_it_launches_is_right(made: Made, source: str, tmp_path: Path) -> None:
    compile_cuda(ROOT / source, made, tmp_path / "program", "-arch=native")
    run = subprocess.run([str(tmp_path / "program")], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
