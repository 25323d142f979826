"""Each job's inputs and parameters, on a GPU, on the emulator and from a recording."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT
from made_settings import made

from kernelsweep.errors import UserError
from kernelsweep.project import building, inputs, parameters, targets
from kernelsweep.project.project import Project
from kernelsweep.sweep.kernels.units import MOST_VARIANTS
from kernelsweep.sweep.settings import Config

GPU, RECORDING = "nvidia-h200", "recording/nvidia-h200"


def changed(project: Project, **settings: Any) -> Project:
    """The project with other values of some keys of config.yaml."""
    return replace(project, config=Config.read({**project.config.values(), **settings}, "config.yaml"))


def write(path: str, text: str = "") -> None:
    """A file in the folder in which Snakemake runs."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def test_a_start_waits_for_no_package_that_only_jobs_need() -> None:
    # Each takes a tenth of a start's time or more.
    modules = "kernelsweep.project.inputs, kernelsweep.project.parameters, kernelsweep.project.targets"
    code = f"import sys, {modules}; print(*{{'pandas', 'matplotlib', 'optuna'}} & {{*sys.modules}})"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow/scripts")}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout == "\n"


def test_a_gpu_measures_libraries_and_limits_beside_the_kernels_and_the_emulator_only_kernels(shipped: Project) -> None:
    def beside(study: str) -> list[str]:
        kernels = [f"results/emulator/points/{study}/{kernel}.csv" for kernel in shipped.studies[study].kernels]
        assert inputs.measurements(shipped, f"emulator/studies/{study}") == kernels
        on_gpu = inputs.measurements(shipped, f"{GPU}/studies/{study}")
        assert on_gpu[: len(kernels)] == [path.replace("emulator", GPU) for path in kernels]
        return [path.removeprefix(f"results/{GPU}/") for path in on_gpu[len(kernels) :]]

    assert beside("staged") == []
    assert beside("unrolling") == ["baselines/unrolling.csv"]
    libraries = shipped.studies["bandwidth_bound"].settings.rival_names
    named = [f"rivals/bandwidth_bound/{name}.csv" for name in libraries]
    assert libraries and beside("bandwidth_bound") == [*named, "limits/bandwidth_bound.csv"]
    # All studies together are each study's, in the configuration's order.
    by_study = inputs.measurements_by_study(shipped, GPU)
    assert list(by_study) == shipped.config.studies
    assert by_study["staged"] == inputs.measurements(shipped, f"{GPU}/studies/staged")
    assert sorted(path for paths in by_study.values() for path in paths) == sorted(inputs.measurements(shipped, GPU))


def test_what_may_be_other_code_on_the_emulator_is_run_under_compute_sanitizer(
    shipped: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "find_sanitizer", lambda: "compute-sanitizer")

    def sanitized() -> set[str]:
        return {
            Path(path).name.partition(".")[0]
            for path in inputs.proofs(shipped, f"{GPU}/studies/matmul")
            if "sanitize" in path
        }

    assert sanitized() == {"tensor_cores"}
    header = tmp_path / "guarded.cuh"
    header.write_text("#if __CUDA_ARCH__ >= 900\n#endif\n")
    included = inputs.included
    monkeypatch.setattr(
        inputs, "included", lambda *kernel: [*included(*kernel), *([str(header)] if kernel[2] == "naive" else [])]
    )
    assert sanitized() == {"naive", "tensor_cores"}


def test_a_recording_is_one_file_and_a_live_study_is_read_before_all_are_joined(shipped: Project) -> None:
    joined = f"results/{RECORDING}/measurements.csv"
    for scope in (RECORDING, f"{RECORDING}/studies/staged"):
        assert inputs.measurements(shipped, scope) == inputs.joined_measurements(shipped, scope) == [joined]
        assert inputs.environment(shipped, scope) == [f"results/{RECORDING}/environment.json"]
    assert inputs.joined_measurements(shipped, GPU) == [f"results/{GPU}/measurements.csv"]
    study = f"{GPU}/studies/staged"
    assert inputs.joined_measurements(shipped, study) == inputs.points(shipped, study)
    assert parameters.page_measurements(shipped, study) == [f"results/{GPU}/points/staged"]
    # environment.json is written once every study has run: a study of its own must not wait for that.
    assert inputs.environment(shipped, GPU) and not inputs.environment(shipped, study)


def test_metrics_are_made_where_they_are_asked_for_and_shown_where_they_exist(shipped: Project, here: Path) -> None:
    scope = f"{GPU}/studies/staged"
    parts = inputs.kernel_metrics(shipped, scope)
    assert parts[0] == f"results/{GPU}/metrics/staged/{next(iter(shipped.studies['staged'].kernels))}.csv"
    assert (inputs.made_metrics(shipped, scope), inputs.found_metrics(shipped, scope)) == ([], {})
    write(parts[0], "one")
    found = inputs.found_metrics(shipped, scope)
    assert list(found) == parts[:1] and parameters.page_metrics(shipped, scope) == parts[:1]
    write(parts[0], "another")
    assert inputs.found_metrics(shipped, scope) != found, "a change must be drawn again"
    assert inputs.joined_metrics(shipped, GPU) == []
    profiled = changed(shipped, profile=True)
    assert (inputs.made_metrics(profiled, scope), inputs.found_metrics(profiled, scope)) == (parts, {})
    assert inputs.page_metrics(profiled, GPU) == [f"results/{GPU}/metrics.csv"]
    assert parameters.page_metrics(profiled, scope) == [f"results/{GPU}/metrics/staged"]


def test_counts_follow_edits_once_they_exist(shipped: Project, here: Path) -> None:
    scope = "emulator/studies/staged"
    parts = inputs.kernel_metrics(shipped, scope)
    assert inputs.made_metrics(changed(shipped, profile=True), scope) == [], "only the target count makes them"
    write(parts[1])
    assert inputs.made_metrics(shipped, scope) == parts[1:2] and inputs.found_metrics(shipped, scope) == {}
    for path in inputs.kernel_metrics(shipped, "emulator"):
        write(path)
    assert "results/emulator/metrics.csv" in targets.everything(shipped)


def test_a_binary_holds_the_variants_of_every_platform_that_it_is_for(shipped: Project) -> None:
    wide = {
        model: {"axes": {"dtype": [dtype]}} for model, dtype in (("nvidia-h100", "int64"), ("nvidia-h200", "int32"))
    }
    unrolling = shipped.studies["unrolling"]
    settings = made(unrolling.settings) | {"platforms": {**unrolling.settings.values()["platforms"], **wide}}
    project = replace(shipped, studies={**shipped.studies, "unrolling": replace(unrolling, settings=settings)})
    study = {"study": "unrolling", "kernel": "unrolled"}
    found = building.compiled_units(project, "sm_90", **study)
    variants = [name for unit in found for (name,) in unit.variants]
    assert {name.split("<")[0] for name in variants} == {"unrolled"}
    assert {"long", "int"} <= {re.split("[<,]", name)[1] for name in variants}, "each model's element type"
    assert len(variants) == len({*variants}), "each is compiled once"
    assert len(found) == building.unit_count(project, "sm_90", **study) == -(-len(variants) // MOST_VARIANTS) > 1
    # Both models share one binary; the target emulator has variants, too.
    for target in ("sm_89", "emulator"):
        assert building.compiled_units(project, target, **study)
    assert inputs.build(project, "nvidia-h100", **study)[0] == "results/build/sm_90/unrolling/unrolled.bin"
    assert inputs.build(changed(project, arch="sm_100"), GPU, **study)[0].startswith("results/build/sm_100/")
    assert inputs.emulator_files(project, "sm_90") == []
    assert "workflow/emulator/warp.hpp" in inputs.emulator_files(project, "emulator")


def test_the_page_of_all_studies_shows_chapters_that_exist(shipped: Project, here: Path) -> None:
    write(f"results/{GPU}/sanitizer.md", "found nothing")
    assert list(inputs.found_chapters(shipped, GPU)) == [f"results/{GPU}/sanitizer.md"]
    study = f"{GPU}/studies/staged"
    assert inputs.found_chapters(shipped, study) == {}


def test_targets_name_what_this_run_can_make(shipped: Project, here: Path) -> None:
    only = replace(shipped, platforms=["emulator"], models={})
    # A deleted file comes back only if a target names it, so every result is named.
    shown = {".verdict", "report.html", "claims.csv", "best.json", "measurements.csv", "studies/staged/table.tex"}
    shown |= {"points/staged/staged_global.csv", "samples/staged/staged_global.csv", "environment.json"}
    shown |= {"studies/staged/figures/texts.json", "studies/staged/figures/correctness.pdf"}
    assert {f"results/emulator/{name}" for name in shown} <= {*targets.everything(only)}
    assert not any("points/" in path for path in targets.study(replace(only, platforms=[RECORDING]), "staged"))
    assert "results/emulator/studies/staged/.verdict" in targets.study(only, "staged")
    assert {path.split("/")[2] for path in targets.build(shipped)} == {"sm_90", "sm_89", "emulator"}
    assert {path.split("/")[2] for path in targets.build(changed(shipped, arch="sm_80"))} == {"sm_80"}
    assert {path.split("/")[2] for path in targets.build(replace(only, platforms=[RECORDING]))} == {"emulator"}
    for target in (targets.header, targets.profile, targets.sanitize):
        with pytest.raises(UserError, match=r"needs (times|an NVIDIA GPU)"):
            target(only)
    recorded = replace(shipped, platforms=["emulator", RECORDING], models={})
    headers = {f"results/{RECORDING}/best/{study}.h" for study in ("unrolling", "staged")}
    assert headers <= {*targets.header(recorded)}
    assert f"results/{RECORDING}/best/exchanges.h" not in targets.header(recorded)
    write("results/nvidia-a100/measurements.csv")
    write("results/recording/mine/measurements.csv")
    write("results/nvidia-v100/device.json")
    again = targets.redraw(shipped)
    assert {"results/nvidia-a100/claims.csv", "results/recording/mine/studies/staged/table.md"} <= {*again}
    assert not any("v100" in path for path in again)


def test_a_comparisons_sides_are_files_of_now_or_of_a_folder(shipped: Project, here: Path) -> None:
    assert inputs.compared(shipped, GPU, "before") == []
    assert inputs.compared(shipped, GPU, "after") == inputs.of_kernels(shipped, GPU, "points")
    assert targets.compare(replace(shipped, platforms=[GPU]))[-1] == f"results/{GPU}/comparison/.verdict"
    kept = changed(shipped, compare={"before": "kept", "after": "now"})
    with pytest.raises(UserError, match="names 'kept', but in kept/ there is neither"):
        targets.compare(kept)
    write("kept/measurements.csv")
    # Versions that run alternately need no second visit; two sweeps do.
    quick = {"sweep": "quick", "measuring": {**shipped.config.measuring.values(), "visits": 1}}
    assert targets.compare(changed(replace(shipped, platforms=[GPU]), **quick))
    with pytest.raises(UserError, match=r"measuring\.quick_visits is 1, and one visit doesn't show .* Set 3"):
        targets.compare(changed(replace(kept, platforms=[GPU]), **quick))
    assert targets.compare(kept) and inputs.compared(kept, GPU, "before") == ["kept/measurements.csv"]
