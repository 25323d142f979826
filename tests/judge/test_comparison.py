"""Comparisons: identical code is neither faster nor slower, 2% are found, and the journal has the earlier times."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkout import ROOT
from journal_lines import add_visit, identity
from workflow_runs import edit, shrink, snakemake

from kernelsweep.base.json_files import read_json
from kernelsweep.compile.unit_store import UnitStore, text_name
from kernelsweep.device.outcome import Outcome, Timing
from kernelsweep.device.pairs import (
    FASTER,
    MOST_PAIRS,
    SAME,
    SLOWER,
    UNDECIDED,
    Pairs,
    PairsDecide,
    mean_ratio,
    pairs_of,
    scatter_of,
    verdict,
)
from kernelsweep.errors import UserError
from kernelsweep.judge.comparison.code import code_section
from kernelsweep.judge.comparison.sides import (
    FAILED_BEFORE,
    NAME_COLUMNS,
    NO_RECORD,
    NOT_BEFORE,
    SAME_CODE,
    TAKEN_BACK,
    name_of,
    previous,
)
from kernelsweep.judge.comparison.source import since_right
from kernelsweep.judge.comparison.text import comparison_answer, comparison_text, verdict_lines
from kernelsweep.judge.comparison.verdicts import (
    ComparedPoint,
    by_kernel,
    compare_points,
    comparison_summary,
    kernels_with_verdict,
)
from kernelsweep.judge.comparison.which_files import earlier_files
from kernelsweep.results import Row, point_columns, read_rows, time_columns, write_rows
from kernelsweep.scatter import Scatter
from kernelsweep.statistics import Interval, ratio, time_interval
from kernelsweep.sweep.editions import note_checks
from kernelsweep.sweep.identity import identity_sha256
from kernelsweep.sweep.journal import Journal
from kernelsweep.sweep.recorded import note_return

MARGIN = 0.005
LONG_US = 50
CALLED = (FASTER, SLOWER)


def slowed(rows: Sequence[Row], factor: float, from_us: float = LONG_US) -> list[Row]:
    """The rows, with all times of points of `from_us` microseconds or more multiplied by `factor`."""
    ends = ("time_us", "time_low_us", "time_high_us")
    return [
        {**row, **{end: f"{float(row[end]) * factor:.3f}" for end in ends}, "binary_sha256": "edited"}
        if row["time_us"] and float(row["time_us"]) >= from_us
        else row
        for row in rows
    ]


def share(points: Sequence[ComparedPoint], *verdicts: str) -> float:
    compared = [point for point in points if point.ratio]
    return sum(point.verdict in verdicts for point in compared) / len(compared)


def long_points(points: Sequence[ComparedPoint]) -> list[ComparedPoint]:
    return [point for point in points if point.ratio and point.before and float(point.before["time_us"]) >= LONG_US]


# Verdicts on identical code and on 2% more time


@pytest.fixture(scope="module")
def sweeps() -> tuple[list[Row], list[Row]]:
    """Two sweeps of identical code on one H200."""
    studies = ["unrolling", "warp_shuffle"]
    files = [ROOT / f"tests/support/captures/{which}_sweep.csv.gz" for which in ("first", "second")]
    first, second = ([row for row in read_rows(path) if row["study"] in studies] for path in files)
    return first, second


@pytest.fixture(params=["all kernels", "each kernel alone"])
def pairs(request: pytest.FixtureRequest, sweeps: tuple[list[Row], list[Row]]) -> list[tuple[list[Row], list[Row]]]:
    """Both sweeps as a whole, or kernel by kernel: a sweep of one kernel shows less of how processes differ."""
    if request.param == "all kernels":
        return [sweeps]
    kernels = sorted({(row["study"], row["kernel"]) for row in sweeps[0]})
    return [
        tuple([row for row in rows if (row["study"], row["kernel"]) == kernel] for rows in sweeps) for kernel in kernels
    ]  # type: ignore[misc]


def test_of_a_gpus_two_sweeps_of_identical_code_at_most_1_percent_are_called(
    pairs: list[tuple[list[Row], list[Row]]],
) -> None:
    points = [point for before, after in pairs for point in compare_points(before, after, MARGIN)]
    assert sum(point.ratio is not None for point in points) == 3272
    assert share(points, *CALLED) <= 0.005  # half of the share that is allowed
    # No kernel would fail a developer's CI.
    for before, after in pairs:
        assert kernels_with_verdict(comparison_summary(compare_points(before, after, MARGIN), MARGIN), SLOWER) == []
    assert share(long_points(points), SAME) > 0.5


@pytest.mark.parametrize(("factor", "expected"), [(1.02, SLOWER), (1 / 1.02, FASTER)])
def test_2_percent_are_found_at_95_percent_of_the_points_of_50_us_and_more(
    pairs: list[tuple[list[Row], list[Row]]], factor: float, expected: str
) -> None:
    for before, after in pairs:
        points = long_points(compare_points(before, slowed(after, factor), MARGIN))
        assert len(points) >= 40
        assert share(points, expected) >= 0.95


def made_up(generator: np.random.Generator, kernels: int, process_us: float, one_side_us: float = 0.0) -> list[Row]:
    """A sweep of kernels whose three processes take more or less for all their points, by `process_us` as a deviation.

    one_side_us  by so much all three processes of the first kernel happen to be off, and by nearly the same
    """
    rows = []
    for kernel in range(kernels):
        processes = generator.normal(0, process_us, 3)
        if one_side_us and kernel == 0:
            processes = one_side_us + processes / 10
        for number, time_us in enumerate(np.geomspace(4, 5000, 60)):
            own = generator.normal(0, np.sqrt(0.02**2 + 3e-4 * time_us), 3)
            visits = [
                (time_us + process + visit) * (1 + generator.normal(0, 0.004, 30))
                for process, visit in zip(processes, own, strict=True)
            ]
            row: Row = dict.fromkeys(NAME_COLUMNS, "") | {"study": "made_up", "kernel": f"kernel_{kernel}"}
            row |= {"array_size": str(2 ** (16 + number // 5)), "block_size": str(64 * (1 + number % 5)), "unroll": "1"}
            row |= {
                "status": "ok",
                "flags": "",
                "binary_sha256": "",
                "dtype": "int32",
                "operation": "sum",
                "cache": "cold",
            }
            rows.append(row | {name: str(value) for name, value in time_columns(visits, {"bytes": 4}, None).items()})
    return rows


def test_visits_that_all_fall_on_one_side_are_not_taken_for_a_change() -> None:
    # Pins: trust in a point's own interval, which three visits that lie together by chance make too narrow.
    generator = np.random.default_rng(2026)
    before, after = (made_up(generator, 11, 0.08, one_side_us=side_us) for side_us in (-0.05, 0.07))
    points = compare_points(before, after, MARGIN)
    assert share(points, *CALLED) <= 0.01
    own = [ratio(time_interval(new), time_interval(old)) for old, new in zip(before, after, strict=True)]
    assert sum(verdict(found, MARGIN) in CALLED for found in own) / len(own) > 0.015
    assert share(long_points(compare_points(before, slowed(after, 1.02), MARGIN)), SLOWER) >= 0.95


def test_a_disturbed_visit_costs_its_own_point_alone(sweeps: tuple[list[Row], list[Row]]) -> None:
    # Pins: two of 168 points with visits 30% apart made all others undecided; and their own visits being forgotten.
    before, after = (
        [
            dict(row)
            for row in rows
            if row["kernel"] in ("neighbored", "neighbored_less", "interleaved")
            and (int(row["array_size"]) >= 2**22 and row["cache"] == "cold")
        ]
        for rows in sweeps
    )
    after[3]["visit_spread"] = after[33]["visit_spread"] = "0.3"
    points = compare_points(before, slowed(after, 1.02), MARGIN)
    assert share(long_points(points), SLOWER) >= 0.95
    disturbed = [point for point in points if point.after and point.after["visit_spread"] == "0.3"]
    assert [point.verdict for point in disturbed] == [UNDECIDED] * 2


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.006, 1.02, SLOWER),
        (0.98, 0.99, FASTER),
        (0.996, 1.004, SAME),
        (0.996, 1.006, UNDECIDED),
        (1.001, 1.008, UNDECIDED),  # slower, but perhaps by less than matters
        (0.9, 1.1, UNDECIDED),  # an undecided point is not "the same"
    ],
)
def test_verdicts(low: float, high: float, expected: str) -> None:
    assert verdict(Interval((low + high) / 2, low, high), MARGIN) == expected


def sampled(random: np.random.Generator, ratio: float, noise: float, criterion: PairsDecide | None) -> list[float]:
    """The pairs of a visit until the criterion is finished, or all; 3% of samples take 10% longer."""
    late = np.where(random.random((MOST_PAIRS, 2)) < 0.03, random.exponential(0.1, (MOST_PAIRS, 2)), 0)
    logs = [*(np.log(ratio) + noise * random.standard_normal(MOST_PAIRS) + late[:, 0] - late[:, 1])]
    for count, value in enumerate(logs if criterion else [], 1):
        assert criterion
        criterion.add(round(10 * np.exp(value), 3), 10.0)
        if count >= 6 and criterion.is_finished():
            return logs[:count]
    return logs


def judged(random: np.random.Generator, ratio: float, noise: float, of_process: float) -> tuple[list[str], float]:
    """The verdicts on points of an edit with a margin of 1%, and the mean number of pairs of a point."""

    def visit(criterion: PairsDecide | None = None) -> list[float]:
        return sampled(random, ratio * np.exp(of_process * random.standard_normal()), noise, criterion)

    first = [Pairs(10.0, [visit() for _ in range(3)], [True] * 3) for _ in range(8)]
    scatter = scatter_of(first)
    verdicts, counts = [], []
    for _ in range(150):
        visits: list[list[float]] = []
        while len(visits) < 3 and (not visits or verdicts[-1] == UNDECIDED):
            visits.append(visit(PairsDecide(0.01, scatter)))
            found = Pairs(10.0, visits, [False] * len(visits)).ratio(scatter)
            verdicts[len(counts) :] = [verdict(found.interval, 0.01) if found else UNDECIDED]
        counts.append(sum(map(len, visits)))
    return verdicts, float(np.mean(counts))


@pytest.mark.parametrize(("noise", "of_process", "most"), [(0.005, 0.0, 20), (0.01, 0.001, 60), (0.02, 0.002, 260)])
def test_pairs_end_once_they_decide_and_then_are_right(noise: float, of_process: float, most: int) -> None:
    random = np.random.default_rng(1)
    for factor, expected in ((1.0, SAME), (1.02, SLOWER), (1 / 1.02, FASTER)):
        verdicts, pairs = judged(random, factor, noise, of_process)
        assert set(verdicts) <= {expected, UNDECIDED} and pairs < most
        assert verdicts.count(expected) >= 0.95 * len(verdicts)


def test_a_size_is_decided_by_the_mean_of_its_points() -> None:
    random = np.random.default_rng(1)
    points = [Pairs(5.0, [[*(0.03 * random.standard_normal(30))]], [False]) for _ in range(24)]

    def decided(apart: Scatter | None, codes: int, count: int = 24) -> str:
        ratios = [found for one in points[:count] if (found := one.ratio(apart))]
        return verdict(mean_ratio([(found, str(one % codes), [one % 3]) for one, found in enumerate(ratios)]), 0.01)

    assert decided(None, 1) == SAME and decided(None, 1, 1) == UNDECIDED
    # Processes that differ by 0.7% leave it open, where they are three.
    assert decided(Scatter(0.0, 0.0, 0.007**2, 16), 1) == UNDECIDED
    assert decided(Scatter(0.0, 0.0, 0.007**2, 16), 24) == SAME


@pytest.mark.parametrize("counts", [(200, 200), (20, 200), (10, 10, 200)])
def test_visits_of_few_and_of_many_pairs_are_wrong_in_one_of_100(counts: Sequence[int]) -> None:
    random, scatter = np.random.default_rng(1), Scatter(0.0, 0.0, 0.01**2, 500)
    misses = 0
    for _ in range(1500):
        visits = [[*(0.01 * random.standard_normal() + 0.002 * random.standard_normal(count))] for count in counts]
        found = Pairs(1000.0, visits, [False] * len(counts)).ratio(scatter)
        assert found
        misses += not found.interval.low <= 1 <= found.interval.high
    assert misses <= 30


def test_pairs_that_the_timer_rounds_alike_decide_nothing() -> None:
    # 3.00 and 3.01 us, which steps of 32 ns show as 2.976 and 3.008.
    alike = Outcome("ok", visits=[Timing([3.008] * 20, before=[2.976] * 20)], before_binary="a")
    pairs = pairs_of(alike)
    assert pairs and (found := pairs.ratio()) and verdict(found.interval, 0.01) == UNDECIDED
    criterion = PairsDecide(0.01)
    for _ in range(20):
        criterion.add(3.008, 2.976)
    assert not criterion.is_finished()


def test_pairs_are_the_ratio_of_a_point() -> None:
    outcome = Outcome("ok", visits=[Timing([2.0] * 9, before=[1.0] * 9, process=1)], before_binary="a")
    row = {"study": "s", "kernel": "k", "status": "ok", "time_us": "2", "visit_spread": "", "visits": "1"}
    (point,) = compare_points([{**row, "pairs": pairs_of(outcome)}], [row], MARGIN)
    assert point.ratio and point.ratio.value == pytest.approx(2.0) and [*point.processes] == [1]
    assert Pairs(1.0, [[0.0]], [False]).ratio() is None


# Texts of comparisons


def test_the_heading_is_of_all_sizes_and_then_says_where_and_whether_it_is_right(
    sweeps: tuple[list[Row], list[Row]],
) -> None:
    of_kernel = [[row for row in rows if row["kernel"] == "interleaved"] for rows in sweeps]
    points = compare_points(of_kernel[0], slowed(of_kernel[1], 1.02), MARGIN)
    text = comparison_text(points, MARGIN, verdict_lines(points, MARGIN), "")
    heading, *_ = text.splitlines()
    # The 2% of half of the sizes are not the kernel's.
    where = r"undecided; slower at 4 of 8 sizes \(1.020×\), undecided at 4, right at 88 of 88"
    assert re.fullmatch(rf"# interleaved 1.006× \(0.9\d\d to 1.0\d\d\), {where}", heading)
    assert "## How this was judged" in text
    comment = comparison_text(points, MARGIN, verdict_lines(points, MARGIN), "Before.", is_comment=True)
    assert comment == f"{heading}\n\nBefore.\n"
    (kernel,) = by_kernel(points)
    summary = comparison_summary(points, MARGIN)
    assert f"{summary['kernels'][kernel]['ratio']:.3f}× ({summary['kernels'][kernel]['low']:.3f} to" in heading
    assert kernels_with_verdict(summary, SLOWER) == [kernel]
    sizes = summary["kernels"][kernel]["sizes"].values()
    assert [found["verdict"] for found in sizes] == [UNDECIDED] * 4 + [SLOWER] * 4


def test_a_wrong_result_is_the_first_thing_said(sweeps: tuple[list[Row], list[Row]]) -> None:
    of_kernel = [[row for row in rows if row["kernel"] == "shuffle"] for rows in sweeps]
    after = [dict(row) for row in slowed(of_kernel[1], 0.5)]
    for row in after[3:5]:
        row |= {"status": "wrong_result", "message": "expected 7, found 8", "time_us": ""}
    points = compare_points(of_kernel[0], after, MARGIN)
    text = comparison_text(points, MARGIN, verdict_lines(points, MARGIN), "")
    wrong = r"# WRONG RESULTS: 2 of \d+ points of warp_shuffle/shuffle, right before\.\n\n- At array size "
    assert re.match(rf"{wrong}.*: expected 7, found 8\.\n- shuffle 0\..*, faster at 4 of 8 sizes \(0.5", text)
    assert comparison_summary(points, MARGIN)["failed"] == {"warp_shuffle/shuffle": 2}
    # Pins: WRONG RESULTS, of which the message says that the values are right; a grid that is no axis.
    for row in after[3:5]:
        row |= {"reason": "out_of_bounds", "message": "the values are right, but thread 3 reads x[9], out of bounds"}
    heading, example, *_ = verdict_lines(compare_points(of_kernel[0], after, MARGIN), MARGIN).all
    assert re.fullmatch(r"OUT OF BOUNDS: 2 of \d+ points of warp_shuffle/shuffle, right before\.", heading)
    assert example.endswith(": thread 3 reads x[9], out of bounds; the values are right.") and "grid" not in example


def test_of_two_devices_all_kernels_are_shown_the_slower_first(sweeps: tuple[list[Row], list[Row]]) -> None:
    before, after = ([row for row in rows if row["study"] == "unrolling"] for rows in sweeps)
    slow = [row for row in slowed(after, 1.3, 0) if row["kernel"] == "neighbored"]
    after = [*({**row, "device": "B"} for row in after if row["kernel"] != "neighbored"), *slow]
    same_device = verdict_lines(points := compare_points(before, after[-88:], MARGIN), MARGIN).all
    assert [line[:13] for line in same_device] == ["neighbored 1."], same_device
    edited = [{**row, "device": "B"} for row in after]
    points = compare_points(before, edited, MARGIN)
    verdict = verdict_lines(points, MARGIN)
    heading, *by_size, takes, code = verdict.first
    lines = verdict.all[5:]
    assert heading == "8 kernels on B, beside NVIDIA H200: 1 slower, 7 undecided."
    # Pins: how fast the other device is at a size was in no line.
    fastest, mean = (line.replace("\N{NO-BREAK SPACE}", " ") for line in by_size)
    times = "Times as fast by size, "
    of_fastest = "the fastest kernel of unrolling, cold cache"
    assert re.fullmatch(rf"{times}{of_fastest}: 2¹⁶ .*, 2³⁰ 1\.00×\.", fastest)
    assert re.fullmatch(rf"{times}the mean of 8 kernels: 2¹⁶ .*, 2³⁰ 0\.9\d×\.", mean)
    # The page has them as a table.
    heads, *_, (name, *cells) = verdict.by_size.values()
    assert name == "the mean of 8 kernels" and heads[1] == "2¹⁶" and mean.endswith(f"{heads[-1]} {cells[-1]}.")
    assert verdict.on_page == [heading, takes, code]
    # Pins: the fastest with a hot cache, or of undefined behaviour, beside others' with a cold one.
    halved = [
        {**row, "time_us": f"{float(row['time_us']) / 2}"} | more
        for row in edited
        for more in ({"cache": "hot"}, {"kernel": "racy", "flags": "undefined_behaviour"})
    ]
    both = [
        [*rows, *more]
        for rows, more in ((before, [{**row, "device": "NVIDIA H200"} for row in halved]), (edited, halved))
    ]
    assert verdict_lines(compare_points(*both, MARGIN), MARGIN).first[1] == by_size[0]
    # Pins: "each study's fastest kernel", of three of six studies.
    least = min((row["array_size"] for row in sweeps[0]), key=int)
    sides = [[row for row in rows if row["study"] == "unrolling" or row["array_size"] != least] for rows in sweeps]
    other = [{**row, "device": "B"} for row in sides[1]]
    told = verdict_lines(compare_points(sides[0], other, MARGIN), MARGIN).first
    assert told[1].startswith(f"{times}the fastest kernel of unrolling, cold cache: 2¹⁶")
    assert told[3] == "Not by size, because their sizes differ: warp_shuffle."
    assert takes.startswith("Each takes 1.00 to 1.30 times as long on average over sizes. Right at ")
    assert lines == verdict.kernels and len(lines) == 8 and verdict.beside_table == verdict.first
    # The terminal has the same rows in the same order; a study's where kernels are many.
    heads, first, *rows = verdict.table
    assert heads[0] == "kernel" and first[0] == "neighbored" and first[2:] == ["slower", "8 slower of 8"]
    assert [line.split()[0] for line in lines[1:]] == [row[0] for row in rows]
    many = [{**row, "kernel": f"{row['kernel']}_{copy}"} for copy in "ab" for row in edited]
    twice = [{**row, "kernel": f"{row['kernel']}_{copy}"} for copy in "ab" for row in before]
    _, study = verdict_lines(compare_points(twice, many, MARGIN), MARGIN).table
    assert study[:2] == ["unrolling", "16"]
    assert code == "The machine code of 1 differs, too: unrolling/neighbored."
    assert lines[0].startswith("neighbored 1.298×") and ", slower at all 8 sizes, " in lines[0]
    shown = {name for name, found in comparison_summary(points, MARGIN)["kernels"].items() if found["is_shown"]}
    assert len(shown) == 8


def test_where_no_count_changed_the_verdict_says_what_is_counted() -> None:
    row = {"study": "s", "kernel": "k", "status": "ok", "time_us": ""}
    points = compare_points([{**row, "counts": ({"barriers": 3}, {"barriers": 3})}], [row], MARGIN)
    unchanged = "memory accesses, barriers and exchanges unchanged; arithmetic isn't counted; no time without a GPU"
    assert verdict_lines(points, MARGIN).all == [f"k: {unchanged}, right at 1 of 1"]


def test_an_edit_is_shown_with_what_it_changed(tmp_path: Path) -> None:
    store, before = UnitStore(tmp_path), made_up(np.random.default_rng(1), 1, 0.05)[:1]
    before = [{**row, "binary_sha256": "a", "source_sha256": "old"} for row in before]
    before.append({**before[0], "array_size": "3"})
    after = [{**row, "binary_sha256": "b", "source_sha256": "new"} for row in before]
    after[1]["status"] = "wrong_result"  # at all points of one size
    points = compare_points(before, after, MARGIN)
    shown = points[0].kernel
    drawn = (store, {shown: ("its_step", "n 8")}, tmp_path / "accesses")
    assert code_section(points, MARGIN, *drawn) == ""  # Another machine has compiled them.
    for name, text, registers in (("old", "a = 1;\nb;", 16), ("new", "a = 2;\nb;", 24)):
        store.keep_text(text_name(*shown.split("/"), name), text)
        entry = {"symbol": "k", "registers": registers, "binary_sha256": {"old": "a", "new": "b"}[name]}
        store.compiled({"unit": name}, tmp_path / "unit", lambda entry=entry: _compiled(tmp_path / "unit", entry))
        for picture in ("as an earlier version of ours drew it", f"<svg>{text}</svg>"):
            store.keep_text(text_name(shown.partition("/")[0], "its_step", name, "accesses"), picture)
    section = code_section(points, MARGIN, *drawn)
    pictures = sorted(path.read_text() for path in drawn[-1].glob("*-its_step-*.svg"))
    assert pictures == ["<svg>a = 1;\nb;</svg>", "<svg>a = 2;\nb;</svg>"] and section.count("](accesses/") == 2
    assert "-a = 1;\n+a = 2;\n b;" in section
    assert "| registers a thread | 16 | 24 |" in re.sub(" +", " ", section)


def _compiled(file: Path, entry: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    file.write_bytes(b"")
    return "", {"k": entry}


# The journal's records from before

POINTS = [{"array_size": 2**20, "block_size": block_size, "unroll": 1} for block_size in (64, 128)]
REST = {"dtype": "int32", "operation": "sum", "cache": "cold"}


def ran(path: Path, source: str, binaries: Sequence[str], time_us: float = 100.0, **settings: str) -> list[Row]:
    """Add a run of the first points to the journal, as measure() does, and return the rows of now."""
    rows = []
    with Journal(path) as journal:
        for point, binary in zip(POINTS[: len(binaries)], binaries, strict=True):
            of = identity({**point, **REST, "grid_size": None, "width": None, "arguments": ""}, binary, settings)
            visits = [[time_us + visit / 10 + step / 100 for step in range(7)] for visit in range(3)]
            for visit, samples in enumerate(visits):
                add_visit(journal, of, visit, samples, source)
            rows.append(
                {**dict.fromkeys(NAME_COLUMNS, ""), **{name: str(value) for name, value in {**point, **REST}.items()}}
                | {"study": "s", "kernel": "k", "grid_size": "4096", "status": "ok", "flags": "", "device": "a GPU"}
                | {"source_sha256": source, "binary_sha256": binary, "identity_sha256": identity_sha256(of)}
                | time_columns(visits, {"bytes": 4}, None)
            )
    return rows


def before(path: Path, rows: Sequence[Row]) -> tuple[list[str], list[str], list[str]]:
    """Each point's previous binary, the reason if it has none, and the kernels whose latest edit changed nothing."""
    found = previous(rows, path.parents[2])
    of_points = {name_of(row): row["binary_sha256"] for row in found.rows}
    return (
        [str(of_points.get(name_of(row), "")) for row in rows],
        [found.reasons.get(name_of(row), "") for row in rows],
        found.unchanged,
    )


def test_the_previous_measurement_is_the_one_before_the_latest_edit(tmp_path: Path) -> None:
    path = tmp_path / "journal/s/k.jsonl"
    first = ran(path, "first", ["a1", "a2"], time_us=80)
    assert before(path, first) == (["", ""], [NO_RECORD, NO_RECORD], [])
    ran(path, "second", ["b1", "b2"], time_us=90)
    third = ran(path, "third", ["c1", "c2"])
    assert before(path, third) == (["b1", "b2"], ["", ""], [])
    found = previous(third, path.parents[2]).rows
    assert [float(row["time_us"]) for row in found] == pytest.approx([90.13, 90.13], abs=0.02)
    assert [(row["grid_size"], row["visits"], row["device_uuid"]) for row in found] == [("4096", 3, "GPU-1")] * 2
    # A search's rows have the identity of a full visit, which most of its points don't get.
    assert before(path, [{**row, "identity_sha256": "other"} for row in third]) == (["b1", "b2"], ["", ""], [])


def test_what_an_earlier_edit_left_out_is_not_compared_with_the_one_before_that(tmp_path: Path) -> None:
    # Pins: two baselines in one verdict, where `--config axes=` had run some points of an edit only.
    path = tmp_path / "journal/s/k.jsonl"
    ran(path, "first", ["a", "a"])
    ran(path, "second", ["b"])
    assert before(path, ran(path, "third", ["c", "c"])) == (["b", ""], ["", NOT_BEFORE], [])


def test_an_edit_that_was_taken_back_is_no_verdict(tmp_path: Path) -> None:
    path = tmp_path / "journal/s/k.jsonl"
    rows = ran(path, "first", ["a1", "a2"])
    ran(path, "second", ["b1", "b2"])
    back = {**dict.fromkeys(map(name_of, rows), TAKEN_BACK)}
    for source in ("first", "first with a comment"):
        found = previous([{**row, "source_sha256": source} for row in rows], path.parents[2])
        assert (found.rows, found.reasons, found.unchanged) == ([], back, [])
    points = compare_points([], rows, MARGIN, back)
    verdict = verdict_lines(points, MARGIN)
    assert verdict.all == ["Nothing to compare.", "Edit taken back: k."]
    summary = {"proven": "", "kernels": {}, "counted": {}}
    assert comparison_answer(verdict, summary, "slower", "", "").next == "edit a kernel, then the same command"
    of_others = comparison_answer(verdict, summary, "slower", "", "", others=["a", "b"]).next
    assert of_others.startswith("if the edit is in another study: ") and of_others.endswith("'studies=[a, b]'")
    # The next edit is compared with what was there before it, and not with what was taken back.
    with Journal(path) as journal:
        for _ in range(2):
            note_return(journal, {row["identity_sha256"]: row["source_sha256"] for row in rows})
    assert len(path.read_text().splitlines()) == 14 and not previous(rows, path.parents[2]).rows
    assert before(path, ran(path, "third", ["c1", "c2"]))[0] == ["a1", "a2"]
    # Another kernel's edit is the heading.
    other = ran(tmp_path / "journal/s/other.jsonl", "third", ["d1", "d2"])
    other = [{**row, "kernel": "other", "binary_sha256": "d"} for row in other]
    before_it = [{**row, "binary_sha256": "c"} for row in other]
    heading, last = verdict_lines(compare_points(before_it, [*rows, *other], MARGIN, back), MARGIN).all
    assert heading.startswith("other 1.000×") and last == "Edit taken back: k."
    # A point that was first measured with the edit: its source says that the edit was taken back, or its machine code.
    for source, binaries in (("first", ["a1", "a2"]), ("first with a comment", ["a1", "a1"])):
        path = tmp_path / binaries[1] / "journal/s/k.jsonl"
        ran(path, "first", ["a1"])
        edited = ran(path, "second", ["b1", "b2"])
        assert before(path, edited) == (["a1", ""], ["", NOT_BEFORE], [])
        (of_edit,) = verdict_lines(compare_points(previous(edited, path.parents[2]).rows, edited, MARGIN), MARGIN).all
        assert of_edit.startswith("k 1.000× (") and of_edit.endswith(") at 1 of 2 points, same, right at 2 of 2")
        rows = ran(path, source, binaries)
        assert before(path, rows) == (["", ""], [TAKEN_BACK, TAKEN_BACK], [])
        points = compare_points([], rows, MARGIN, back)
        assert "Not compared" not in comparison_text(points, MARGIN, verdict_lines(points, MARGIN))
    # A new edit that takes the one before it back in part is compared where it is new.
    ran(path, "third", ["b1", "c2"])
    assert before(path, ran(path, "fourth", ["a1", "d2"])) == (["", "c2"], [TAKEN_BACK, ""], [])


def test_an_edit_is_compared_with_the_newest_version_that_was_right_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "journal/s/k.jsonl"

    def failed(source: str, binary: str) -> None:
        of = {**identity({**POINTS[1], **REST}, binary, {}), "visit": 0}
        visit = {"measured": "2026-11-22T13:10:28Z", "of": of, "source_sha256": source}
        with Journal(path) as journal:
            journal.add(identity_sha256(of), {**visit, "outcome": {"status": "wrong_result"}})

    failed("never right", "z2")
    assert before(path, ran(path, "first", ["a1", "a2"])) == (["", ""], [NO_RECORD, FAILED_BEFORE], [])
    ran(path, "wrong", ["b1"])
    failed("wrong", "b2")
    second = ran(path, "second", ["c1", "c2"])
    assert before(path, second) == (["a1", "a2"], ["", ""], [])
    # It comes back after another wrong one: that, too, is nothing to compare with.
    ran(path, "wrong again", ["d1"])
    failed("wrong again", "d2")
    with Journal(path) as journal:
        note_return(journal, {row["identity_sha256"]: "second" for row in second})
    assert before(path, second) == (["a1", "a2"], ["", ""], [])
    # That wrong one comes back: it was right before.
    of = identity_sha256(identity({**POINTS[1], **REST}, "d2", {}))
    back = [{**second[0], "binary_sha256": "d1"}, {**second[1], "status": "wrong_result", "binary_sha256": "d2"}]
    assert before(path, [{**row, "identity_sha256": of if row is back[1] else ""} for row in back])[0] == ["c1", "c2"]
    # All results are right, and a check failed, until its study acknowledges the finding.
    third = ran(path, "third", ["e1", "e2"])
    fourth = ran(path, "fourth", ["f1", "f2"])
    for expected, found in (("", "c"), ("by all", "e")):
        with Journal(path) as journal:
            note_checks(journal, third[0]["source_sha256"], [{"finding": "race", "expected": expected}])
        assert before(path, fourth) == ([f"{found}1", f"{found}2"], ["", ""], [])


def test_an_edit_that_leaves_machine_code_as_it_was_has_nothing_to_compare(tmp_path: Path) -> None:
    path = tmp_path / "journal/s/k.jsonl"
    ran(path, "first", ["a1", "a2"])
    # A comment.
    rows = ran(path, "with a comment", ["a1", "a2"])
    assert before(path, rows) == (["", ""], [SAME_CODE, SAME_CODE], [])
    points = compare_points([], rows, MARGIN, previous(rows, path.parents[2]).reasons)
    assert verdict_lines(points, MARGIN).all == [f"Nothing to compare: {SAME_CODE}."]
    second = ran(path, "second", ["b1", "b2"])
    # Another comment: the comparison is about the edit before it, and says so.
    commented = [{**row, "source_sha256": "with another comment"} for row in second]
    assert before(path, commented) == (["a1", "a2"], ["", ""], ["s/k"])
    points = compare_points(previous(commented, path.parents[2]).rows, commented, MARGIN)
    first, verdict_on_it = verdict_lines(points, MARGIN, ["s/k"]).all
    assert first == "The latest edit of s/k changed no code; of the edit before it:"
    assert verdict_on_it.startswith("k 1.000× (") and verdict_on_it.endswith("), same, right at 2 of 2")
    # This edit changes one variant alone; it did not cause the earlier change of the other variant.
    assert before(path, ran(path, "third", ["b1", "c2"])) == (["", "b2"], [SAME_CODE, ""], [])
    # And the other way round, where the point that stays was measured last.
    assert before(path, ran(path, "fourth", ["d1", "c2"])) == (["b1", ""], ["", SAME_CODE], [])
    # Which is taken back: the version is compared with the one before it.
    assert before(path, ran(path, "third", ["b1", "c2"])) == (["", "b2"], [SAME_CODE, ""], [])


def test_another_unit_of_the_same_source_is_no_edit_where_it_counts_the_same(tmp_path: Path) -> None:
    path = tmp_path / "journal/s/k.jsonl"

    def counted(source: str, binary: str, barriers: int) -> list[Row]:
        of = identity({**POINTS[0], **REST}, binary, {})
        with Journal(path) as journal:
            add_visit(journal, of, 0, [], source, counts={"barriers": barriers})
        row = {**dict.fromkeys(NAME_COLUMNS, ""), **{name: str(value) for name, value in of["point"].items()}}
        row |= {"study": "s", "kernel": "k", "status": "ok", "flags": "", "device": "emulator", "time_us": ""}
        return [row | {"source_sha256": source, "binary_sha256": binary, "identity_sha256": identity_sha256(of)}]

    counted("first", "a", 3)
    # The binary of a list of other values.
    assert before(path, counted("first", "b", 3)) == ([""], [NO_RECORD], [])
    assert before(path, counted("second", "c", 4))[0] == ["b"]
    rows = counted("second", "d", 4)
    # The edit before it is the latest one, with what it counts.
    points = compare_points(found := previous(rows, tmp_path).rows, rows, MARGIN)
    assert found[0]["binary_sha256"] == "b" and verdict_lines(points, MARGIN).all[0].startswith("k: barriers +33%")
    never = [{**rows[0], "kernel": "never edited"}]
    points = compare_points(found, [*rows, *never], MARGIN, {name_of(never[0]): NO_RECORD})
    assert verdict_lines(points, MARGIN).all[1:] == ["Not edited: 1 other kernel."]
    # Other counts of the same source are worth a word, such as those of another compiler.
    assert before(path, counted("second", "e", 5))[0] == ["d"]


def test_what_was_measured_under_other_settings_is_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "journal/s/k.jsonl"
    ran(path, "first", ["a1", "a2"])
    rows = ran(path, "second", ["b1", "b2"], **{"device.driver": "2", "against": "0a"})
    assert before(path, rows)[1] == ["measured with another against and device driver before"] * 2
    assert before(tmp_path / "none/journal/s/k.jsonl", rows)[1] == [NO_RECORD] * 2


def test_a_point_that_fails_now_is_held_against_the_version_before(tmp_path: Path) -> None:
    path = tmp_path / "journal/s/k.jsonl"
    rows = ran(path, "first", ["a1", "a2"])
    failing = [{**row, "status": "wrong_result", "time_us": "", "message": ""} for row in rows]
    failing = [{**row, "binary_sha256": "b", "identity_sha256": "other"} for row in failing]
    found = previous(failing, path.parents[2])
    points = compare_points(found.rows, failing, MARGIN, found.reasons)
    assert [point.has_failed_since for point in points] == [True, True]


# From the command line


def test_a_side_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Allowed"):
        earlier_files("previous", "recording/x", ["unrolling"])
    with pytest.raises(UserError, match=r"neither measurements\.csv nor points/ of unrolling\. Allowed: previous"):
        earlier_files(str(tmp_path), "emulator", ["unrolling"])


def test_after_an_edit_compare_measures_that_kernel_and_says_what_became_of_it(finished: Path) -> None:
    kernel = finished / "kernels/warp_shuffle/shuffle.cu"
    edit(kernel, "partials[blockIdx.x] = value;", "partials[blockIdx.x] = value + (array_size > 1);")
    # A race that leaves every result right.
    race = "    if (thread == 1)\n        block_data[0] += Element(array_size == 0);\n"
    edit(finished / "kernels/mine/interleaved.cu", "    if (thread == 0)\n", f"{race}    if (thread == 0)\n")
    run = snakemake(finished, "compare")
    assert run.returncode != 0
    # Where there is no clock, counts are the verdict.
    counted = "interleaved: sectors +6%, global accesses +9%; no time without a GPU, right at 2 of 2"
    wrong = "WRONG RESULTS: 5 of 10 points of warp_shuffle/shuffle, right before."
    said = " ".join(run.stdout.split())
    assert counted in said and said.count(wrong) == 1 and "At array size" in said and ": expected " in said
    answer = run.stdout.partition("failed: races")[2].partition("Page")[0]
    assert counted in " ".join(answer.split()) and all(len(line) <= 80 for line in answer.splitlines()[1:])
    assert "correct the kernel, then the same command" in said
    raced = "The check of mine/interleaved failed: races (emulator), at array size"
    folder = finished / "results/emulator/comparison"
    comparison, comment = ((folder / name).read_text() for name in ("comparison.md", "comment.md"))
    assert all(raced in text and counted in text and wrong in text for text in (said, comparison, comment))
    counts = read_json(folder / "comparison.json")["counted"]["mine/interleaved"]
    assert (
        counts["verdict"] == "more" and counts["counts"]["barriers"]["before"] == counts["counts"]["barriers"]["after"]
    )
    rows = read_rows(finished / "results/emulator/comparison/comparison.csv")
    rows = [row for row in rows if row["kernel"] == "shuffle" and row["status_after"] != "skipped"]
    statuses = {(row["array_size"], row["status_before"], row["status_after"]) for row in rows}
    assert statuses == {("1", "ok", "ok"), ("1000", "ok", "wrong_result")}
    assert all(not row["ratio"] and row["binary_before"] != row["binary_after"] for row in rows)
    # Pins: the version that is wrong at some points, and the one with a race, as what the next edit is compared with.
    edit(kernel, "partials[blockIdx.x] = value + (array_size > 1);", "if (array_size) partials[blockIdx.x] = value;")
    edit(finished / "kernels/mine/interleaved.cu", race, "    __syncthreads();\n")
    rows = read_rows(folder / "comparison.csv")
    run = snakemake(finished, "compare")
    assert run.returncode == 0, run.stdout
    for name in ("shuffle", "interleaved"):
        before, after = (
            {one["source_before"] for one in of if one["kernel"] == name and one["source_before"]}
            for of in (rows, read_rows(folder / "comparison.csv"))
        )
        assert before == after and len(before) == 1
    assert "right at all points and in all checks, run 20" in (folder / "comparison.md").read_text()


def test_fail_on_slower_fails_and_names_the_kernel(project: Path, sweeps: tuple[list[Row], list[Row]]) -> None:
    shrink(project, "shuffle", steps=[{"kernel": "shuffle"}])
    before, after = ([row for row in rows if row["kernel"] == "shuffle"] for rows in sweeps)
    columns = list(after[0])
    of_recording = project / "resources/recordings/a-gpu"
    of_recording.mkdir()
    for name in ("environment.json", "builds.csv"):
        shutil.copy(project / "resources/recordings/nvidia-h200" / name, of_recording)
    kept, current = project / "kept/points/warp_shuffle/shuffle.csv", of_recording / "measurements.csv"
    for path, rows in ((kept, before), (current, slowed(after, 1.02))):
        write_rows(path, columns, [{name: row[name] for name in columns} for row in rows])
    (of_recording / "measurements.csv.gz").write_bytes(gzip.compress(current.read_bytes()))
    run = snakemake(
        project, "compare", "--config", "platform=recording/a-gpu", "compare={before: kept, fail_on: slower}"
    )
    assert run.returncode != 0
    assert "Slower: warp_shuffle/shuffle (compare.fail_on is slower)" in run.stdout
    page = (project / "results/recording/a-gpu/comparison/comparison.html").read_text()
    assert page.count('class="row size"') == 8 and "shuffle 1.0" in page
    points = re.search('id="points">([^<]+)', page)
    assert points
    explored = json.loads(gzip.decompress(base64.b64decode(points[1])))["warp_shuffle"]
    assert explored["kernels"] == ["shuffle", "shuffle before"] and explored["baseline"] == "shuffle before"
    assert sum(explored["values"]["time_us"][::2]) == pytest.approx(
        1.02 * sum(explored["values"]["time_us"][1::2]), rel=1e-3
    )


def test_what_changed_since_a_point_was_right_names_the_files(tmp_path: Path) -> None:
    # Pins: an older edit of the kernel, after which the point was right, told in place of that of the problem; an
    # address in a comment of the kernel's, or another study's file of the same text, told in place of its file.
    point, store = {"n": 8, "cache": "hot"}, UnitStore(tmp_path)
    for source in ("old", "new"):
        for study in ("own", "other"):  # The same text.
            text = f"// kernels/{study}/own.cu\n// See\n// http://example.org/own.pdf\n{source};\n"
            store.keep_text(text_name(study, "own", source), text)

    def version(binary: str, problem: str) -> dict[str, Any]:
        told = {"binary": binary, "problem": {"file": "kernels/own/problem.py"}, "problem_files": problem}
        return {**identity(point, binary, {}), "version": told}

    with Journal(tmp_path / "journal/own/own.jsonl") as journal:
        add_visit(journal, version("a", "p"), 0, [], "old")
        add_visit(journal, version("b", "p"), 0, [], "new")

    def since(binary: str, problem: str, source: str) -> list[str]:
        of = version(binary, problem)
        with Journal(tmp_path / "journal/own/own.jsonl") as journal:
            visit = {"measured": "2026-11-22T13:10:28Z", "of": {**of, "visit": 0}, "source_sha256": source}
            journal.add(identity_sha256(visit["of"]), {**visit, "outcome": {"status": "wrong_result"}})
        known = {"study": "own", "kernel": "own", "source_sha256": source, "identity_sha256": identity_sha256(of)}
        return since_right({**point_columns(point), **known}, tmp_path, store)

    of_problem, of_kernel = "@@ kernels/own/problem.py @@", ["@@ kernels/own/own.cu:3 @@", "-new;", "+old;"]
    assert since("b", "q", "new") == [of_problem]
    assert since("c", "p", "old") == of_kernel
    assert since("c", "q", "old") == [of_problem, *of_kernel]
