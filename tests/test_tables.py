"""A study's table: the right numbers beside each other, none where there is none, in all three formats."""

from __future__ import annotations

import shutil
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

import pandas
import pytest
from synthetic_sweep import EMULATOR, H200, UNROLLING, WARP_SHUFFLE, fail, sweep

from kernelsweep.errors import UserError
from kernelsweep.measurements import load_measurements
from kernelsweep.published import Published, load_published
from kernelsweep.tables import TIME_COLUMNS, as_csv, as_latex, as_markdown, study_table

RESOURCES = Path(__file__).parents[1] / "resources/published"


def published(study: dict[str, Any]) -> Published:
    figures = load_published(study["published"], RESOURCES)
    assert figures is not None
    return figures


def markdown_row(text: str, start: str) -> list[str]:
    """The cells of the Markdown table's row that begins with `start`."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {start}")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_measured_and_published_figures_stand_beside_each_other() -> None:
    table = study_table(UNROLLING, sweep(UNROLLING, H200), H200, published(UNROLLING))
    steps = list(zip(table["kernel"], table["unroll"], strict=True))
    assert steps == [(step["kernel"], step["unroll"]) for step in UNROLLING["ladder"]]
    row = table.iloc[steps.index(("unrolled", 8))]
    assert row["time_us"] == 27.0
    assert row["speedup"] == pytest.approx(214.0 / 27.0)
    assert row["published_time_us"] == 116.6
    assert row["published_speedup"] == pytest.approx(555.2 / 116.6)
    # The article has no factor 16: our row keeps its own figures, and gets none of another row's.
    row = table.iloc[steps.index(("unrolled", 16))]
    assert row["time_us"] == 25.4
    assert pandas.isna(row["published_time_us"]) and pandas.isna(row["published_speedup"])


def test_a_published_row_without_a_counterpart_has_no_figures_of_ours() -> None:
    table = study_table(WARP_SHUFFLE, sweep(WARP_SHUFFLE, H200), H200, published(WARP_SHUFFLE))
    cpu = table.iloc[-1]
    assert (cpu["kernel"], cpu["published_time_us"]) == ("cpu", 5114.9)
    assert cpu["published_speedup"] == pytest.approx(255.6 / 5114.9)
    assert cpu[["unroll", *TIME_COLUMNS, "points_right"]].isna().all()
    text = as_markdown(table, WARP_SHUFFLE, H200, published(WARP_SHUFFLE))
    assert markdown_row(text, "`cpu`") == ["`cpu`", *["–"] * 7, "5114.9", "0.05×", "–"]


def test_the_row_order_of_the_measurements_does_not_show() -> None:
    rows = fail(sweep(UNROLLING, H200), "skipped", "too large", array_size=2**30)
    shuffled = rows.sample(frac=1, random_state=1)
    first, second = (study_table(UNROLLING, each, H200, published(UNROLLING)) for each in (rows, shuffled))
    assert as_csv(first) == as_csv(second)


def test_a_failed_point_shows_its_status_and_never_a_time() -> None:
    # The stray time must not show even if a row carries one against the contract.
    where = {"kernel": "shuffle", "unroll": 4, "array_size": 2**24, "block_size": 256}
    rows = fail(sweep(WARP_SHUFFLE, H200), "wrong_result", "got 3 | expected 4", keep_time=True, **where)
    table = study_table(WARP_SHUFFLE, rows, H200, published(WARP_SHUFFLE))
    step = table[(table["kernel"] == "shuffle") & (table["unroll"] == 4)].iloc[0]
    assert step[list(TIME_COLUMNS)].isna().all()
    assert (step["points_right"], step["points_run"], step["failures"]) == (158, 160, "2 wrong_result")
    text = as_markdown(table, WARP_SHUFFLE, H200, published(WARP_SHUFFLE))
    row = markdown_row(text, "`shuffle` <sup>1</sup>")
    assert row[3:8] == ["wrong result", "–", "–", "–", "–"]
    assert row[-1] == "158 of 160; 2 wrong result"
    assert "got 3 | expected 4" in text


def test_without_the_first_step_there_is_no_speedup() -> None:
    rows = fail(sweep(WARP_SHUFFLE, H200), "timed_out", "", kernel="global_memory", unroll=1)
    table = study_table(WARP_SHUFFLE, rows, H200, published(WARP_SHUFFLE))
    assert table["speedup"].isna().all()
    assert table["time_us"].notna().sum() == 5
    assert table["published_speedup"].iloc[2] == pytest.approx(255.6 / 150.5)


def test_skipped_points_are_counted_apart_from_wrong_ones() -> None:
    rows = fail(sweep(WARP_SHUFFLE, H200), "skipped", "too large", array_size=2**30)
    table = study_table(WARP_SHUFFLE, rows, H200, None)
    assert table["failures"].eq("").all()
    text = as_markdown(table, WARP_SHUFFLE, H200, None)
    assert text.count("140 of 140; 20 skipped") == len(WARP_SHUFFLE["ladder"])


def test_emulated_times_are_never_shown() -> None:
    rows = sweep(UNROLLING, EMULATOR).assign(time_us=123456.0, time_low_us=123455.0, time_high_us=123457.0)
    table = study_table(UNROLLING, rows, EMULATOR, published(UNROLLING))
    assert not set(TIME_COLUMNS) & set(table.columns)
    assert table["published_time_us"].iloc[0] == 555.2
    for text in (
        as_csv(table),
        as_markdown(table, UNROLLING, EMULATOR, published(UNROLLING)),
        as_latex(table, UNROLLING, EMULATOR, published(UNROLLING)),
    ):
        assert "12345" not in text
        assert "555.2" in text
    assert "No times of ours" in as_markdown(table, UNROLLING, EMULATOR, published(UNROLLING))


def test_undefined_behaviour_is_a_footnote() -> None:
    table = study_table(UNROLLING, sweep(UNROLLING, H200), H200, None)
    text = as_markdown(table, UNROLLING, H200, None)
    assert markdown_row(text, "`unrolled_warps_volatile` <sup>1</sup>")
    assert "<sup>1</sup> Undefined behaviour" in text


def test_csv_gives_the_numbers_back() -> None:
    table = study_table(UNROLLING, sweep(UNROLLING, H200), H200, published(UNROLLING))
    back = pandas.read_csv(StringIO(as_csv(table)))
    assert list(back["time_us"]) == list(table["time_us"])
    assert list(back["published_time_us"].dropna()) == list(table["published_time_us"].dropna())


def test_latex_is_escaped_and_regular(tmp_path: Path) -> None:
    rows = fail(sweep(UNROLLING, H200), "launch_failed", "50% of {x} & #1_a ~ $", kernel="unrolled", unroll=2)
    table = study_table(UNROLLING, rows, H200, published(UNROLLING))
    text = as_latex(table, UNROLLING, H200, published(UNROLLING))
    assert r"\texttt{completely\_unrolled\_template}" in text
    assert r"\label{tab:unrolling}" in text
    assert r"50\% of \{x\} \& \#1\_a \textasciitilde{} \$" in text
    body = text[text.index(r"\midrule") : text.index(r"\bottomrule")]
    separators = {line.replace(r"\&", "").count("&") for line in body.splitlines() if line.endswith(r"\\")}
    assert separators == {text[text.index("@{}l") : text.index(r"\toprule")].count("r")}
    assert text.isascii()
    if shutil.which("pdflatex"):
        document = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{text}\end{{document}}"
        (tmp_path / "table.tex").write_text(document, encoding="utf-8")
        subprocess.run(["pdflatex", "-halt-on-error", "table.tex"], cwd=tmp_path, check=True, capture_output=True)


def test_measurements_load_in_one_order_from_plain_and_compressed_files(tmp_path: Path) -> None:
    rows = fail(sweep(WARP_SHUFFLE, H200), "timed_out", "", kernel="shuffle", unroll=4)
    paths = []
    for kernel, suffix in (("shuffle", "csv"), ("global_memory", "csv.gz"), ("shared_memory", "csv")):
        paths.append(tmp_path / f"{kernel}.{suffix}")
        rows[rows["kernel"] == kernel].to_csv(paths[-1], index=False)
    loaded = load_measurements(paths)
    pandas.testing.assert_frame_equal(loaded, load_measurements(paths[::-1]))
    assert len(loaded) == len(rows)
    assert loaded.loc[loaded["status"] == "timed_out", "time_us"].isna().all()
    assert as_csv(study_table(WARP_SHUFFLE, loaded, H200, None)) == as_csv(study_table(WARP_SHUFFLE, rows, H200, None))
    with pytest.raises(UserError, match="twice"):
        load_measurements([paths[0], paths[0]])


def test_an_ambiguous_or_empty_selection_of_published_rows_is_refused() -> None:
    spec = UNROLLING["published"]
    with pytest.raises(UserError, match=r"published\.where"):
        load_published(spec | {"where": None}, RESOURCES)
    with pytest.raises(UserError, match=r"published\.where"):
        load_published(spec | {"where": {"run": "no such run"}}, RESOURCES)
    with pytest.raises(UserError, match=r"published\.file"):
        load_published(spec | {"file": "absent.csv"}, RESOURCES)
