"""The jobs that run again after an edit, read from Snakemake's dry run: the edited kernel's and no other kernel's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from workflow_runs import FINISHED_STUDIES, edit, planned_jobs, snakemake

# Jobs that run again after every change of a measurement, whatever the study.
JOINED = {
    "all",
    "collect emulator",
    "collect_proofs emulator",
    "describe_environment emulator",
    "judge emulator",
    "make_page emulator",
    "end emulator",
}


def drawn_from(study: str) -> set[str]:
    return {"judge emulator", f"publish_study emulator {study}", f"write_steps emulator {study}"}


def test_a_comment_or_a_text_that_no_job_reads_runs_nothing(finished: Path) -> None:
    edit(finished / "config/config.yaml", "# The studies that", "# Those studies that")
    edit(finished / "README.md", "", "A new first line.\n\n")
    edit(finished / "kernels/mine/interleaved.cu", "stride /= 2) {", "stride /= 2) {  // halves it")
    edit(finished / "kernels/include/warp.cuh", "#pragma once", "#pragma once  // in each file")
    assert planned_jobs(finished) == set()
    # How an edit is judged is no reason to measure.
    edit(finished / "config/config.yaml", "same_within: 0.01", "same_within: 0.2")
    assert not built_or_measured(planned_jobs(finished))
    # The page shows the comment before a kernel's code.
    edit(finished / "kernels/mine/interleaved.cu", "// Interleaved pairs", "// Pairs")
    jobs = planned_jobs(finished)
    assert {"write_steps emulator mine", "make_page emulator"} <= jobs and not built_or_measured(jobs)
    assert not [job for job in jobs if job.startswith("publish_study")]


def test_an_edited_kernel_or_header_redoes_the_kernels_that_have_it_and_their_drawings(finished: Path) -> None:
    idle = snakemake(finished, "all")  # Pins: it forgot how long jobs take.
    assert "Nothing to do" in idle.stdout
    edit(finished / "kernels/mine/interleaved.cu", "stride /= 2", "stride >>= 1")
    edit(finished / "kernels/include/warp.cuh", "lane_mask /= 2", "lane_mask >>= 1")
    of_mine = "measure_on_emulator emulator mine interleaved"
    of_shuffle = "measure_on_emulator emulator warp_shuffle shuffle"
    drawn = drawn_from("mine") | drawn_from("warp_shuffle") | {"draw_accesses mine", "draw_accesses warp_shuffle"}
    assert planned_jobs(finished) == JOINED | drawn | {of_mine, of_shuffle}
    said = snakemake(finished, "all", "--dry-run").stdout.splitlines()
    plan = said[next(at for at, line in enumerate(said) if " jobs would run: about " in line) :]
    of_kernel = plan.index("  kernels/mine/interleaved.cu changed:")
    assert "checking mine/interleaved" in plan[of_kernel + 1]
    assert "checking warp_shuffle/shuffle" in plan[plan.index("  kernels/include/warp.cuh changed:") + 1]
    # One study is a target of its own, whether config.yaml lists it or not.
    edit(finished / "config/config.yaml", "studies: [mine, warp_shuffle]", "studies: [mine]")
    jobs = planned_jobs(finished, "warp_shuffle")
    assert of_shuffle in jobs
    assert not [job for job in jobs if "mine" in job]


def test_a_claim_of_ones_own_is_judged_and_a_deleted_table_or_figure_comes_back(finished: Path) -> None:
    claim = (
        "{claim: By 4 it is faster., kernel: shuffle, unroll: 4, reference_kernel: shuffle, relation: above, value: 1}"
    )
    edit(finished / "config/studies/warp_shuffle.yaml", "title:", f"claims: [{claim}]\ntitle:")
    (finished / "results/emulator/studies/mine/table.tex").unlink()
    (finished / "results/emulator/studies/warp_shuffle/figures/texts.json").unlink()
    assert planned_jobs(finished) == {
        "all",
        *drawn_from("mine"),
        *drawn_from("warp_shuffle"),
        "describe_environment emulator",
        "make_page emulator",
        "end emulator",
    }


def test_a_studys_text_touches_no_measurement_and_no_other_study(finished: Path) -> None:
    edit(finished / "config/studies/warp_shuffle.yaml", "where partial sums live", "where partial sums are kept")
    # environment.json holds the resolved configuration.
    assert planned_jobs(finished) == drawn_from("warp_shuffle") | {
        "all",
        "describe_environment emulator",
        "make_page emulator",
        "end emulator",
    }


def test_the_code_of_the_workers_measures_every_kernel_again(finished: Path) -> None:
    # Pins: only what the job itself imports, which is neither the workers' code nor the GPU's comparison; and jobs that
    # run again, and find all their points in the journal.
    edit(finished / "workflow/scripts/kernelsweep/device/compare.ptx", "add.s64     %rd14", "add.s64    %rd14")
    points = [f"{study}/{kernel}" for study, kernels in FINISHED_STUDIES.items() for kernel in kernels]
    journals = [finished / f"results/emulator/journal/{name}.jsonl" for name in points]
    before = [journal.read_text().count("\n") for journal in journals]
    run = snakemake(finished, *(f"results/emulator/points/{name}.csv" for name in points))
    assert run.returncode == 0, run.stdout
    assert [journal.read_text().count("\n") for journal in journals] == [2 * count for count in before]


@pytest.mark.parametrize("remembers", [True, False])
def test_an_edit_is_seen_whatever_snakemake_remembers_and_whatever_the_times_are(
    finished: Path, remembers: bool
) -> None:
    # Pins: a wrong kernel beside which results of the right one, or no rows of it at all, are "8 of 8 right".
    project = finished
    if not remembers:  # Another checkout, whose results are a link to those of the first.
        project = finished.with_name("other")
        shutil.copytree(finished, project, ignore=shutil.ignore_patterns("results", ".snakemake"))
        (project / "results").symlink_to(finished / "results")
        assert planned_jobs(project) == set()
    edit(project / "kernels/mine/interleaved.cu", "stride /= 2", "stride >>= 1")
    edit(project / "config/studies/mine.yaml", "name: unrolled", "name: unrolled\n    options: [-DX=1]")
    for kernel, kept in (("shuffle", 1), ("global_memory", 2)):
        points = project / f"results/emulator/points/warp_shuffle/{kernel}.csv"
        points.write_text("".join(points.read_text().splitlines(keepends=True)[:kept]))
    stale = {"mine interleaved", "mine unrolled", "warp_shuffle shuffle", "warp_shuffle global_memory"}
    assert built_or_measured(planned_jobs(project)) == {f"measure_on_emulator emulator {kernel}" for kernel in stale}

    # As `mv`, `cp -p`, `rsync -a` and `tar x` put it there.
    problem = project / "kernels/reduction_problem.py"
    was = os.stat(problem)
    problem.write_text(f"{problem.read_text()}\nMORE = 1\n")
    os.utime(problem, (was.st_atime, was.st_mtime - 1e6))
    assert built_or_measured(planned_jobs(project)) == EVERY_SWEEP


def test_results_from_the_future_are_not_believed(finished: Path) -> None:
    future = 4e9
    for path in (finished / "results").rglob("*"):
        os.utime(path, (future, future))
    shutil.rmtree(finished / ".snakemake")
    edit(finished / "kernels/mine/interleaved.cu", "stride /= 2", "stride >>= 1")
    run = snakemake(finished, "all", "--dry-run")
    assert run.returncode and "is out of date, and dated in the future" in run.stdout
    (command,) = re.findall(r"Type: (find .*)$", run.stdout, re.MULTILINE)
    subprocess.run(command, shell=True, cwd=finished, check=True)
    assert "measure_on_emulator emulator mine interleaved" in planned_jobs(finished)


EVERY_SWEEP = {
    f"measure_on_emulator emulator {study} {kernel}"
    for study, kernels in FINISHED_STUDIES.items()
    for kernel in kernels
}


def built_or_measured(jobs: set[str]) -> set[str]:
    return {job for job in jobs if job.startswith(("build_kernel", "measure_on_emulator"))}
