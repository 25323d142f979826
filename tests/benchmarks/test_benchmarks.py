"""The comparisons with other tools: the same points and machine code on both sides, and verdicts by the goals."""

from __future__ import annotations

import ctypes
import json
import shutil
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import compare_edits
import compare_kernel_tuner
import compare_nvbench
import emulator_units
import pytest
from checkout import ROOT
from elftools.elf.elffile import ELFFile
from support import own_sweep

from kernelsweep.build.nvcc import compile_cubin
from kernelsweep.platforms.emulated_library import EmulatedLibrary
from kernelsweep.platforms.gpus import Gpu
from kernelsweep.problems.problem_file import problem_of
from kernelsweep.sweep.points import units


def machine_code(cubin: Path) -> list[bytes]:
    with cubin.open("rb") as file:
        return [section.data() for section in ELFFile(file).iter_sections() if section.name.startswith(".text.")]


@pytest.mark.parametrize(("nvbench_us", "ours_us", "within"), [
    (20.0, 20.19, True), (20.0, 20.21, False), (20.0, 19.79, False),  # 1% from 20 us
    (19.9, 20.4, True), (5.0, 5.14, True), (5.0, 4.84, False),  # 3% from 5 us
    (4.9, 9.0, None),  # not judged
])  # fmt: skip
def test_nvbench_goal(nvbench_us: float, ours_us: float, within: bool | None) -> None:
    # One outlier a round: medians are compared, not means.
    row = compare_nvbench.compared("p", [[ours_us] * 9 + [900.0]] * 3, [[nvbench_us] * 9 + [900.0]] * 2)
    assert row["within"] is within


def test_nvbench_verdict_needs_a_judged_point() -> None:
    def row(ours_us: float, nvbench_us: float) -> dict[str, object]:
        return compare_nvbench.compared("p", [[ours_us]], [[nvbench_us]])

    short, right, wrong = row(3.0, 2.0), row(30.1, 30.0), row(31.0, 30.0)
    assert compare_nvbench.verdict([short, right])[1]
    assert not compare_nvbench.verdict([short])[1], "nothing was compared"
    sentence, met = compare_nvbench.verdict([short, right, wrong])
    assert not met and "1 of 2" in sentence


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


@pytest.mark.parametrize(("name", "values", "launched", "updated"), [
    ("unrolling/interleaved", {}, [(16, 1, 1, 64, 1, 1, 0)], ["data"]),
    ("stepwise/cascaded", {"grid_size": 264}, [(264, 1, 1, 64, 1, 1, 0), (1, 1, 1, 64, 1, 1, 0)], []),
    ("stepwise/strided_index", {}, [(16, 1, 1, 64, 1, 1, 256), (1, 1, 1, 64, 1, 1, 256)], []),
])  # fmt: skip
def test_nvbench_runs_and_checks_every_launch_of_a_plan(
    tmp_path: Path, name: str, values: dict[str, int], launched: list[Any], updated: list[str]
) -> None:
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
    fixed = ["-DRADIUS=4"] if name == "one_pass" else []
    include = [one.kernel.path.parent, ROOT / "kernels/include"]
    compile_cubin(tmp_path / "tuner.cu", tmp_path / "tuner.cubin", "sm_90", include, fixed)
    assert machine_code(tmp_path / "tuner.cubin") == machine_code(tmp_path / "ours.cubin")


def test_strategies_are_replayed_from_what_brute_force_took(tmp_path: Path) -> None:
    pytest.importorskip("kernel_tuner", reason="not installed: uv run --group test --extra compare pytest")
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
    pytest.importorskip("optuna", reason="Optuna is not installed: uv run --group test --extra search pytest")
    monkeypatch.chdir(ROOT)
    kept = "resources/tuning/nvidia-h200.json.gz"
    monkeypatch.setattr("sys.argv", ["compare_kernel_tuner.py", "--from", kept, "--repetitions", "1"])
    assert compare_kernel_tuner.main() == 0
    document = (ROOT / "docs/measured/tuning.md").read_text()
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("| here", "| Kernel Tuner"))]
    assert len(lines) == 2 * (4 + len(compare_kernel_tuner.STRATEGIES))
    # Other releases of Optuna propose other configurations.
    assert not [line for line in lines if line not in document and not line.startswith("| here, search |")]


@pytest.mark.parametrize("name", compare_edits.KERNELS)
def test_a_slowdown_can_be_planted_in_the_kernels_as_they_are(name: str) -> None:
    source = (ROOT / f"kernels/{compare_edits.STUDY}/{name}.cu").read_text()
    planted = compare_edits.plant(source)
    loop, end = planted.index("for (unsigned turn"), planted.index("block_data[thread] = own;")
    assert planted.index("own = twice") < loop < planted.index("for (unsigned stride") < end
    with pytest.raises(ValueError, match="another form"):
        compare_edits.plant(planted.replace("stride", "step"))
