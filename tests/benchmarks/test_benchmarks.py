"""The comparisons with other tools: the same points and machine code on both sides, and verdicts by the goals."""

from __future__ import annotations

import ctypes
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import compare_edits
import compare_kernel_tuner
import compare_nvbench
import emulator_units
import fresh_workers
import pytest
import scaling
import seconds
from checkout import ROOT
from elftools.elf.elffile import ELFFile
from support import own_sweep

from kernelsweep.build.nvcc import compile_cubin
from kernelsweep.measure.outcome import Outcome, Visit
from kernelsweep.platforms.emulated_library import EmulatedLibrary
from kernelsweep.platforms.gpus import Gpu
from kernelsweep.problems.problem_file import problem_of
from kernelsweep.results import MEASUREMENT_COLUMNS, write_rows
from kernelsweep.sweep.points import units


def machine_code(cubin: Path) -> list[bytes]:
    with cubin.open("rb") as file:
        return [section.data() for section in ELFFile(file).iter_sections() if section.name.startswith(".text.")]


def test_our_side_measures_every_point_once(tmp_path: Path) -> None:
    # The emulator has no clock, but the comparisons make the same calls.
    kernel = own_sweep.kernel_of("warp_shuffle/shuffle")
    points = [own_sweep.point(size, 64, unroll=unroll) for size in (1, 1000) for unroll in (1, 4)]
    report = own_sweep.build_variants(kernel, points, tmp_path, own_sweep.EMULATOR)
    done = own_sweep.sweep(kernel, points, report, tmp_path, samples=20, seed=3, device={"name": "emulator"})
    assert list(done.outcomes) == points
    assert len(done.finished) == len(points)
    assert done.finished == sorted(done.finished)


@pytest.mark.parametrize(("nvbench_us", "ours_us", "within"), [
    (20.0, 20.19, True), (20.0, 20.21, False), (20.0, 19.79, False),  # 1% from 20 us
    (19.9, 20.4, True), (5.0, 5.14, True), (5.0, 4.84, False),  # 3% from 5 us
    (4.9, 9.0, None),  # not judged
])  # fmt: skip
def test_nvbench_goal(nvbench_us: float, ours_us: float, within: bool | None) -> None:
    # One outlier a round: medians are compared, not means.
    row = compare_nvbench.compared("p", [[ours_us] * 9 + [900.0]] * 3, [[nvbench_us] * 9 + [900.0]] * 2)
    assert row["within"] is within
    assert row["samples"] == [30, 20]


def test_nvbench_verdict_needs_a_judged_point() -> None:
    def row(ours_us: float, nvbench_us: float) -> dict[str, object]:
        return compare_nvbench.compared("p", [[ours_us]], [[nvbench_us]])

    short, right, wrong = row(3.0, 2.0), row(30.1, 30.0), row(31.0, 30.0)
    assert compare_nvbench.verdict([short, right])[1]
    assert not compare_nvbench.verdict([short])[1], "nothing was compared"
    sentence, met = compare_nvbench.verdict([short, right, wrong])
    assert not met
    assert "1 of 2" in sentence
    assert compare_nvbench.table([right, wrong]).count("MISSED") == 1


class EmulatedDriver(compare_nvbench.Driver):
    """The driver's calls, on the host's memory and the emulator's kernels, whose symbols are their numbers."""

    def __init__(self, library: EmulatedLibrary) -> None:
        self.library = library
        self.memory: dict[int, Any] = {}
        self.launched: list[tuple[int, ...]] = []

    def allocate(self, size: int) -> int:
        buffer = ctypes.create_string_buffer(size)
        self.memory[ctypes.addressof(buffer)] = buffer
        return ctypes.addressof(buffer)

    def function(self, binary: str, symbol: str) -> int:
        return int(symbol)

    def __call__(self, name: str, *arguments: Any) -> None:
        if name.startswith("cuMemcpy"):
            ctypes.memmove(*arguments[:3])
        elif name == "cuMemsetD32Async":
            address, word, count, _ = arguments
            ctypes.memmove(address, word.to_bytes(4, sys.byteorder) * count, 4 * count)
        elif name == "cuMemFree_v2":
            del self.memory[arguments[0]]
        elif name == "cuLaunchKernel":
            entry, *sizes, _, addresses, _ = arguments
            parameters = zip(self.library.parameter_bytes(entry), addresses, strict=True)
            values = [(ctypes.c_uint8 * size).from_address(address) for size, address in parameters]
            self.library.launch(entry, tuple(sizes[:3]), tuple(sizes[3:6]), sizes[6], values)
            self.launched.append(tuple(sizes))


@pytest.mark.parametrize(("text", "launched", "updated"), [
    ("unrolling/interleaved", [(16, 1, 1, 64, 1, 1, 0)], ["data"]),
    ("stepwise/cascaded:grid_size=264", [(264, 1, 1, 64, 1, 1, 0), (1, 1, 1, 64, 1, 1, 0)], []),
    ("stepwise/strided_index", [(16, 1, 1, 64, 1, 1, 256), (1, 1, 1, 64, 1, 1, 256)], []),
])  # fmt: skip
def test_nvbench_runs_and_checks_every_launch_of_a_plan(
    tmp_path: Path, text: str, launched: list[Any], updated: list[str]
) -> None:
    name, values = compare_nvbench.parse_kernel(text)
    kernel, one = own_sweep.kernel_of(name), own_sweep.point(1000, 64, **values)
    report = own_sweep.build_variants(kernel, [one], tmp_path, own_sweep.EMULATOR)
    for variant in report["variants"].values():
        variant["symbol"] = str(variant["entry"])
    binary = own_sweep.binary_of(kernel, tmp_path)
    job = json.loads(json.dumps(compare_nvbench.nvbench_point(name, kernel, one, report, binary)))
    driver = EmulatedDriver(EmulatedLibrary(binary))
    prepared = compare_nvbench.PointUnderNVBench(driver, job, seed=1)
    prepared.check(stream=0)
    assert driver.launched == launched * compare_nvbench.MOST_PLACES and prepared.updated == updated
    calls = MagicMock()
    for _ in range(2):
        prepared.launcher()(*[calls] * (2 if updated else 1))
    assert driver.launched == launched * (compare_nvbench.MOST_PLACES + 2)
    assert [call[0] for call in calls.method_calls if call[0] in ("start", "stop")] == ["start", "stop"] * 2 * len(
        updated
    )
    driver.library.launch = lambda *_: None  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="wrong result"):
        prepared.check(stream=0)
    prepared.free()
    assert not driver.memory


# Seconds until the best configuration is found


def test_our_sides_compile_while_they_measure_and_find_the_references(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = compare_kernel_tuner.CASES["one_pass"]
    small = {**case.axes, "width": [64], "height": [32], "block_x": [32], "block_y": [2, 4, 8, 16], "steps": [1]}
    monkeypatch.setitem(compare_kernel_tuner.CASES, "one_pass", replace(case, axes=small))
    one = compare_kernel_tuner.tuned("one_pass", own_sweep.EMULATOR)
    assert len(one.planned) == 4
    device = Gpu(own_sweep.EMULATOR, "", own_sweep.EMULATOR, {"driver": ""})
    task = replace(compare_kernel_tuner._task(one, device), platform="model_clock:ModelClock")
    monkeypatch.setattr(compare_kernel_tuner, "_task", lambda *_: task)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests/support"))
    # Each side would compile the emulator's runtime.
    compiled = emulator_units.runtime().parent
    monkeypatch.setattr(
        own_sweep, "compile_runtime", lambda _, file: shutil.copytree(compiled, file.parent, dirs_exist_ok=True)
    )
    (tmp_path / "kernels").symlink_to(ROOT / "kernels")
    monkeypatch.chdir(tmp_path)
    compare_kernel_tuner.prepare(one, device)
    # The sides would compute a reference that they don't find.
    kept = set(tmp_path.glob("results/**/*.np*"))
    assert kept
    for planned in one.planned:
        problem = problem_of(one.kernel.problem.named)
        problem.instance(one.kernel.name, planned.point, compare_kernel_tuner.SEED).expect(planned.point)
    sides, units_kept = {}, []
    for side in compare_kernel_tuner.SIDES[:-1]:
        (folder := tmp_path / side).mkdir()
        kind = side.partition(",")[0]
        store = tmp_path / f"units of {kind}"
        sides[side] = compare_kernel_tuner.run_here(one, device, folder, store, kind == "search", 0.0)
        units_kept.append({file: file.stat().st_mtime_ns for file in store.iterdir()})
    assert set(tmp_path.glob("results/**/*.np*")) == kept
    assert units_kept[0] == units_kept[1] and units_kept[2] == units_kept[3], "a second process compiles nothing"
    assert [len(side["rows"]) for side in sides.values()] == [4, 4, 1, 1]
    assert not any(side["failed"] for side in sides.values())
    sides["kernel_tuner"] = {"brute_force": {**sides["sweep"], "without": sides["sweep"]["trace"]}, "strategies": {}}
    lines = compare_kernel_tuner.compared(one.parameters, sides, 3)
    assert lines["here, full sweep"][0].chosen == 1.0 and lines["here, one search"][0].evaluations == 1
    assert lines["here, search"][0].evaluations == 1 <= lines["here, search"][0].chosen


@pytest.mark.nvcc
@pytest.mark.parametrize("name", compare_kernel_tuner.CASES)
def test_kernel_tuner_tunes_the_same_machine_code(name: str, tmp_path: Path) -> None:
    one = compare_kernel_tuner.tuned(name, "sm_90")
    tuner = compare_kernel_tuner.tuner_of(one, [], {})
    (values, key), *_ = tuner.configurations.items()
    (planned,) = [each for each in one.planned if one.key(each.point) == key]
    source = own_sweep.Source(one.kernel.path, [ROOT / "kernels/include"], ROOT / "workflow/emulator")
    own_sweep.build(source, tmp_path / "ours.cubin", "sm_90", units(one.kernel, [planned.point]))
    defined = "".join(
        f"#define {word} {value}\n" for word, value in zip(tuner.call["tune_params"], values, strict=True)
    )
    (tmp_path / "tuner.cu").write_text(defined + tuner.call["kernel_source"])
    fixed = {"RADIUS": "4"} if name == "one_pass" else {}
    include = [one.kernel.path.parent, ROOT / "kernels/include"]
    compile_cubin(tmp_path / "tuner.cu", tmp_path / "tuner.cubin", "sm_90", include, fixed)
    assert machine_code(tmp_path / "tuner.cubin") == machine_code(tmp_path / "ours.cubin")


def test_strategies_are_replayed_from_what_brute_force_took(tmp_path: Path) -> None:
    pytest.importorskip("kernel_tuner", reason="Kernel Tuner is not installed: uv run --extra compare pytest")
    one = compare_kernel_tuner.tuned("one_pass", "sm_90")
    tuner = compare_kernel_tuner.tuner_of(one, [], {})
    order, results, second = list(tuner.configurations), [], 5.0
    for number, values in enumerate(order):
        second += 2.0
        named = dict(zip(tuner.call["tune_params"], values, strict=True))
        parts = {"compile_time": 1500.0, "verification_time": 400.0, "benchmark_time": 100.0}
        stamp = str(datetime.fromtimestamp(second, UTC))
        results.append({**named, "time": 1.0 + abs(number - 40) / 10, **parts, "timestamp": stamp})
    results[3]["__error__"] = "a failure"
    brute = compare_kernel_tuner.tuner_trace(results, tuner, started=0.0)
    # The first took two of the seven seconds; the compiler ran for it twice.
    assert brute["trace"][0] == (7.0, tuner.configurations[order[0]]) and brute["begun_s"] == 5.0
    assert brute["without"][0] == (4.0, tuner.configurations[order[0]])
    assert len(brute["trace"]) == len(order) - 1 and brute["failed"][0].startswith("a failure at (")
    by_values = {",".join(map(str, values)): one for values, one in zip(order, results, strict=True)}
    cache = {
        "device_name": "a device", "kernel_name": tuner.call["kernel_name"], "problem_size": "callable",
        "tune_params_keys": list(tuner.call["tune_params"]), "tune_params": tuner.call["tune_params"],
        "objective": "time", "cache": by_values,
    }  # fmt: skip
    (tmp_path / "cache.json").write_text(json.dumps(cache))
    replays = compare_kernel_tuner.replayed(tuner, tmp_path / "cache.json", brute, repetitions=2)
    assert list(replays) == list(compare_kernel_tuner.STRATEGIES)
    times = {tuple(key): time_us for key, time_us in brute["rows"]}
    for searches in replays.values():
        for search in searches:
            ends = [second for second, _ in search["trace"]]
            assert ends == sorted(ends) and ends[0] >= 7.0
            assert len({key for _, key in search["trace"]}) == len(search["rows"]) <= len(order)
            assert all(times[key] == time_us for key, time_us in search["rows"])
    ours = {"trace": [(one, key) for one, key in enumerate(times, 1)], "rows": brute["rows"], "failed": []}
    sides = dict.fromkeys(compare_kernel_tuner.SIDES, ours)
    sides["kernel_tuner"] = {"brute_force": brute, "strategies": replays}
    lines = compare_kernel_tuner.compared(one.parameters, sides, 3)
    assert lines["here, full sweep"][0].chosen == 1.0 and lines["Kernel Tuner, brute force"][0].with_compiling == 87.0
    assert "| here, one search | 40.0 | 40.0 |" in compare_kernel_tuner.table(lines)
    assert lines["here, search"][0].evaluations == len(times) // 4


def test_the_document_has_the_tables_of_the_run_that_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("optuna", reason="Optuna is not installed: uv run --extra search pytest")
    monkeypatch.chdir(ROOT)
    kept = "resources/tuning/nvidia-h200.json.gz"
    monkeypatch.setattr("sys.argv", ["compare_kernel_tuner.py", "--from", kept, "--repetitions", "1"])
    assert compare_kernel_tuner.main() == 0
    document = (ROOT / "docs/measured/tuning.md").read_text()
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("| here", "| Kernel Tuner"))]
    assert len(lines) == 2 * (4 + len(compare_kernel_tuner.STRATEGIES))
    # Other releases of Optuna propose other configurations.
    assert not [line for line in lines if line not in document and not line.startswith("| here, search |")]


def test_a_wrong_winner_and_a_lost_race_are_said() -> None:
    truth = {("a",): 10.0, ("b",): 10.05, ("c",): 11.0}

    def found(trace: Sequence[Any], without: Sequence[Any], rows: Sequence[Any]) -> compare_kernel_tuner.Found:
        return compare_kernel_tuner.found({"trace": trace, "without": without, "rows": rows}, truth)

    a, b, c = truth
    ours = found([(3, c), (9, b)], [(1, c), (2, b)], [(c, 11.2), (b, 10.1)])
    theirs = found([(4, a), (8, c)], [(1, a), (2, c)], [(a, 10.5), (c, 10.4)])
    assert (ours.with_compiling, ours.without, round(ours.chosen, 3)) == (9, 2, 1.005)
    assert (ours.begins, ours.ends) == (3, 9)
    said = compare_kernel_tuner.verdict({"here, search": (ours, None), "Kernel Tuner, brute force": (theirs, None)})
    assert said == [
        "with compiling: here, search takes 2.25 times as long as Kernel Tuner, brute force. Ours loses.",
        "without compiling: here, search takes 2.00 times as long as Kernel Tuner, brute force. Ours loses.",
        "Kernel Tuner, brute force chooses a configuration 10.0% from the best.",
    ]


@pytest.mark.parametrize("name", compare_edits.KERNELS)
def test_a_slowdown_can_be_planted_in_the_kernels_as_they_are(name: str) -> None:
    source = (ROOT / f"kernels/{compare_edits.STUDY}/{name}.cu").read_text()
    planted = compare_edits.plant(source)
    loop, end = planted.index("for (unsigned turn"), planted.index("block_data[thread] = own;")
    assert planted.index("own = twice") < loop < planted.index("for (unsigned stride") < end
    with pytest.raises(ValueError, match="another form"):
        compare_edits.plant(planted.replace("stride", "step"))


# How a sweep's measuring part scales with GPUs


def swept(folder: Path, leases: list[tuple[str, float, float]], times_us: list[float]) -> Path:
    """A folder of results with these leases (the GPU, from when to when in seconds), one a job, and medians."""
    logs = folder / "logs/measure_kernel/s"
    logs.mkdir(parents=True)
    for number, (uuid, begin, end) in enumerate(leases):
        words = [f"2026-11-21T13:10:{second:09.6f}+00:00" for second in (begin, end)]
        log = f"waiting\non A GPU, {uuid}, from {words[0]}\nwrong_result: why\nuntil {words[1]}\n1 points, 1 ok\n"
        (logs / f"{number}.log").write_text(log)
    (logs / "found-all-in-the-journal.log").write_text("1 points, 1 ok\n")
    rows = [
        {"study": "s", "kernel": "k", "array_size": number, "time_us": time_us, "device_uuid": "GPU-1"}
        for number, time_us in enumerate(times_us)
    ]
    host = {"study": "s", "kernel": "cpu_numpy", "array_size": 1, "time_us": 1e6}
    write_rows(folder / "measurements.csv", MEASUREMENT_COLUMNS, [*rows, host])
    return folder


def test_scaling_is_from_the_first_lease_to_the_last_and_judges_long_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = swept(tmp_path / "one", [("GPU-1", 1, 11), ("GPU-1", 13, 21)], [5.0, *[30.0] * 100])

    def judged(leases: list[tuple[str, float, float]], times_us: list[float]) -> tuple[int, str]:
        several = swept(tmp_path / f"several{len(list(tmp_path.iterdir()))}", leases, times_us)
        given = ["scaling", "--folders", str(one), str(several), "--output", str(tmp_path / "out.json")]
        monkeypatch.setattr(sys, "argv", given)
        return scaling.main(), capsys.readouterr().out

    both = [("GPU-1", 1.0, 11.5), ("GPU-2", 1.5, 13.5)]
    status, said = judged(both, [6.0, 30.7, *[30.5] * 99])
    assert status == 0
    assert "2 GPUs: measuring took 12.5 s, 2 leases (GPU-1 84%, GPU-2 96%)" in said
    assert "1.60 times as fast on 2 GPUs (at least 1.60)" in said
    assert "from 20 us: 100 points, 1.00% with medians more than 2% apart" in said
    assert "the farthest 2.33%" in said and "the farthest 20.00%" in said
    assert judged(both, [5.0, 30.7, 30.7, *[30.0] * 98])[0] == 1
    assert judged([("GPU-1", 1.0, 11.5), ("GPU-2", 1.5, 13.6)], [30.0] * 101)[0] == 1
    with pytest.raises(ValueError, match="two jobs had GPU-1 at once"):
        judged([("GPU-1", 1, 11), ("GPU-1", 10, 12)], [30.0] * 101)
    with pytest.raises(ValueError, match="no log has a lease"):
        judged([], [30.0] * 101)


def test_a_runs_seconds_are_told_by_leases_and_points(tmp_path: Path) -> None:
    results = swept(tmp_path / "one", [("GPU-1", 1, 11), ("GPU-1", 13, 21)], [5.0])
    begin = datetime(2026, 11, 21, 13, 10, tzinfo=UTC).timestamp()
    points = [{"study": "s", "kernel": "k", "seconds": 6.0, "busy_seconds": 4.5}] * 2
    write_rows(results / "points/s/k.csv", MEASUREMENT_COLUMNS, points)
    found = seconds.parts(seconds.Run(begin, begin + 30), results)
    parts = {"before": 1, "between jobs": 2, "between points": 6, "host at points": 3, "GPU at work": 9, "after": 9}
    assert found == pytest.approx(parts) and seconds.at_work(found) == pytest.approx(0.75)
    assert "While measuring, the GPU is at work 75% of the time (goal 85%)" in seconds.table(
        {"all": 30.0}, {"all": found}
    )


# Whether a worker's start changes its times


def test_ways_of_starting_workers_are_compared_at_the_same_points() -> None:
    def measured(visits_us: Sequence[float]) -> fresh_workers.Round:
        visits = [Visit([0.99 * median, median, 1.01 * median], True) for median in visits_us]
        outcomes = {own_sweep.point(2**16, 128, cache=cache): Outcome("ok", visits=visits) for cache in ("cold", "hot")}
        return fresh_workers.Round(outcomes, 1.0, 0.5)

    rounds = {
        "python": [measured([5.0, 5.1, 5.0])],
        "fork": [measured([5.0, 5.0, 5.0])],
        "beside": [measured([6.0] * 3)],
    }
    found = fresh_workers.found_in(rounds)
    assert list(found) == ["up to 10 us, cold", "up to 10 us, hot"]
    ways = found["up to 10 us, cold"]
    assert ways["python"]["apart"] == pytest.approx(0.02, rel=0.02) and ways["fork"]["apart"] == 0
    assert ways["beside"]["ratio"] == pytest.approx(1.2, rel=0.02) and ways["fork"]["noise"] == pytest.approx(0.01)
