"""Mistakes planted in kernels, each of which `all` finds by itself, and names: on the emulator, and on a GPU."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas
import pytest
from checkout import ROOT
from planted_mistakes import BY_STUDY, ON_EMULATOR, PLANTED, RIGHT, SIZE, write_repository
from workflow_runs import snakemake

from kernelsweep.results import CHECKS, PROOF_COLUMNS, VALUES_RIGHT, read_rows

# One run of the pipeline has all kernels.
pytestmark = pytest.mark.xdist_group("planted_proofs")

GPU = [pytest.mark.gpu, pytest.mark.nvcc]
CASES = [
    pytest.param(platform, study, mistake, marks=GPU if platform == "gpu" else [])
    for platform, by_study in (("emulator", ON_EMULATOR), ("gpu", BY_STUDY))
    for study in by_study
    if study != "sanitized"
    for mistake in by_study[study]
]

# The mistakes that a GPU's measured points show as well, each as this status.
SEEN_ON_A_GPU = {
    "last_block_left_out": "wrong_result",
    "some_not_written": "wrong_result",
    "index_added": "wrong_result",
    "input_changed": "wrong_result",
    "past_end_read": "wrong_result",
    "past_end_written": "wrong_result",
    "cached_by_address": "wrong_result",
    "later_runs_skipped": "wrong_result",
    "half_precision": "wrong_result",
    "endless_loop": "timed_out",
    "trap": "launch_failed",
}


@dataclass(frozen=True)
class Run:
    """A run of `all`: the platform's results, and what it said."""

    results: Path
    said: str

    @property
    def on_emulator(self) -> bool:
        """Whether there was no GPU."""
        return self.results.name == "emulator"

    @property
    def mistakes(self) -> Mapping[str, Sequence[str]]:
        """By study."""
        return ON_EMULATOR if self.on_emulator else BY_STUDY


@pytest.fixture(scope="module")
def all_run_on(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """Gives the right kernels and those with mistakes, in which `all` has run once on a platform."""

    @cache
    def all_run(platform: str) -> Run:
        folder, is_gpu = tmp_path_factory.mktemp("planted"), platform == "gpu"
        # A GPU's first points take seconds to start, and on a busy machine any do.
        write_repository(folder, BY_STUDY if is_gpu else ON_EMULATOR, timeout_seconds=10 if is_gpu else 3)
        # On the emulator, the kernel that never ends sleeps beside two others.
        place = ("-s", str(ROOT / "Snakefile"), "-d", str(folder), "--cores", str(os.cpu_count() if is_gpu else 3))
        run = snakemake(folder, *place, "all", "--config", f"platform={platform}", "sweep=quick")
        assert run.returncode != 0, run.stdout
        found = list(folder.glob("results/*/proofs.csv"))
        assert len(found) == 1, run.stdout
        return Run(found[0].parent, run.stdout)

    return all_run


@pytest.fixture(params=["emulator", pytest.param("gpu", marks=GPU)])
def planted(request: pytest.FixtureRequest, all_run_on: Callable[[str], Run]) -> Run:
    return all_run_on(request.param)


@pytest.mark.parametrize(("planted", "study", "mistake"), CASES, indirect=["planted"])
def test_a_planted_mistake_is_found_and_named(planted: Run, study: str, mistake: str) -> None:
    check, finding, *_ = PLANTED[mistake]
    rows = read_rows(planted.results / f"proofs/{study}/{mistake}.csv")
    assert list(rows[0]) == list(PROOF_COLUMNS) and [row["check"] for row in rows] == list(CHECKS)
    found = {row["check"]: row for row in rows if row["finding"]}
    assert found[check]["finding"] == finding, found
    message = found[check]["message"]
    assert re.search(rf"^at (array size|n) {SIZE:,}\b", message), message
    if finding not in ("wrong_result", "launch_failed", "timed_out"):
        assert f"{mistake}.cu:" in message, "a line is named"
    told = planted.said.rsplit("Complete log", 1)[-1]
    # What is wrong in results is told of its points; the first ten kernels of them have a sentence each.
    named = f"The check of {study}/{mistake} failed: {check} (emulator), {message}."
    assert (
        named in told
        or f"  {message.partition(': ')[2]}\n" in told.replace(VALUES_RIGHT, "")
        or f"  A check found: {message.partition(': ')[2]}.\n" in told
        or (check == "result" and re.search(rf"^{study}/{mistake}: .* wrong \(", told, re.MULTILINE))
        or (check == "result" and re.search(rf"^And points of .*\b{study}/{mistake}\b", told, re.MULTILINE))
    ), told
    measured = read_rows(planted.results / "measurements.csv")
    flags = [row["flags"].split() for row in measured if (row["study"], row["kernel"]) == (study, mistake)]
    assert flags and all("proof_failed" in each for each in flags)


def test_measured_points_show_mistakes_in_results(planted: Run) -> None:
    rows = read_rows(planted.results / "measurements.csv")
    for study in {*planted.mistakes} - {"sanitized"}:
        statuses = {row["kernel"]: row["status"] for row in rows if row["study"] == study}
        seen = {mistake: status for mistake, status in SEEN_ON_A_GPU.items() if mistake in planted.mistakes[study]}
        assert {mistake: statuses[mistake] for mistake in seen} == seen
        assert statuses[RIGHT] == "ok"


def test_a_right_kernel_is_checked(planted: Run) -> None:
    summary = re.sub(r" +", " ", (planted.results / "summary.md").read_text())
    for study in {*planted.mistakes} - {"sanitized"}:
        kernels = len(planted.mistakes[study]) + 1
        assert re.search(rf"\| {study} \|.*\| 1 of {kernels}; with mistakes: {kernels - 1} \|", summary), summary
    assert f"| {RIGHT} |" not in summary.replace(f"| sanitized | {RIGHT} |", "")
    page = (planted.results / "report.html").read_text()
    kernels = sum(len(mistakes) + 1 for mistakes in planted.mistakes.values())
    of_all = (
        rf"\d of {kernels} kernels.*, nothing found at \d points;.* "
        r"\d+ with mistakes: arrays/\w+, arrays/\w+ and \d+ more"
    )
    said = " ".join(planted.said.split())
    proven = re.search(of_all, said)
    assert proven and f"uninitialised reads: {proven[0]}" in said and f"Checked: {proven[0]}" in page
    if planted.on_emulator:  # A page with times counts the clean kernels above its table.
        assert f">1 of {len(planted.mistakes['arrays']) + 1}<" in page
    table = pandas.read_csv(planted.results / "studies/arrays/table.csv").set_index("kernel")["proven"]
    assert table[RIGHT] == "nothing found at 1 point" and "race" in table["missing_syncthreads"]


def test_compute_sanitizer_proves_what_the_emulator_does_not_run(planted: Run) -> None:
    rows = [row for row in read_rows(planted.results / "proofs.csv") if row["study"] == "sanitized"]
    assert {row["finding"] for row in rows if row["tool"] == "emulator"} == {"not_checked"}
    summary = re.sub(r" +", " ", (planted.results / "summary.md").read_text())
    if planted.on_emulator:
        assert len(rows) == len(planted.mistakes["sanitized"]) + 1
        assert f"- sanitized/{RIGHT}" in summary.partition("## Not checked")[2], summary
        return
    found = {(row["kernel"], row["check"]) for row in rows if row["tool"] != "emulator" and row["finding"]}
    assert {("missing_syncthreads", "races"), ("past_end_written", "bounds")} <= found
    assert not [check for kernel, check in found if kernel == RIGHT]
    assert f"| sanitized | {RIGHT} |" not in summary
