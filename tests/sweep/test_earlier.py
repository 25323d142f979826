"""After an edit, a point runs alternately with its version before, if that is still there and right."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from planted import DEVICE, planted_kernel, point, source_of

from kernelsweep.compile.builder import build
from kernelsweep.compile.built_unit import BuiltUnit
from kernelsweep.compile.unit_store import UnitStore
from kernelsweep.device.outcome import Outcome
from kernelsweep.device.sampling import Sampling
from kernelsweep.device.task import BuiltKernel, Protocol
from kernelsweep.device.worker.client import Workers
from kernelsweep.study.kernel_sweep import PlannedPoint, instantiation, units
from kernelsweep.study.point import Point
from kernelsweep.sweep import decided, limits, verdict
from kernelsweep.sweep.against import Against
from kernelsweep.sweep.bench import Bench, Front
from kernelsweep.sweep.earlier import EarlierVersions
from kernelsweep.sweep.full import FullSweep
from kernelsweep.sweep.journal import Journal
from kernelsweep.sweep.loop import run
from kernelsweep.sweep.verdict import VerdictSweep
from kernelsweep.sweep.visits import find_visits

POINTS = [point(96, 32), point(200, 64)]
EDIT = "if (array_size == 7) return;"
WRONG = "if (blockDim.x == 64 && threadIdx.x == 0) { partials[blockIdx.x] = 1; return; }"


def measured(
    folder: Path, fault: str, points: Sequence[Point] = POINTS, visits: int = 2, decides: float | None = None
) -> tuple[list[Outcome], dict[Point, str]]:
    """The outcomes of a version of the kernel, and the hash of its machine code, by point."""
    kernel, store = planted_kernel(folder, fault), UnitStore(folder / "units")
    binary, of_points = folder / "k.bin", units(kernel, points)
    report = build(source_of(kernel.path), binary, "emulator", of_points, store=store)
    protocol = Protocol(Sampling(0.01, 10, 40, 10), visits=visits, seed=1)
    task = BuiltKernel(kernel, report, binary).task("model_clock:ModelClock", protocol)
    planned = [PlannedPoint(one, instantiation(kernel, one)) for one in points]
    with Journal(folder / "journal.jsonl") as journal:
        visits_ = find_visits(task, planned, {}, journal, DEVICE, short_count=bool(decides))
        versions = EarlierVersions(journal, store, of_points)
        sweep = FullSweep(visits_, find_partners=lambda: versions)
        if decides:
            sweep = VerdictSweep(visits_, decides, lambda groups, _: groups.values(), lambda: versions)
        with (
            Workers(task, visits_.numbers) as workers,
            Bench(task, Front(journal, short_counts=bool(decides)), workers) as bench,
        ):
            run(sweep, bench)
    results = visits_.results()
    code = {each.point: report["variants"][each.variant]["binary_sha256"] for each in planned}
    return [results[one] for one in points], code


def test_both_versions_of_a_point_run_alternately(tmp_path: Path) -> None:
    first, code = measured(tmp_path, "")
    assert not any(visit.before for outcome in first for visit in outcome.visits)
    second, changed = measured(tmp_path, EDIT)
    for one, outcome in zip(POINTS, second, strict=True):
        assert outcome.status == "ok" and outcome.before_binary == code[one] != changed[one]
        for visit in outcome.visits:
            assert len(visit.before) == len(visit.samples) >= 10

    # The same machine code is not run again, and so not against itself. A visit that ended once its pairs had decided,
    # before its time was known, is enough for a verdict, and not for a sweep.
    journal, added = tmp_path / "journal.jsonl", []
    text = journal.read_text()
    journal.write_text('"settled": false'.join(text.rsplit('"settled": true', 1)))
    for decides in (0.01, None):
        before = journal.read_text().count("\n")
        again = measured(tmp_path, EDIT, decides=decides)[0]
        assert [outcome.before_binary for outcome in again] == [outcome.before_binary for outcome in second]
        added.append(journal.read_text().count("\n") - before)
    assert added == [0, 1]


def test_a_candidate_runs_in_pairs_with_another_kernels_best_point(tmp_path: Path) -> None:
    place, points = ("array_size", "dtype", "operation", "cache"), [point(96, 32), point(96, 64)]
    tasks, planned, binaries = [], [], []
    for name, fault in (("other", ""), ("candidate", EDIT)):
        (tmp_path / name).mkdir()
        kernel, binary = planted_kernel(tmp_path / name, fault), tmp_path / name / "k.bin"
        report = build(source_of(kernel.path), binary, "emulator", units(kernel, points))
        protocol = Protocol(Sampling(0.01, 10, 40, 10), visits=2, seed=1, second_input=True)
        tasks.append(BuiltKernel(kernel, report, binary).task("model_clock:ModelClock", protocol))
        planned.append([PlannedPoint(one, instantiation(kernel, one)) for one in points])
        binaries.append(binary)
    best, unit = planned[0][1], BuiltUnit(binaries[0], tasks[0].variants)
    at_best = {tuple(best.point[axis] for axis in place): (best, unit)}
    against = Against(place, tasks[0].launches, at_best)
    with Journal(tmp_path / "journal.jsonl") as journal:
        visits = find_visits(tasks[1], planned[1], {}, journal, DEVICE)
        with Workers(tasks[1], visits.numbers) as workers, Bench(tasks[1], Front(journal), workers) as bench:
            run(FullSweep(visits, find_partners=lambda: against), bench)
    for outcome in visits.results().values():
        assert outcome.status == "ok" and len(outcome.visits) == 2, outcome.message
        assert outcome.before_binary == tasks[0].variants[best.variant]["binary_sha256"]
        assert len(outcome.visits[0].before) == len(outcome.visits[0].samples) >= 6


def test_a_verdict_needs_no_more_visits_than_decide_and_the_next_sweep_makes_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdict, "_SECONDS", 60.0)  # However slow the emulator is.
    monkeypatch.setattr(verdict, "_FIXED_SECONDS", 0.2)
    points = [point(size, block) for size in (96, 200) for block in (32, 64)]
    measured(tmp_path, "", points, visits=3)
    # All processes visit one point of each size: it tells how far they lie apart.
    outcomes = measured(tmp_path, EDIT, points, visits=3, decides=0.01)[0]
    visits = [len(each.visits) for each in outcomes]
    assert sorted(visits[:2]) == sorted(visits[2:]) == [1, 3]
    # They share the others, so that a size's mean is not one process's.
    assert len({each.visits[0].process for each in outcomes if len(each.visits) == 1}) == 2
    assert [len(each.visits) for each in measured(tmp_path, EDIT, points, visits=3)[0]] == [3] * 4


def test_two_processes_are_enough_where_points_take_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = [point(96), point(200)]
    measured(tmp_path, "", points, visits=3)
    monkeypatch.setattr(decided, "_SHORT_US", 1.0)
    outcomes = measured(tmp_path, EDIT, points, visits=3, decides=0.01)[0]
    assert [len(each.visits) for each in outcomes] == [2, 2]


def test_an_edit_runs_in_pairs_with_the_newest_version_that_is_right_everywhere(tmp_path: Path) -> None:
    # Pins: the version that was wrong at the other point, in pairs with the edit that mends it.
    code = measured(tmp_path, "")[1]
    measured(tmp_path, WRONG)
    assert [each.before_binary for each in measured(tmp_path, EDIT)[0]] == [code[one] for one in POINTS]


@pytest.mark.parametrize("faults", [(WRONG, ""), ("", WRONG)])
def test_a_version_that_is_wrong_is_not_timed(tmp_path: Path, faults: tuple[str, str]) -> None:
    measured(tmp_path, faults[0])
    right, wrong = measured(tmp_path, faults[1])[0]
    # Nor is a version that is wrong at another point.
    assert bool(right.before_binary) == (faults[0] == "") and not wrong.before_binary
    assert wrong.status == ("ok" if faults[0] else "wrong_result")


@pytest.mark.parametrize("known", ["_TIMES_ITSELF", "_TIMES_ANOTHER"])
def test_a_kernel_that_hangs_is_found_by_its_times_before_and_by_its_studys_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: str
) -> None:
    monkeypatch.setattr(limits, "_SHORTEST", {True: 0.5})
    monkeypatch.setattr(limits, known, 1)
    measured(tmp_path, "")
    if known == "_TIMES_ANOTHER":
        (tmp_path / "journal.jsonl").rename(tmp_path / "other.jsonl")
    else:
        monkeypatch.setattr(limits, "_TIMES_ANOTHER", 10**9)
    started = time.monotonic()
    outcomes, _ = measured(tmp_path, "while (array_size > 0 && *(volatile const Element *)data >= 0) {}")
    assert [outcome.status for outcome in outcomes] == ["timed_out"] * 2
    assert time.monotonic() - started < 60  # of the 120 s that one point may take
    assert "by the study's earlier points" in outcomes[0].message
