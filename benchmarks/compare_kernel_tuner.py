"""Seconds until the best configuration is found, here and in Kernel Tuner: the same kernels, spaces, data and checks.

    uv run --extra gpu --extra search --extra compare python benchmarks/compare_kernel_tuner.py

`register_tile` of matmul and `one_pass` of convolution are tuned over all their parameters at one size, each side in a
process of its own. Both sides compile the same code with the same options, without relocatable device code: PyCUDA adds
that for Kernel Tuner, and nvcc then gives some kernels other registers. A configuration counts as found once its result
was proven right and its time measured, if its true time is within 1% of the best of all. True times are those of the
full sweep here: three visits to 0.5%. The cache is hot, since Kernel Tuner runs a configuration several times in a row.
The reference results are computed before, for both sides.

    here, full sweep      every configuration in random order; the first of three visits counts
    here, one search      a search with a quarter of the space as its budget
    here, search          the same by `--repetitions` other seeds, replayed in the times of the sweep; an evaluation
                          ends when that of the search that ran did
    Kernel Tuner, brute force     every configuration in its order; seven runs each, with `answer` and `verify`
    Kernel Tuner, its strategies  replayed by its simulation mode from the times that brute force took for each
                          configuration, by `--repetitions` seeds: median, and 90% quantile in brackets. Their budget
                          is a quarter of the space, too

Seconds are counted from the start of each process, once with compiling and once without. Here units are compiled on all
cores while others run, so the times without are those of a second process that finds all units compiled; those of
Kernel Tuner are without the seconds in which it compiled. `begins` is when the first configuration was done, `ends`
when the side has ended, both with compiling, and `chosen` is the true time of what it names the best, over the best.

`--from FILE` prints the tables of an earlier run, from what it has written, and needs no GPU.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from support.own_sweep import ROOT, leased, require, source_of

from kernelsweep.build import nvcc
from kernelsweep.build.build_report import new_report
from kernelsweep.build.builder import Builder
from kernelsweep.build.unit_store import UnitStore
from kernelsweep.measure.journal import Journal
from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.references import References
from kernelsweep.measure.search.proposals import Parzen
from kernelsweep.measure.search.search import Bench, proposed_ahead, search
from kernelsweep.measure.task import BuiltKernel, KernelTask, measuring_protocol
from kernelsweep.measure.work import begin_to_build, do_work, find_work
from kernelsweep.measure.worker.client import Workers
from kernelsweep.platforms.gpus import Gpu
from kernelsweep.platforms.kinds import kind_of
from kernelsweep.project.project import load_config, load_study
from kernelsweep.statistics import summarise_visits
from kernelsweep.sweep.config_file import read_yaml
from kernelsweep.sweep.kernel_sweep import KernelSweep, PlannedPoint
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.kernels.units import spread_units
from kernelsweep.sweep.points import ValidPoints, units
from kernelsweep.sweep.spaces import combinations_of

SEED = 1
# The part of the space that a search may measure, on both sides.
BUDGET = 1 / 4
STRATEGIES = ("random_sample", "genetic_algorithm", "diff_evo", "hybrid_vndx", "adaptive_tabu_greywolf")
# Ours each compile in one process, and find all units compiled in the next.
SIDES = ("sweep", "sweep, compiled", "search", "search, compiled", "kernel_tuner")
# A time is close to the best if it is at most this many times as long.
CLOSE = 1.01

# Kernel Tuner imports these where they are installed, though none of them is needed here: with them, its process would
# start seconds later on one machine than on another.
NOT_NEEDED = ("torch", "cupy", "hip")

Configuration = tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """A kernel to tune: the axes that replace its study's, one value each for those of the problem.

    from_block  the template parameters that follow from the block's sides, which Kernel Tuner tunes in their place
    """

    study: str
    kernel: str
    axes: Mapping[str, Sequence[Any]]
    restrictions: Sequence[str]
    from_block: Mapping[str, str]


CASES = {
    case.kernel: case
    for case in (
        Case(
            "matmul",
            "register_tile",
            {
                **{axis: [2048] for axis in "mnk"},
                "precision": ["float32"],
                "block_m": [32, 64, 128, 256],
                "block_n": [32, 64, 128, 256],
                "tile_k": [4, 8, 16, 32],
                "thread_m": [2, 4, 8, 16],
                "thread_n": [2, 4, 8, 16],
                "stages": [1],
                "resident": [1],
                "cache": ["hot"],
            },
            ("block_m * block_n >= 2048", "4 * (block_m + block_n) * tile_k <= 48 * 1024"),
            {"block_m": "BLOCK_Y * THREAD_M", "block_n": "BLOCK_X * THREAD_N"},
        ),
        Case(
            "convolution",
            "one_pass",
            {
                "width": [4096],
                "height": [4096],
                "radius": [4],
                "block_x": [16, 32, 64, 128, 256, 512],
                "block_y": [1, 2, 4, 8, 16, 32],
                "steps": [1, 2, 3, 4, 6, 8, 12, 16],
                "cache": ["hot"],
            },
            ("block_x * block_y >= 64", "block_x * block_y <= 1024"),
            {"block_x": "BLOCK_X", "block_y": "BLOCK_Y"},
        ),
    )
}


@dataclass(frozen=True)
class Tuned:
    """A case with its kernel and its points."""

    case: Case
    kernel: KernelSource
    planned: Sequence[PlannedPoint]

    @property
    def parameters(self) -> list[str]:
        """The axes that are tuned."""
        return [axis for axis in self.planned[0].point if len(self.case.axes.get(axis, ())) > 1]

    def key(self, values: Mapping[str, Any]) -> Configuration:
        """A configuration by its values on the tuned axes."""
        return tuple(values[axis] for axis in self.parameters)


def tuned(name: str, arch: str) -> Tuned:
    """The case of this name on a GPU. No launch of it chooses its grid by the number of multiprocessors."""
    case = CASES[name]
    study = load_study(case.study, ROOT)
    kernel = study.kernels[case.kernel]
    restrictions = [*study.settings.restrictions, *case.restrictions]
    sweep = KernelSweep(kernel, [{axis: list(values) for axis, values in case.axes.items()}], 0, restrictions, arch)
    return Tuned(case, kernel, [planned for planned in sweep.planned() if not planned.skipped])


# ---- this project's side ---------------------------------------------------------------------------------------------


def run_here(one: Tuned, device: Gpu, folder: Path, store: Path, searches: bool, started: float) -> dict[str, Any]:
    """A full sweep, or a search with half of the space: when each configuration was proven right and timed.

    folder   for the journal and what else lasts as long as the process
    store    keeps the compiled units
    started  when the process was started, seconds since the epoch
    """
    trace: list[tuple[float, Configuration]] = []

    def note(done: int, count: int, point: Any, outcome: Outcome) -> None:
        if outcome.status == "ok":
            trace.append((time.time() - started, one.key(point)))

    outcomes = _measured(one, device, folder, store, searches, note)
    failed = {point: outcome for point, outcome in outcomes.items() if outcome.status != "ok"}
    times = {
        point: summarise_visits([visit.counted for visit in outcome.visits]).median
        for point, outcome in outcomes.items()
        if outcome.visits
    }
    return {
        "trace": trace,
        "rows": [(one.key(point), time_us) for point, time_us in times.items()],
        "failed": [f"{outcome.status}: {outcome.message} at {point}" for point, outcome in failed.items()],
    }


def _task(one: Tuned, device: Gpu) -> KernelTask:
    """The task of running the points, whose variants are compiled meanwhile."""
    kind = kind_of(device.platform)
    config = load_config(read_yaml(ROOT / "config/config.yaml", "config/config.yaml"), ROOT)
    built = BuiltKernel(one.kernel, new_report(device.arch, ""), None)
    protocol = measuring_protocol(config.measuring.values(), SEED, kind)
    return built.task(kind.implementation, protocol)


def prepare(one: Tuned, device: Gpu) -> None:
    """Compute the reference results that the sides need and the disk lacks. All configurations have the same."""
    with References(_task(one, device), one.planned[:1], kind_of(device.platform).has_clock, print) as references:
        references.wait([one.kernel.problem.data_of(one.planned[0].point)])


def _measured(
    one: Tuned, device: Gpu, folder: Path, store: Path, searches: bool, note: Callable[..., None]
) -> Mapping[Any, Outcome]:
    """The outcomes of the points, as the job of a study measures them: units are compiled while others run."""
    described = {"name": device.name, "driver": device.state["driver"]}
    task, points = _task(one, device), [planned.point for planned in one.planned]
    source = source_of(one.kernel, folder, device.arch)
    workers = max(1, (os.cpu_count() or 1) - 1)
    with (
        Journal(folder / "journal.jsonl") as journal,
        Builder(source, device.arch, UnitStore(store), workers) as builder,
    ):
        if searches:
            plans = {each.point: each for each in one.planned}
            bench = Bench(
                journal,
                described,
                lambda _: note,
                plans.__getitem__,
                builder=builder,
                units=lambda point: units(one.kernel, [point]),
            )
            return search(task, ValidPoints(combinations_of(points)), int(BUDGET * len(points)), bench)
        builder.offer(spread_units(units(one.kernel, points)))
        work = find_work(task, one.planned, {}, journal, described, builder)
        with Workers(task, work.visits) as processes:
            begin_to_build(work, task, builder)
            do_work(work, task, journal, processes, note, builder=builder)
        return work.results()


# ---- Kernel Tuner's side ---------------------------------------------------------------------------------------------


class Without:
    """A finder of modules to which some are not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Refuse the modules of NOT_NEEDED; leave the others to the finders behind."""
        if name.split(".")[0] in NOT_NEEDED:
            raise ModuleNotFoundError(f"{name} is not needed here", name=name)


def tuner_source(one: Tuned) -> tuple[str, str]:
    """The kernel for Kernel Tuner's PyCUDA backend, and its name: an entry whose parameters are macros.

    The template becomes a function on the device, which the entry calls; its bounds on threads become the entry's.
    """
    text = one.kernel.path.read_text(encoding="utf-8")
    pattern = r"template <([^>]*)>\s*__global__ void (__launch_bounds__\((.*?)\))\s*(\w+)\(([^)]*)\)\s*\{"
    found = re.search(pattern, text, re.DOTALL)
    if not found:
        raise ValueError(f"{one.kernel.path}: no template with __launch_bounds__")
    template, bounds, _, name, parameters = found.groups()
    values = ", ".join(word.split()[-1] for word in template.split(","))
    passed = ", ".join(re.findall(r"(\w+)\s*(?:,|$)", parameters))
    own = f"tuned_{name}"
    text = text.replace(found[0], f"template <{template}>\n__device__ __forceinline__ void {name}({parameters})\n{{")
    words = [word.strip() for word in values.split(",")]
    # The macros' names are in capitals, so that they don't replace the template's parameters.
    constants = "".join(
        f"constexpr int tuned_{word} = {one.case.from_block.get(word, word.upper())};\n" for word in words
    )
    for word in words:
        bounds = re.sub(rf"\b{word}\b", f"tuned_{word}", bounds)
    arguments = ", ".join(f"tuned_{word}" for word in words)
    entry = f'extern "C" __global__ void {bounds} {own}({parameters})\n{{\n    {name}<{arguments}>({passed});\n}}\n'
    return f"{text}\n{constants}{entry}", own


@dataclass(frozen=True)
class Tuner:
    """What Kernel Tuner is called with, and the configuration of each combination of its parameters' values."""

    call: Mapping[str, Any]
    configurations: Mapping[tuple[Any, ...], Configuration]

    def key(self, result: Mapping[str, Any]) -> Configuration:
        """The configuration of a result."""
        return self.configurations[tuple(result[name] for name in self.call["tune_params"])]


def tuner_of(one: Tuned, arguments: Sequence[Any], constants: Mapping[str, Any]) -> Tuner:
    """The same space for Kernel Tuner, with macros for parameters."""
    others = [axis for axis in one.parameters if axis not in one.case.from_block]
    names = ["BLOCK_X", "BLOCK_Y", *(axis.upper() for axis in others)]
    values: dict[tuple[Any, ...], Configuration] = {}
    grids: dict[tuple[Any, ...], tuple[int, ...]] = {}
    for planned in one.planned:
        launch = one.kernel.plan(planned.point).launches[0]
        named = (*launch.block[:2], *(planned.point[axis] for axis in others))
        values[named], grids[named] = one.key(planned.point), launch.grid[:2]

    def combination(found: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(found[name] for name in names)

    # Kernel Tuner would take a lambda for an expression, and rewrite it.
    def is_valid(found: Mapping[str, Any]) -> bool:
        return combination(found) in values

    text, name = tuner_source(one)
    fixed = [f"-D{axis.upper()}={of[0]}" for axis, of in one.case.axes.items() if axis == "radius"]
    call = {
        "kernel_name": name,
        "kernel_source": text,
        "problem_size": lambda found: grids[combination(found)],
        "arguments": list(arguments),
        "tune_params": {name: sorted({one[number] for one in values}) for number, name in enumerate(names)},
        "grid_div_x": [],
        "grid_div_y": [],
        "restrictions": is_valid,
        "block_size_names": names[:2],
        "lang": "PYCUDA",
        "compiler_options": [
            "-std=c++17",
            "--expt-relaxed-constexpr",
            f"-I{one.kernel.path.parent}",
            f"-I{ROOT / 'kernels/include'}",
            *fixed,
        ],
        "cmem_args": dict(constants) or None,
        "quiet": True,
    }
    return Tuner(call, values)


def run_kernel_tuner(one: Tuned, folder: Path, seed: int, repetitions: int, started: float) -> dict[str, Any]:
    """Brute force, and each strategy replayed from it."""
    sys.meta_path.insert(0, Without())
    from kernel_tuner import tune_kernel
    from kernel_tuner.backends import pycuda as backend

    backend.DynamicSourceModule = backend.SourceModule  # It would compile relocatable device code.
    point = one.planned[0].point
    instance = one.kernel.problem.instance(one.kernel.name, point, seed)
    plan = one.kernel.plan(point)
    (launch,) = plan.launches
    arrays = instance.arrays(point)
    data = {
        name: np.zeros(array.size, array.dtype)
        if array.contents is None
        else np.resize(array.contents, array.size).astype(array.dtype, copy=False)
        for name, array in arrays.items()
    }
    arguments = [data[word] if isinstance(word, str) else np.int32(word) for word in launch.arguments]
    (result,) = [name for name, array in arrays.items() if array.is_result]
    place = launch.arguments.index(result)

    def verify(answer: Sequence[Any], found: Sequence[Any], atol: Any = None) -> bool:
        judgement = instance.judge(point, {result: np.ascontiguousarray(found[place]).reshape(-1)}, 0)
        if judgement.mistake:
            print(f"Kernel Tuner, wrong result: {judgement.mistake}", flush=True)
        return judgement.mistake is None

    tuner = tuner_of(one, arguments, {word: data[word] for word in plan.constants})
    answer: list[Any] = [None] * len(arguments)
    answer[place] = data[result]
    cache = folder / "cache.json"
    results, _ = tune_kernel(**tuner.call, answer=answer, verify=verify, cache=str(cache))
    brute = tuner_trace(results, tuner, started)
    if not brute["trace"]:
        sys.exit(f"Kernel Tuner measured no configuration; the first says {results[0]}")
    return {"brute_force": brute, "strategies": replayed(tuner, cache, brute, repetitions)}


def replayed(tuner: Tuner, cache: Path, brute: Mapping[str, Any], repetitions: int) -> dict[str, list[dict[str, Any]]]:
    """Each strategy's searches, by Kernel Tuner's simulation mode, from the cache file that brute force left.

    A strategy that fails is left out.
    """
    from kernel_tuner import tune_kernel

    found: dict[str, list[dict[str, Any]]] = {strategy: [] for strategy in STRATEGIES}
    for strategy in STRATEGIES:
        for repetition in range(repetitions):
            np.random.seed(repetition)
            random.seed(repetition)
            try:
                results, _ = tune_kernel(
                    **tuner.call,
                    cache=str(cache),
                    simulation_mode=True,
                    strategy=strategy,
                    strategy_options={"max_fevals": int(BUDGET * len(tuner.configurations))},
                )
            except Exception as error:  # diff_evo of Kernel Tuner 1.5 needs more than 32 configurations.
                print(f"Kernel Tuner, {strategy}: {type(error).__name__}: {error}; it is left out", flush=True)
                del found[strategy]
                break
            found[strategy].append(_replayed(results, tuner, brute))
    return found


def tuner_trace(results: Sequence[Mapping[str, Any]], tuner: Tuner, started: float) -> dict[str, Any]:
    """When each configuration was done, with and without compiling, in seconds of the process; and its time."""
    trace, without, rows, compiled, failed = [], [], [], 0.0, []
    # Kernel Tuner runs the first configuration twice, and reports the second time only.
    compiled += results[0].get("compile_time", 0.0) / 1e3
    for one in results:
        compiled += one.get("compile_time", 0.0) / 1e3
        second = datetime.fromisoformat(one["timestamp"]).timestamp() - started
        if "__error__" in one:
            failed.append(f"{one['__error__']} at {tuner.key(one)}")
            continue
        trace.append((second, tuner.key(one)))
        without.append((second - compiled, tuner.key(one)))
        rows.append((tuner.key(one), one["time"] * 1e3))
    seconds = {
        tuner.key(one): [sum(one[f"{part}_time"] for part in ("compile", "verification", "benchmark")) / 1e3,
                   one["compile_time"] / 1e3]
        for one in results
    }  # fmt: skip
    begun = trace[0][0] - seconds[trace[0][1]][0] if trace else 0.0
    return {
        "trace": trace,
        "without": without,
        "rows": rows,
        "failed": failed,
        "begun_s": begun,
        "seconds": [(one, *both) for one, both in seconds.items()],
    }


def _replayed(results: Sequence[Mapping[str, Any]], tuner: Tuner, brute: Mapping[str, Any]) -> dict[str, Any]:
    """The trace of a replayed strategy: each configuration takes as long as it took brute force, once."""
    seconds = {tuple(one): (whole, compiling) for one, whole, compiling in brute["seconds"]}
    now, compiled, trace, without, rows, seen = brute["begun_s"], 0.0, [], [], [], set()
    times = {tuple(one): time_us for one, time_us in brute["rows"]}
    for one in results:
        if tuner.key(one) in seen:
            continue
        seen.add(tuner.key(one))
        whole, compiling = seconds[tuner.key(one)]
        now, compiled = now + whole + one.get("strategy_time", 0.0) / 1e3, compiled + compiling
        if tuner.key(one) in times:
            trace.append((now, tuner.key(one)))
            without.append((now - compiled, tuner.key(one)))
            rows.append((tuner.key(one), times[tuner.key(one)]))
    return {"trace": trace, "without": without, "rows": rows}


# ---- the comparison --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """What a side took: seconds until a configuration as good as the best was found, and until its end.

    with_compiling, without  infinite where none was found
    begins                   seconds until the first configuration was done
    chosen                   the true time of the best that it names, over the best of all
    """

    with_compiling: float
    without: float
    begins: float
    ends: float
    evaluations: float
    chosen: float


def found(side: Mapping[str, Any], truth: Mapping[Configuration, float]) -> Found:
    """What follows from a side's traces and its times, given the true times."""
    best = min(truth.values())

    def first_close(trace: Sequence[Any]) -> float:
        return min((second for second, key in trace if truth[tuple(key)] <= CLOSE * best), default=math.inf)

    chosen = min(side["rows"], key=lambda row: row[1])[0]
    return Found(
        with_compiling=first_close(side["trace"]),
        without=first_close(side["without"]),
        begins=side["trace"][0][0],
        ends=side["trace"][-1][0],
        evaluations=len(side["rows"]),
        chosen=truth[tuple(chosen)] / best,
    )


def median_found(several: Sequence[Found]) -> tuple[Found, Found]:
    """The median of each number, and its 90% quantile; both occurred."""
    middle, most = (
        Found(*(
            float(np.quantile([getattr(one, name) for one in several], share, method="higher"))
            for name in Found.__dataclass_fields__
        ))
        for share in (0.5, 0.9)
    )  # fmt: skip
    return middle, most


def searched_again(parameters: Sequence[str], sides: Mapping[str, Any], repetitions: int) -> list[Found]:
    """Searches here by other seeds, replayed in the times of the sweep.

    parameters  the tuned axes, as the configurations name their values
    """
    keys, times = zip(*sides["sweep"]["rows"], strict=True)
    configurations = combinations_of([dict(zip(parameters, key, strict=True)) for key in keys])
    budget, best = int(BUDGET * len(times)), min(times)
    # What comes behind the budget in a trace are the visits of those that might be the fastest.
    traces = [[second for second, _ in sides[name]["trace"][:budget]] for name in ("search", "search, compiled")]
    ahead = proposed_ahead(budget)  # Configurations that a search proposes before it is told of the first.
    several = []
    for seed in range(repetitions):
        strategy = Parzen(configurations, f"{seed}", budget)
        asked: list[int] = []
        for step in range(budget):
            if step >= ahead:
                strategy.tell(asked[step - ahead], times[asked[step - ahead]])
            asked.append(strategy.ask())
        close = next((place for place, number in enumerate(asked) if times[number] <= CLOSE * best), None)
        compiled, kept = (math.inf if close is None else ends[min(close, len(ends) - 1)] for ends in traces)
        chosen = min(times[number] for number in asked) / best
        several.append(Found(compiled, kept, traces[0][0], traces[0][-1], budget, chosen))
    return several


def compared(
    parameters: Sequence[str], sides: Mapping[str, Any], repetitions: int
) -> dict[str, tuple[Found, Found | None]]:
    """Each line of the table: what was found, with the 90% quantile where there are several replays."""
    truth = {tuple(key): time_us for key, time_us in sides["sweep"]["rows"]}
    brute = sides["kernel_tuner"]["brute_force"]
    ours = {name: {**sides[name], "without": sides[f"{name}, compiled"]["trace"]} for name in ("sweep", "search")}
    lines: dict[str, tuple[Found, Found | None]] = {
        "here, full sweep": (found(ours["sweep"], truth), None),
        "here, one search": (found(ours["search"], truth), None),
        "here, search": median_found(searched_again(parameters, sides, repetitions)),
        "Kernel Tuner, brute force": (found(brute, truth), None),
    }
    for strategy, replays in sides["kernel_tuner"]["strategies"].items():
        lines[f"Kernel Tuner, {strategy}"] = median_found([found(one, truth) for one in replays])
    return lines


def table(lines: Mapping[str, tuple[Found, Found | None]]) -> str:
    """The lines as a table in Markdown."""

    def cell(name: str, digits: int, both: tuple[Found, Found | None]) -> str:
        texts = [
            f"{value:,.{digits}f}" if math.isfinite(value := getattr(one, name)) else "not found" for one in both if one
        ]
        return texts[0] + (f" ({texts[1]})" if len(texts) > 1 else "")

    heads = ["", "found (s)", "without compiling (s)", "begins (s)", "ends (s)", "evaluations"]
    heads.append("chosen, over the best")
    rows = [f"| {' | '.join(heads)} |", f"|---|{'---:|' * (len(heads) - 1)}"]
    digits = {"with_compiling": 1, "without": 1, "begins": 1, "ends": 1, "evaluations": 0, "chosen": 3}
    for name, both in lines.items():
        rows.append(f"| {name} | {' | '.join(cell(column, places, both) for column, places in digits.items())} |")
    return "\n".join(rows)


def report(case: str, sides: Mapping[str, Any], name: str, driver: str, repetitions: int) -> None:
    """Print a case's table, and what follows.

    sides         the results of each, and what the configurations are
    name, driver  of the device
    """
    lines = compared(sides["parameters"], sides, repetitions)
    wrong = [text for side in SIDES[:-1] for text in sides[side]["failed"]]
    wrong += sides["kernel_tuner"]["brute_force"]["failed"]
    print(f"\n{name}, driver {driver}: {case}, {sides['configurations']} configurations\n")
    print(table(lines), "", *wrong[:5], sep="\n", end="\n\n", flush=True)


def run_side(
    side: str, case: str, device: Gpu, folder: Path, repetitions: int, timeout_seconds: float
) -> dict[str, Any]:
    """A side's results, from a process of its own. Ends the script where it fails."""
    environment = {"CUDA_ROOT": str(Path(nvcc.find()).resolve().parent.parent), **os.environ}
    output = folder / f"{case}, {side}.json"
    command = [sys.executable, __file__, "--side", side, "--case", case, "--output", str(output)]
    command += ["--repetitions", str(repetitions), "--device", json.dumps(asdict(device))]
    command += ["--started", str(time.time())]
    try:
        code = subprocess.run(command, env=environment, timeout=timeout_seconds).returncode
    except subprocess.TimeoutExpired:
        sys.exit(f"{case}, {side}: not done after {timeout_seconds:g} s")
    if code != 0 or not output.is_file():
        sys.exit(f"{case}, {side}: its process ended with {code}; what it said is above")
    # Seconds to a tenth of a millisecond, and times to one of a nanosecond.
    results: dict[str, Any] = json.loads(output.read_bytes(), parse_float=lambda text: round(float(text), 4))
    return results


def run_one(settings: argparse.Namespace) -> None:
    """One side of one case, in the process that was started for it."""
    device = Gpu(**json.loads(settings.device))
    one = tuned(settings.case, device.arch)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if settings.side == "kernel_tuner":
            results = run_kernel_tuner(one, folder, SEED, settings.repetitions, settings.started)
        else:
            kind = settings.side.partition(",")[0]
            store = settings.output.parent / f"{settings.case}, {kind}, units"
            results = run_here(one, device, folder, store, kind == "search", settings.started)
    settings.output.write_text(json.dumps(results), encoding="utf-8")


def main() -> int:
    """Compare, print the tables, write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", type=Path, metavar="FILE", dest="earlier", help="print the tables of an earlier run")
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    parser.add_argument("--repetitions", type=int, default=30, help="replays of each strategy (default 30)")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds that a side may take (default 300)")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/compare_kernel_tuner.json.gz"))
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--device", help=argparse.SUPPRESS)
    parser.add_argument("--started", type=float, help=argparse.SUPPRESS)
    settings = parser.parse_args()
    os.chdir(ROOT)
    if settings.side:
        run_one(settings)
        return 0
    if settings.earlier:
        known = json.loads(gzip.decompress(settings.earlier.read_bytes()))
        for case in CASES:
            report(case, known[case], **known["device"], repetitions=settings.repetitions)
        return 0
    require("pycuda", "kernel_tuner", "optuna", extras=["gpu", "search", "compare"])
    results: dict[str, Any] = {}
    with leased() as device, tempfile.TemporaryDirectory() as scratch:
        for case in CASES:
            one = tuned(case, device.arch)
            print(f"{case}: {len(one.planned)} configurations; the reference ...", flush=True)
            prepare(one, device)
            sides = {}
            for side in SIDES:
                print(f"{case}: {side} ...", flush=True)
                sides[side] = run_side(side, case, device, Path(scratch), settings.repetitions, settings.timeout)
            results[case] = {"configurations": len(one.planned), "parameters": one.parameters, **sides}
            report(case, results[case], device.name, device.state["driver"], settings.repetitions)
    settings.output.parent.mkdir(parents=True, exist_ok=True)
    known = {"device": {"name": device.name, "driver": device.state["driver"]}}
    settings.output.write_bytes(gzip.compress(json.dumps({**known, **results}).encode(), mtime=0))
    print(f"Written to {settings.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
