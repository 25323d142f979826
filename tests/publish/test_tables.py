"""A study's table: the right numbers beside each other, none where there is none, in all three formats."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pandas
import pytest
from recorded import recorded
from synthetic_sweep import EMULATOR, H200, WARP_SHUFFLE, fail, sweep

from kernelsweep.judge.data.study_data import Metrics, StudyData
from kernelsweep.publish.tables.formats import TableText, as_markdown
from kernelsweep.publish.tables.study_table import TIME_COLUMNS, study_table
from kernelsweep.publish.tables.table_text import table_text


def text_of(data: StudyData) -> TableText:
    return table_text(study_table(data), data)


def markdown(study: dict[str, Any], rows: pandas.DataFrame, device: dict[str, Any]) -> str:
    return as_markdown(text_of(StudyData(study, rows, device)))


def markdown_row(text: str, start: str) -> list[str]:
    """The cells of the Markdown table's row that begins with `start`."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {start}")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_failed_point_shows_its_status_and_never_a_time() -> None:
    # The stray time must not show even if a row carries one against the contract.
    where = {"kernel": "shuffle", "unroll": 4, "array_size": 2**24, "block_size": 256}
    rows = fail(sweep(WARP_SHUFFLE, H200), "wrong_result", "got 3 | expected 4", keep_time=True, **where)
    table = study_table(StudyData(WARP_SHUFFLE, rows, H200))
    step = table[(table["kernel"] == "shuffle") & (table["unroll"] == 4)].iloc[0]
    assert step[["time_us", "bandwidth_gbs", "speedup"]].isna().all()
    assert (step["points_right"], step["points_run"], step["failures"]) == (158, 160, "2 wrong_result")
    text = markdown(WARP_SHUFFLE, rows, H200)
    row = markdown_row(text, "`shuffle` <sup>1</sup>")
    assert [*row[2:4], *row[5:8]] == ["wrong result", "–", "–", "–", "–"]
    assert row[-1] == "158 of 160; 2 wrong result"
    assert "got 3 | expected 4" in text


def test_nothing_is_called_faster_than_a_first_step_with_undefined_behaviour() -> None:
    rows = sweep(WARP_SHUFFLE, H200)
    assert study_table(StudyData(WARP_SHUFFLE, rows, H200))["speedup"].notna().all()
    rows.loc[rows["kernel"] == WARP_SHUFFLE["steps"][0]["kernel"], "flags"] = "undefined_behaviour"
    table = study_table(StudyData(WARP_SHUFFLE, rows, H200))
    assert table["time_us"].notna().all() and table[["speedup", "speedup_low", "speedup_high"]].isna().all(axis=None)


def test_counts_of_a_study_whose_own_axis_has_the_name_of_a_column_are_no_size() -> None:
    # `count`, then the study: it ended with a stack.
    of = recorded("transpose")
    counted = of.metrics.rows.head(4).assign(source="counted", width=pandas.NA)
    assert replace(of, metrics=Metrics(counted)).settings.reference == of.settings.reference


def floats(rows: pandas.DataFrame) -> pandas.DataFrame:
    """The same points in float32, repeated without a change of bits, with an error that grows with the array."""
    errors = rows["array_size"] / 2**24 * 1.25e-7
    return rows.assign(dtype="float32", bit_identical="yes", relative_error=errors)


FLOATS = WARP_SHUFFLE | {"reference": WARP_SHUFFLE["reference"] | {"dtype": "float32"}}


def test_how_far_floating_point_results_are_off_and_whether_they_repeat() -> None:
    rows = floats(sweep(WARP_SHUFFLE, H200, sizes=(2**20, 2**24, 2**26)))
    differs = (rows["kernel"] == "shuffle") & (rows["array_size"] == 2**26)
    rows.loc[differs, "bit_identical"] = "no"
    # Points in double precision count for the bits, and not for the largest error in single precision.
    doubles = rows[rows["unroll"] == 1].assign(dtype="float64", relative_error=1.0)
    rows = pandas.concat([rows, doubles], ignore_index=True)
    table = study_table(StudyData(FLOATS, rows, H200))
    shuffle = table[(table["kernel"] == "shuffle") & (table["unroll"] == 4)].iloc[0]
    assert shuffle["relative_error"] == 1.25e-7
    assert (shuffle["bit_identical_points"], shuffle["repeated_points"]) == (60, 90)
    text = markdown(FLOATS, rows, H200)
    (row,) = [line for line in text.splitlines() if re.match(r"\| `shuffle` +\| +4 ", line)]
    assert row.split("|")[-2].strip() == "1.2·10⁻⁷"
    # What is the same in all rows is a sentence, and no column.
    assert "All 270 points of these kernels' sweeps are right." in text and "right" not in markdown_row(text, "kernel")
    assert "Repeated runs left the same bits at 240 of 270 floating-point points." in text


def test_what_is_of_a_whole_sweep_says_so_and_without_times_the_sweep_is_named() -> None:
    rows = fail(sweep(WARP_SHUFFLE, EMULATOR, sizes=(1000, 2**20)), "wrong_result", "got 3", kernel="shuffle", unroll=4)
    text = markdown(WARP_SHUFFLE, rows, EMULATOR)
    # The reference point, at 2²⁴ elements, was not run; and the steps of a kernel share its sweep.
    assert "; array size 1,000 and 2²⁰; block size 64, " in text and "2²⁴" not in text
    assert text.count("| `shuffle`") == 1 and "unroll" not in markdown_row(text, "kernel")
    assert markdown_row(text, "`shuffle`")[-1] == "20 of 40; 20 wrong result"
    timed = markdown(WARP_SHUFFLE, fail(sweep(WARP_SHUFFLE, H200), "skipped", "", kernel="shuffle"), H200)
    assert markdown_row(timed, "kernel")[-1] == "right (all points)" and "array size 2²⁴" in timed


def test_a_study_of_outputs_has_its_kernels_and_no_times() -> None:
    data = recorded("exchanges")
    rows = fail(data.measurements, "wrong_result", "element 0: expected 2, found 0", kernel="rotate", array_size=16)
    table = study_table(replace(data, measurements=rows)).set_index("kernel")
    assert list(table.index) == [step.kernel for step in data.settings.steps] and not set(TIME_COLUMNS) & set(table)
    assert table.loc["rotate", "failures"].endswith("wrong_result") and not table.loc["butterfly", "failures"]


def test_libraries_and_limits_stand_beside_the_steps() -> None:
    # Pins: tf32's largest error, 6.2%, of cuBLAS in float32, too.
    precisions = study_table(recorded("matmul")).set_index(["kernel", "precision"])["error_share_high"]
    assert precisions["cublas_matmul"].to_dict() == {"float32": 0.00481, "tf32": 0.0615}
    # Pins: a library's row lost because it has no block size of ours; a limit taken at another size or of another type;
    # and the fraction of a limit given for a row without a time.
    data = recorded("bandwidth_bound")
    study, measurements = data.settings, fail(data.measurements, "skipped", "it is not installed", kernel="torch")
    data = replace(data, measurements=measurements, metrics=Metrics())
    table = study_table(data).set_index("kernel")
    rivals = list(table.index[table["kind"] == "rival"])
    assert rivals[:2] == study.rival_names and "cub_not_guaranteed" in rivals, "which the study's file doesn't name"
    assert list(table.index[table["kind"] == "limit"]) == [*study.limits[:2], "limit_copy", "limit_fill"]
    at = measurements[(measurements["array_size"] == 2**28) & (measurements["dtype"] == "int32")]
    at = at[(at["operation"] == "sum") & (at["cache"] == "cold")]
    expected = {
        "read_only_fraction": at[at["kernel"] == "read_only"]["bandwidth_gbs"].max(),
        "copy_fraction": at[at["kernel"] == "limit_copy"]["bandwidth_gbs"].item(),
        "fill_fraction": at[at["kernel"] == "limit_fill"]["bandwidth_gbs"].item(),
    }
    for column, bandwidth in expected.items():
        for kernel in ("last_block", "cub"):
            assert table.loc[kernel, column] == pytest.approx(table.loc[kernel, "bandwidth_gbs"] / bandwidth)
    assert table.loc["torch", ["time_us", *expected]].isna().all()
    assert (table.loc["torch", "status"], table.loc["torch", "message"]) == ("skipped", "it is not installed")
    text = as_markdown(text_of(data))
    assert {"of read only", "of streaming read only", "of copy", "of fill"} < set(markdown_row(text, "kernel"))
    assert "skipped" in markdown_row(text, "`torch` <sup>2</sup>")
    # Pins: times at block size 512 alone, and nothing of a kernel that no step has.
    mailboxes, fastest = table.loc["mailboxes"], at[(at["kernel"] == "mailboxes")]["time_us"].min()
    assert (mailboxes["status"], mailboxes["fastest_us"]) == ("no_step", fastest) and pandas.isna(mailboxes["time_us"])
    assert table.loc["streaming_sum", "fastest"].startswith("1024 × 2 in ")

    emulated = measurements[measurements["kernel"].isin([kernel.name for kernel in study.kernels])]
    table = study_table(replace(data, measurements=emulated, device=EMULATOR))
    assert not set(study.rival_names) & set(table["kernel"])
    assert not set(expected) & set(table.columns)
