"""Each job's inputs and parameters, on a GPU, on the emulator and from a recording."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT

from kernelsweep.errors import UserError
from kernelsweep.project import inputs, plan, targets
from kernelsweep.project.project import Project
from kernelsweep.study.kernels.source import source_sha256
from kernelsweep.study.settings import Config

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
    modules = "kernelsweep.project.inputs, kernelsweep.project.plan, kernelsweep.project.targets"
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
    libraries = shipped.studies["bandwidth_bound"].settings.rival_names
    named = [f"rivals/bandwidth_bound/{name}.csv" for name in libraries]
    assert libraries and beside("bandwidth_bound") == [*named, "limits/bandwidth_bound.csv"]
    # All studies together are each study's, in the configuration's order.
    by_study = inputs.measurements_by_study(shipped, GPU)
    assert list(by_study) == shipped.config.studies
    assert by_study["staged"] == inputs.measurements(shipped, f"{GPU}/studies/staged")
    assert sorted(path for paths in by_study.values() for path in paths) == sorted(inputs.measurements(shipped, GPU))


def test_what_the_emulator_does_not_prove_and_what_was_edited_is_run_under_compute_sanitizer(
    shipped: Project, tmp_path: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "find_sanitizer", lambda: "compute-sanitizer")

    def sanitized(study: str = "matmul", **settings: Any) -> set[str]:
        project = changed(shipped, **settings)  # a new one, as in another run
        paths = inputs.proofs(project, f"{GPU}/studies/{study}")
        return {Path(path).stem for path in paths if "sanitize" in path}

    assert sanitized(sanitize="none") == set()
    assert sanitized(sanitize="all") == {*shipped.studies["matmul"].kernels}
    (here / "kernels").symlink_to(ROOT / "kernels")
    of_gpu = {name for name, one in shipped.studies["bandwidth_bound"].kernels.items() if one.entry.gpu_only}
    assert of_gpu and of_gpu <= sanitized("bandwidth_bound")
    included = map(Path, inputs.included(shipped, "matmul", "vectors"))
    now = source_sha256(shipped.kernel("matmul", "vectors").path, included)
    for text, are_edited in ((now, set()), ("0", {"vectors"})):
        write(f"results/{GPU}/proofs/matmul/vectors.csv", f"source_sha256\n{text}\n")
        assert sanitized() == are_edited
    write(f"results/{GPU}/proofs/matmul/vectors.csv", f"source_sha256\n{now}\n")
    write(f"results/{GPU}/sanitizer/matmul/vectors.csv")
    assert sanitized() == {"vectors"}, "what was checked once is checked after each edit"
    Path(f"results/{GPU}/sanitizer/matmul/vectors.csv").unlink()
    header = tmp_path / "guarded.cuh"
    header.write_text("#if __CUDA_ARCH__ >= 900\n#endif\n")
    included = inputs.included
    monkeypatch.setattr(
        inputs, "included", lambda *kernel: [*included(*kernel), *([str(header)] if kernel[2] == "naive" else [])]
    )
    assert sanitized() == {"naive"}


def test_the_emulator_proves_a_kernel_as_the_gpu_beside_which_it_runs(shipped: Project, here: Path) -> None:
    study, kernel = shipped.kernels_of(GPU)[0]
    builds = [plan.proof(shipped, platform, study, kernel).build for platform in (GPU, "nvidia-l4")]
    assert [build["gpu"] for build in builds] == ["sm_90", "sm_89"]


def test_targets_name_what_this_run_can_make(shipped: Project, here: Path) -> None:
    only = replace(shipped, platforms=["emulator"], models={})
    # A deleted file comes back only if a target names it, so every result is named.
    shown = {".verdict", "report.html", "claims.csv", "best.json", "measurements.csv", "studies/staged/table.tex"}
    shown |= {"points/staged/staged_global.csv", "samples/staged/staged_global.csv", "environment.json"}
    shown |= {"studies/staged/figures"}
    assert {f"results/emulator/{name}" for name in shown} <= {*targets.everything(only)}
    assert not any("points/" in path for path in targets.study(replace(only, platforms=[RECORDING]), "staged"))
    assert "results/emulator/studies/staged/.verdict" in targets.study(only, "staged")
    assert {path.split("/")[2] for path in targets.build(shipped)} == {"sm_90", "sm_89", "emulator"}
    assert {path.split("/")[2] for path in targets.build(changed(shipped, arch="sm_80"))} == {"sm_80"}
    assert {path.split("/")[2] for path in targets.build(replace(only, platforms=[RECORDING]))} == {"emulator"}
    for target in (targets.header, targets.profile, targets.sanitize):
        with pytest.raises(UserError, match=r"needs (times|an NVIDIA GPU)"):
            target(only)
    with pytest.raises(UserError, match=r"^Name a view, .* figure --config view='explorer\?study=bandwidth_bound' "):
        targets.figure(shipped)
    recorded = replace(shipped, platforms=["emulator", RECORDING], models={})
    headers = {f"results/{RECORDING}/best/{study}.h" for study in ("unrolling", "staged")}
    assert headers <= {*targets.header(recorded)}
    assert f"results/{RECORDING}/best/exchanges.h" not in targets.header(recorded)
