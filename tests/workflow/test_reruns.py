"""The jobs that run again after an edit, read from Snakemake's dry run: the edited kernel's and no other kernel's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from checkout import copy_project
from workflow_runs import planned_jobs, shrink, snakemake

# One process runs them all, so that the run that they start from is done once.
pytestmark = pytest.mark.xdist_group("reruns")

STUDIES = {
    "unrolling": ["interleaved", "unrolled"],
    "warp_shuffle": ["shared_memory", "shuffle"],
}
# Jobs that run again after every change of a measurement, whatever the study.
JOINED = {
    "all",
    "collect emulator",
    "describe_environment emulator",
    "summarise emulator",
    "make_page emulator",
    "end_run emulator",
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A copy of the project in which `all` has run."""
    project = copy_project(tmp_path_factory.mktemp("finished"))
    shrink(project, list(STUDIES))
    for name, kernels in STUDIES.items():
        path = project / f"config/studies/{name}.yaml"
        study = yaml.safe_load(path.read_text())
        study["kernels"] = [entry for entry in study["kernels"] if entry["name"] in kernels]
        path.write_text(yaml.safe_dump({key: value for key, value in study.items() if key != "ladder"}))
    run = snakemake(project, "all")
    assert run.returncode == 0, run.stdout
    return project


@pytest.fixture
def project(finished: Path, tmp_path: Path) -> Path:
    """Its state, free to edit; modification times are kept, since Snakemake looks at them."""
    copy = tmp_path / "project"
    shutil.copytree(finished, copy, symlinks=True)
    return copy


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def drawn_from(study: str) -> set[str]:
    judged = {"judge_claims emulator", "find_best emulator"}
    return judged | {f"make_table emulator {study}", f"draw_untimed_figures_{study} emulator {study}"}


def test_nothing_changed_runs_nothing(project: Path) -> None:
    assert planned_jobs(project) == set()


def test_an_edited_kernel_redoes_its_own_build_sweep_and_drawings(project: Path) -> None:
    edit(project / "kernels/unrolling/interleaved.cu", "stride /= 2", "stride >>= 1")
    assert planned_jobs(project) == JOINED | drawn_from("unrolling") | {
        "build_kernel emulator unrolling interleaved",
        "measure_kernel emulator unrolling interleaved",
    }


def test_an_edited_header_redoes_the_kernels_that_include_it(project: Path) -> None:
    edit(project / "kernels/include/warp.cuh", "lane_mask /= 2", "lane_mask >>= 1")
    assert planned_jobs(project) == JOINED | drawn_from("warp_shuffle") | {
        "build_kernel emulator warp_shuffle shuffle",
        "measure_kernel emulator warp_shuffle shuffle",
    }


def test_a_comment_or_text_elsewhere_runs_nothing(project: Path) -> None:
    edit(
        project / "workflow/scripts/kernelsweep/measure/sampling.py", '"""The sampling loop', '# A remark.\n"""The loop'
    )
    edit(
        project / "workflow/scripts/kernelsweep/measure/point/runner.py",
        "class Runner:\n",
        "class Runner:  # a remark\n",
    )
    edit(project / "config/config.yaml", "# The studies that", "# Those studies that")
    edit(project / "README.md", "", "A new first line.\n\n")
    assert planned_jobs(project) == set()


def test_the_code_of_the_workers_measures_every_kernel_again(project: Path) -> None:
    # Pins: only what the job itself imports, which is neither the workers' code nor the GPU's comparison.
    edit(project / "workflow/scripts/kernelsweep/platforms/compare.ptx", "add.s64     %rd14", "add.s64    %rd14")
    kernels = {(study, kernel) for study, kernels in STUDIES.items() for kernel in kernels}
    measured = {job for job in planned_jobs(project) if job.startswith("measure_kernel")}
    assert measured == {f"measure_kernel emulator {study} {kernel}" for study, kernel in kernels}


def test_a_figures_code_redraws_the_studies_that_have_it(project: Path) -> None:
    edit(
        project / "workflow/scripts/kernelsweep/publish/figures/correctness.py", "MOST_REASONS = 2", "MOST_REASONS = 1"
    )
    assert planned_jobs(project) == {
        "all",
        "make_page emulator",
        "end_run emulator",
        *(f"draw_untimed_figures_{study} emulator {study}" for study in STUDIES),
    }


def test_the_figure_script_touches_no_measurement(project: Path) -> None:
    edit(project / "workflow/scripts/publish/draw_figures.py", "import json", "import json  # for the device")
    assert planned_jobs(project) == {
        "all",
        "make_page emulator",
        "end_run emulator",
        *(f"draw_untimed_figures_{study} emulator {study}" for study in STUDIES),
    }


def test_a_deleted_figure_comes_back(project: Path) -> None:
    (project / "results/emulator/studies/unrolling/figures/correctness.pdf").unlink()
    drawn = {"draw_untimed_figures_unrolling emulator unrolling", "make_page emulator", "end_run emulator"}
    assert planned_jobs(project) == {"all", *drawn}


def test_a_studys_text_touches_no_measurement_and_no_other_study(project: Path) -> None:
    edit(project / "config/studies/warp_shuffle.yaml", "where partial sums live", "where partial sums are kept")
    # environment.json holds the resolved configuration.
    assert planned_jobs(project) == drawn_from("warp_shuffle") | {
        "all",
        "describe_environment emulator",
        "make_page emulator",
        "end_run emulator",
    }


def test_a_claim_of_ones_own_is_judged_and_nothing_is_drawn_again(project: Path) -> None:
    claim = (
        "{claim: By 4 it is faster., kernel: shuffle, unroll: 4, reference_kernel: shuffle, relation: above, value: 1}"
    )
    edit(project / "config/studies/warp_shuffle.yaml", "title:", f"claims: [{claim}]\ntitle:")
    jobs = planned_jobs(project)
    assert "judge_claims emulator" in jobs
    assert not [job for job in jobs if job.startswith(("build", "measure", "make_table", "draw", "find_best"))]


def test_a_change_of_how_points_are_run_measures_every_kernel_again_and_builds_none(project: Path) -> None:
    edit(project / "workflow/scripts/kernelsweep/measure/sampling.py", "BATCH = 2", "BATCH = 4")
    jobs = planned_jobs(project)
    assert {job for job in jobs if job.startswith(("build_kernel", "measure_kernel"))} == {
        f"measure_kernel emulator {study} {kernel}" for study, kernels in STUDIES.items() for kernel in kernels
    }


def test_a_new_array_size_builds_nothing(project: Path) -> None:
    edit(project / "config/config.yaml", "array_size: [1, 1000]", "array_size: [1, 1000, 2000]")
    jobs = planned_jobs(project)
    assert not [job for job in jobs if job.startswith("build_kernel")]
    assert "measure_kernel emulator unrolling interleaved" in jobs


def test_one_study_is_a_target_of_its_own(project: Path) -> None:
    edit(project / "kernels/unrolling/interleaved.cu", "stride /= 2", "stride >>= 1")
    edit(project / "kernels/include/warp.cuh", "lane_mask /= 2", "lane_mask >>= 1")
    jobs = planned_jobs(project, "warp_shuffle")
    assert "measure_kernel emulator warp_shuffle shuffle" in jobs
    assert not [job for job in jobs if "unrolling" in job]
