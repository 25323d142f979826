"""Whether a job's outputs are current, by the file of what they were made from."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.iocontainers import InputFiles

from kernelsweep import plans
from kernelsweep.base.made_from import INPUT, PARAMETER, keep, plan, planned, reason_to_run, sources_of, sources_of_job
from kernelsweep.plans import BuildPlan, KernelPlan

PARAMETERS = {"points": [{"n": 4}], "seed": 1}
RIGHT = ("kernel.cu", "mark", "points.csv")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


NO_RECORD = "job.json, the record of what its results were made from, is missing or of another version"
# An edit of the folder with a finished job, and why the job runs again after it.
EDITS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a comment": (lambda folder: (folder / "kernel.cu").write_text("int i;  // it\n"), ""),
    "times": (lambda folder: [os.utime(folder / name, (0, 0)) for name in RIGHT], ""),
    "a temporary input was deleted": (lambda folder: (folder / "chunk").unlink(), ""),
    "code": (lambda folder: (folder / "kernel.cu").write_text("int j;\n"), "kernel.cu changed"),
    "half of an output": (lambda folder: (folder / "points.csv").write_text("n\n1\n"), "points.csv changed"),
    "a file in a folder": (lambda folder: (folder / "reports/a").write_text("b"), "reports changed"),
    "an empty record": (lambda folder: (folder / "job.json").write_text(""), NO_RECORD),
    "half a record": (lambda folder: os.truncate(folder / "job.json", 99), NO_RECORD),
    "a list for a record": (lambda folder: (folder / "job.json").write_text("[]"), NO_RECORD),
    "another record": (
        lambda folder: (folder / "job.json").write_text('{"parameters": 1, "inputs": {}}'),
        "kernel.cu is new",
    ),
    "no record": (lambda folder: (folder / "job.json").unlink(), NO_RECORD),
    "a pipe for an output": (lambda folder: pipe(folder / "points.csv"), "points.csv changed"),
    "a pipe for a record": (lambda folder: pipe(folder / "job.json"), NO_RECORD),
}


@pytest.mark.parametrize("name", EDITS)
def test_outputs_are_current_as_long_as_what_they_were_made_from_is_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kernel.cu").write_text("int i;\n", encoding="utf-8")
    Path("chunk").write_text("", encoding="utf-8")
    inputs, outputs = ["kernel.cu", "chunk"], ["points.csv", "reports", "mark"]
    sources = sources_of(PARAMETERS, inputs)
    Path("points.csv").write_text("n\n1\n2\n", encoding="utf-8")
    Path("reports").mkdir()
    Path("reports/a").write_text("a", encoding="utf-8")
    keep("job.json", sources, outputs)
    Path("mark").touch()  # As Snakemake does, after the job.
    assert reason_to_run("job.json", sources_of(PARAMETERS, inputs), outputs) == ""
    edit, reason = EDITS[name]
    edit(tmp_path)
    assert reason_to_run("job.json", sources_of(PARAMETERS, inputs), outputs) == reason


def test_another_parameter_or_set_of_inputs_makes_outputs_anew(tmp_path: Path) -> None:
    record, kernel = str(tmp_path / "made/job.json"), tmp_path / "kernel.cu"
    kernel.write_text("int i;\n")

    def reason(parameters: Mapping[str, Any], *inputs: Path) -> str:
        return reason_to_run(record, sources_of(parameters, map(str, inputs)), [])

    keep(record, sources_of(PARAMETERS, [str(kernel)]), [])
    assert reason({"seed": 1, "points": ({"n": 4},)}, kernel) == "", "as JSON it is equal"
    assert reason(PARAMETERS | {"seed": 2}, kernel) == "the seed changed"
    assert reason(PARAMETERS) == f"{kernel} is no longer read"
    assert reason(PARAMETERS | {"code_of_kernelsweep": ""}, kernel) == "the code of kernelsweep is new"
    (tmp_path / "more.cuh").touch()
    assert reason(PARAMETERS, kernel, tmp_path / "more.cuh") == f"{tmp_path}/more.cuh is new"
    assert json.loads(Path(record).read_text(encoding="utf-8"))["outputs"] == {}


def test_a_plans_record_counts_but_for_what_only_says_how_an_edit_is_judged(tmp_path: Path) -> None:
    record = str(tmp_path / "job.json")
    own = KernelPlan("journal", 0, {"axes": []}, None, {}, {}, is_candidate=False, seed=1)
    keep(record, sources_of({"plan": own}, []), [])
    other_way = replace(own, margin=0.1, processes=8, decides=True)
    assert reason_to_run(record, sources_of({"plan": other_way}, []), []) == ""
    for other in ({"seed": 2}, {"number": 1}, {"sweep": {"axes": [1]}}, {"search": {"budget": 3}}):
        reason = reason_to_run(record, sources_of({"plan": replace(own, **other)}, []), [])
        assert reason == f"{plans.IN_WORDS[next(iter(other))]} changed"


def test_why_a_job_runs_again_is_told_in_words() -> None:
    # Pins: "the edited changed", "the formats changed", and of a quick sweep "the kernels changed".
    of_plans = [plan for plan in vars(plans).values() if is_dataclass(plan)]
    reasons = {each.name for plan in of_plans for each in fields(plan) if each.metadata.get("is_reason", True)}
    assert reasons <= {*plans.IN_WORDS}


def test_a_job_on_another_machine_keeps_what_was_planned_unless_its_user_has_edited_it(tmp_path: Path) -> None:
    record = str(tmp_path / "job.json")

    def parameters(compiler: str, size: int) -> dict[str, Any]:
        build = BuildPlan({"units": [size], "of_machine": {"release": compiler}})
        return {"plan": build, PARAMETER: {"file": record, "planned": planned(record)}}

    plan(record, parameters("login's", 4))
    for compiler, size, is_still in (("node's", 4, True), ("login's", 8, False)):
        job = SimpleNamespace(params=parameters(compiler, size), input=InputFiles(fromdict={INPUT: "a mark"}))
        keep(record, sources_of_job(job), [])
        assert (reason_to_run(record, sources_of(parameters("login's", 4), []), []) == "") == is_still
        assert (reason_to_run(record, sources_of(parameters(compiler, size), []), []) == "") != is_still
