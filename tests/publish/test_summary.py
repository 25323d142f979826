"""The summary lists the failures, and a run succeeds or fails accordingly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from made_settings import made
from synthetic_sweep import row_counts

from kernelsweep.compile.unit_store import UnitStore, text_name
from kernelsweep.judge.data.row_counts import PlannedKernel, is_failure
from kernelsweep.publish.summary import failures, incomplete_run, summary_text
from kernelsweep.results import STATUSES

MESSAGE = "expected 4065, found 7"


def row(status: str, kernel: str = "unrolled", **columns: str) -> dict[str, str]:
    """A row of measurements.csv, as texts."""
    return {
        "study": "unrolling",
        "kernel": kernel,
        "array_size": "65537",
        "block_size": "512",
        "unroll": "8",
        "dtype": "float32",
        "operation": "maximum",
        "cache": "hot",
        "status": status,
        "message": "" if status == "ok" else MESSAGE,
        "flags": "",
        **columns,
    }


def listed(summary: str) -> list[str]:
    """The lines under the heading Failed."""
    return [line for line in summary.partition("## Failed")[2].splitlines() if line]


@pytest.mark.parametrize("status", STATUSES)
def test_what_makes_a_run_fail(status: str) -> None:
    # Pins: a wrong result that ends with exit status 0, and a sweep that fails for asking for more than the memory.
    # noisy is a remark on a time, and excuses nothing.
    bad = status in ("wrong_result", "launch_failed", "timed_out", "build_failed", "implausible")
    assert is_failure(row(status, flags="noisy")) == bad


def test_undefined_behaviour_may_be_wrong_and_is_said_to_be_expected() -> None:
    excused = row("wrong_result", "unrolled_warps_volatile", flags="noisy undefined_behaviour")
    wrong = row("wrong_result")
    assert is_failure(wrong) and not is_failure(excused)
    summary = summary_text(row_counts([excused, wrong]), "here")
    (of_wrong,) = listed(summary)
    assert "unrolled, " in of_wrong
    alone = summary_text(row_counts([excused, row("ok")]), "here")
    assert alone.endswith("Every point that was run is right, apart from kernels with undefined behaviour.\n")
    assert not listed(alone)


def test_points_are_counted_by_study_and_status_and_skipped_ones_by_reason() -> None:
    reason = "block size 32: the kernel supports 64 to 1024"
    rows = [*[row("ok")] * 3, row("wrong_result"), *[row("skipped", "interleaved", message=reason)] * 2]
    summary = summary_text(row_counts(rows), "measured on a GPU")
    assert "6 points, measured on a GPU" in summary
    assert re.findall(r"\| unrolling +\| +(\d*) +\| +(\d*) +\| +(\d*) +\|", summary) == [("3", "2", "1")]
    assert f"unrolling/interleaved, 2 points: {reason}" in summary
    # Pins: "2 skipped" in the answer, without a word on why.
    assert row_counts(rows).why_skipped("unrolling") == f"“{reason}”"
    others = row_counts([*rows, row("skipped", message="torch is not installed")])
    assert others.why_skipped("unrolling") == f"“{reason}” (2); 1 other reason"
    assert len(listed(summary)) == 1


def planned(kernel: str = "unrolled", is_made: bool = True, cannot_run: str | None = None) -> PlannedKernel:
    return PlannedKernel("unrolling", kernel, cannot_run, is_made)


def test_a_kernel_that_was_not_run_is_named_and_fails_no_run_beside_others() -> None:
    plan = [planned(), planned("volatile", cannot_run="undefined behaviour: a race"), planned("interleaved", False)]
    counted = row_counts([*[row("ok")] * 3, *[row("skipped", "volatile")] * 3])
    assert not incomplete_run(counted, plan)
    summary = summary_text(counted, "here", planned=plan)
    assert (
        "## Not run\n\n- unrolling/volatile: undefined behaviour: a race\n- unrolling/interleaved: it has no rows, "
        in summary
    )
    # Where the platform can run none of a study's kernels, or a recording has none of them, no run has to fail.
    assert not incomplete_run(row_counts([row("skipped", "volatile")] * 3), plan[1:])


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({}, ". Nothing sets the __constant__ weights, which is 0: name it in the kernel's `constants`"),
        ({"constants": ["weights"]}, ""),
        ({"function": "plain"}, ""),
    ],
)
def test_a_wrong_result_tells_of_constants_that_nothing_sets(
    entry: dict[str, list[str]], told: str, tmp_path: Path
) -> None:
    source = """
    __constant__ float weights[3];
    __constant__ int known = 2;
    __global__ void filter(float *x) { x[0] = weights[known]; }
    __global__ void plain(float *x) { x[0] = 1; }
    """
    row = {
        "study": "own",
        "kernel": "filter",
        "status": "wrong_result",
        "message": "",
        "flags": "",
        "source_sha256": "",
    }
    studies = {"own": made({"kernels": [{"name": "filter", **entry}]})}
    (store := UnitStore(tmp_path)).keep_text(text_name("own", "filter", ""), source)
    (found,) = failures(row_counts([row]), [], studies, lambda _: [], store, {})
    assert found.where.endswith(f"First at {told}")


def test_a_failure_names_the_line_of_a_file_that_the_kernels_file_includes(tmp_path: Path) -> None:
    where = "reads x[9] at published/scale-1f2e3d4/src/scale.cu:41, out of bounds of the device buffer x of 9 elements"
    row = {"study": "own", "kernel": "scale", "status": "wrong_result", "message": f"expected 1.5, found 2; {where}"}
    rows = row_counts([{**row, "flags": "", "source_sha256": ""}])
    planned = [PlannedKernel("own", "scale", None, file="kernels/own/scale.cu")]
    studies = {"own": made({"kernels": [{"name": "scale"}]})}
    (found,) = failures(rows, planned, studies, lambda _: [], UnitStore(tmp_path), {})
    assert found.place == "published/scale-1f2e3d4/src/scale.cu:41"
