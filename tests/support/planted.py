"""Build and run planted kernels through the library's own measuring, on the emulator or on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from checkout import ROOT
from emulator_units import UNITS, runtime
from reductions import EXCHANGE, REDUCTION, kernel_in

from kernelsweep.compile.build import Source
from kernelsweep.compile.builder import Builder, build
from kernelsweep.compile.unit_store import UnitStore
from kernelsweep.device.kinds import kind_of
from kernelsweep.device.outcome import Outcome
from kernelsweep.device.sampling import Sampling
from kernelsweep.device.task import BuiltKernel, KernelTask, Protocol
from kernelsweep.device.worker.client import Workers
from kernelsweep.study.kernel_sweep import PlannedPoint, instantiation, units
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.sweep import loop
from kernelsweep.sweep.bench import Bench, Front
from kernelsweep.sweep.full import FullSweep
from kernelsweep.sweep.journal import Journal
from kernelsweep.sweep.visits import find_visits, outcomes_without_runs

# Gets how many visits are done, of how many, the last one's point and its outcome.
Progress = Callable[[int, int, Point, Outcome], None]

QUICK = Sampling(relative_precision=0.05, min_samples=6, max_samples=20, max_seconds=0.2)
DEVICE = {"name": "a device", "driver": "1", "peak_bandwidth_gbs": 1000.0}

# A correct kernel, with room for a fault: `array_size` names the point, so that a fault can hit one point only.
SOURCE = """\
// A planted kernel.

#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void planted({const}Element *data, Element *partials, size_t array_size)
{{
    {fault}
    if (threadIdx.x == 0) {{
        Element sum = 0;
        for (size_t i = size_t(blockIdx.x) * blockDim.x; i < array_size && i < size_t(blockIdx.x + 1) * blockDim.x; ++i)
            sum += data[i];
        partials[blockIdx.x] = sum;
    }}
}}
"""

# One thread a block combines the block's elements; `ending` then says what happens to the result.
BLOCK_LOOP = """\
// A planted kernel.

#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void {name}({parameter}, Element *partials, size_t array_size)
{{
    const size_t first = size_t(blockIdx.x) * blockDim.x;
    if (threadIdx.x != 0)
        return;
    Element result = data[first];
    for (size_t i = first + 1; i < first + blockDim.x && i < array_size; ++i)
        result = Operation::combine(result, data[i]);
    {ending}
}}
"""
CONST = "const Element *data"

# For planted_kernel(): keeps each block's result, and gives it again where a condition holds.
_REPLAY = """
    struct Known {{
        Element result, first;
        const void *address;
        size_t size;
        int runs;
    }};
    static Known all[1024];
    Known &known = all[blockIdx.x];
    const Element first = data[size_t(blockIdx.x) * blockDim.x];
    if (threadIdx.x != 0)
        return;
    if (++known.runs == 1 || !({condition})) {{
        Element sum = 0;
        for (size_t i = size_t(blockIdx.x) * blockDim.x; i < array_size && i < size_t(blockIdx.x + 1) * blockDim.x; ++i)
            sum += data[i];
        known.result = sum, known.first = first, known.address = data, known.size = array_size;
    }}
    partials[blockIdx.x] = known.result;
    return;
"""
REPLAYS = {
    "address": "known.address == data",
    "content": "known.first == first && known.size == array_size",
    "flag": "true",
    "counter": "known.runs > 3",
    "size": "known.size == array_size",
}


def replaying(by: str) -> str:
    """The `fault` of a planted kernel that gives a result again: by one of REPLAYS."""
    return _REPLAY.format(condition=REPLAYS[by])


RIGHT = "partials[blockIdx.x] = result;"


def instantiations(kernel: KernelSource, run: Iterable[Point]) -> list[str]:
    """The variants of these points, sorted, without duplicates."""
    return sorted({instantiation(kernel, one) for one in run})


def source_of(kernel: Path) -> Source:
    """A kernel's file with the folders that the workflow gives it."""
    return Source(kernel, [ROOT / "kernels/include"], ROOT / "emulator/cpp", runtime())


def planted_kernel(folder: Path, fault: str = "", updates_input: bool = False) -> KernelSource:
    """A kernel of one thread a block, with `fault` as its first statements."""
    path = folder / "planted.cu"
    path.write_text(SOURCE.format(const="" if updates_input else "const ", fault=fault))
    return kernel_in(path)


def point(array_size: int, block_size: int = 32, **others: Any) -> Point:
    """An int32 sum, hot and not unrolled unless said otherwise; an exchange's point where a width is given."""
    sizes = {"array_size": array_size, "block_size": block_size, "unroll": 1, "grid_size": None}
    values = {"dtype": "int32", "operation": "sum", "cache": "hot", **sizes, **others}
    problem = EXCHANGE if "width" in others else REDUCTION
    return Point({axis: values[axis] for axis in problem.axes})


def built(
    kernel: KernelSource,
    points: Sequence[Point],
    folder: Path,
    target: str = "emulator",
    seed: int = 1,
    visits: int = 1,
    timeout_seconds: float = 60,
    second_input: bool = False,
) -> tuple[KernelTask, dict[str, Any]]:
    """A kernel built for `target` (an architecture, or "emulator"): its task and its build report."""
    binary = folder / target / f"{kernel.name}.bin"
    source = replace(source_of(kernel.path), constants=kernel.entry.host_variables, options=kernel.options)
    report = build(source, binary, target, units(kernel, points), store=UnitStore(UNITS))
    protocol = Protocol(
        QUICK, visits, repeated_runs=2, timeout_seconds=timeout_seconds, seed=seed, second_input=second_input
    )
    return BuiltKernel(kernel, report, binary).task(kind_of(target).implementation, protocol), report


def measured(
    task: KernelTask,
    planned: Sequence[PlannedPoint],
    report: dict[str, Any],
    journal: Path,
    progress: Progress = lambda *_: None,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[Point, Outcome]:
    """The outcome of every planned point."""
    with Journal(journal) as opened:
        visits = find_visits(task, planned, outcomes_without_runs(planned, report), opened, DEVICE)
        sweep = FullSweep(visits)
        with Workers(task, visits.numbers) as workers, Bench(task, Front(opened), workers, tell=tell) as bench:
            loop.run(sweep, bench, lambda visit, outcome: progress(sweep.done, sweep.total, visit.point, outcome))
        return visits.results()


# For measured_while_built(): a variant that does not compile.
NO_LENGTH_3 = 'static_assert(LENGTH != 3, "no such length");'


def measured_while_built(
    kernel: KernelSource, points: Sequence[Point], folder: Path
) -> tuple[dict[Point, Outcome], list[Point]]:
    """The outcomes, and the points that were run for them.

    Each point has an array size of its own, and a variant: LENGTH is 2, 3, ...

    The journal and the compiled units stay in `folder`.
    """
    lengths = " + ".join(
        f"{number} * (array_size == {one['array_size']})" for number, one in enumerate(points, start=2)
    )
    kernel = replace(
        kernel, launches=replace(kernel.launches, entry=kernel.entry.changed(macros=[{"LENGTH": lengths}]))
    )
    planned = [PlannedPoint(each, instantiation(kernel, each)) for each in points]
    protocol = Protocol(QUICK, repeated_runs=2, seed=1)
    ran: list[Point] = []
    unbuilt = BuiltKernel(kernel, {"variants": {}}, None)
    task = unbuilt.task(kind_of("emulator").implementation, protocol)
    builder = Builder(source_of(kernel.path), "emulator", UnitStore(folder / "units"), workers=2)
    builder.offer(units(kernel, points))
    with Journal(folder / "built.jsonl") as journal, builder:
        visits = find_visits(task, planned, {}, journal, DEVICE, builder)
        sweep = FullSweep(visits)
        with Workers(task, visits.numbers) as workers, Bench(task, Front(journal, builder), workers) as bench:
            builder.ask(sweep.variants())
            loop.run(sweep, bench, lambda visit, _: ran.append(visit.point))
        return visits.results(), ran


def run(
    kernel: KernelSource,
    points: Sequence[Point],
    folder: Path,
    target: str = "emulator",
    skipped: dict[Point, str] | None = None,
    timeout_seconds: float = 60,
    seed: int = 1,
    visits: int = 1,
    progress: Progress = lambda *_: None,
    second_input: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[Point, Outcome]:
    """Build the kernel's variants for `target` (an architecture, or "emulator") and measure the points.

    The journal is journal.jsonl in `folder`, so that a second call goes on where the first ended.
    """
    task, report = built(kernel, points, folder, target, seed, visits, timeout_seconds, second_input)
    planned = [PlannedPoint(p, instantiation(kernel, p), (skipped or {}).get(p)) for p in points]
    return measured(task, planned, report, folder / "journal.jsonl", progress, tell=tell)
