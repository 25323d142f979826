"""The jobs that run again after an edit, read from Snakemake's dry run: the edited kernel's and no other kernel's."""

from __future__ import annotations

from pathlib import Path

from workflow_runs import FINISHED_STUDIES, edit, planned_jobs, snakemake

# Jobs that run again after every change of a measurement, whatever the study.
JOINED = {
    "all",
    "collect emulator",
    "collect_proofs emulator",
    "describe_environment emulator",
    "judge emulator",
    "make_page emulator",
    "end_run emulator",
}


def drawn_from(study: str) -> set[str]:
    return {"judge emulator", f"publish_untimed_{study} emulator {study}"}


def test_a_comment_or_a_text_that_no_job_reads_runs_nothing(finished: Path) -> None:
    edit(finished / "config/config.yaml", "# The studies that", "# Those studies that")
    edit(finished / "README.md", "", "A new first line.\n\n")
    edit(finished / "kernels/mine/interleaved.cu", "stride /= 2) {", "stride /= 2) {  // halves it")
    edit(finished / "kernels/include/warp.cuh", "#pragma once", "#pragma once  // in each file")
    assert planned_jobs(finished) == set()
    # The page shows the comment before a kernel's code.
    edit(finished / "kernels/mine/interleaved.cu", "// Interleaved pairs", "// Pairs")
    assert "measure_on_emulator emulator mine interleaved" in planned_jobs(finished)


def test_an_edited_kernel_or_header_redoes_the_kernels_that_have_it_and_their_drawings(finished: Path) -> None:
    edit(finished / "kernels/mine/interleaved.cu", "stride /= 2", "stride >>= 1")
    edit(finished / "kernels/include/warp.cuh", "lane_mask /= 2", "lane_mask >>= 1")
    of_mine = "measure_on_emulator emulator mine interleaved"
    of_shuffle = "measure_on_emulator emulator warp_shuffle shuffle"
    drawn = drawn_from("mine") | drawn_from("warp_shuffle") | {"draw_accesses_mine", "draw_accesses_warp_shuffle"}
    assert planned_jobs(finished) == JOINED | drawn | {of_mine, of_shuffle}
    # One study is a target of its own, whether config.yaml lists it or not.
    edit(finished / "config/config.yaml", "studies: [mine, warp_shuffle]", "studies: [mine]")
    jobs = planned_jobs(finished, "warp_shuffle")
    assert of_shuffle in jobs
    assert not [job for job in jobs if "mine" in job]


def test_a_claim_of_ones_own_is_judged_and_a_deleted_table_comes_back(finished: Path) -> None:
    claim = (
        "{claim: By 4 it is faster., kernel: shuffle, unroll: 4, reference_kernel: shuffle, relation: above, value: 1}"
    )
    edit(finished / "config/studies/warp_shuffle.yaml", "title:", f"claims: [{claim}]\ntitle:")
    (finished / "results/emulator/studies/mine/table.tex").unlink()
    assert planned_jobs(finished) == {
        "all",
        "judge emulator",
        "publish_untimed_mine emulator mine",
        "describe_environment emulator",
        "make_page emulator",
        "end_run emulator",
    }


def test_a_studys_text_touches_no_measurement_and_no_other_study(finished: Path) -> None:
    edit(finished / "config/studies/warp_shuffle.yaml", "where partial sums live", "where partial sums are kept")
    # environment.json holds the resolved configuration.
    assert planned_jobs(finished) == drawn_from("warp_shuffle") | {
        "all",
        "describe_environment emulator",
        "make_page emulator",
        "end_run emulator",
    }


def test_the_code_of_the_workers_measures_every_kernel_again(finished: Path) -> None:
    # Pins: only what the job itself imports, which is neither the workers' code nor the GPU's comparison; and jobs that
    # run again, and find all their points in the journal.
    edit(finished / "workflow/scripts/kernelsweep/platforms/compare.ptx", "add.s64     %rd14", "add.s64    %rd14")
    points = [f"{study}/{kernel}" for study, kernels in FINISHED_STUDIES.items() for kernel in kernels]
    journals = [finished / f"results/emulator/journal/{name}.jsonl" for name in points]
    before = [journal.read_text().count("\n") for journal in journals]
    run = snakemake(finished, *(f"results/emulator/points/{name}.csv" for name in points))
    assert run.returncode == 0, run.stdout
    assert [journal.read_text().count("\n") for journal in journals] == [2 * count for count in before]
