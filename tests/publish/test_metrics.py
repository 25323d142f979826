"""Metrics in tables and figures: beside their step, with the published values, or the reason for a gap."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import numpy
import pandas
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from synthetic_sweep import H200, shipped_data

from kernelsweep.analysis.metric_rows import load_metrics
from kernelsweep.analysis.step_metrics import step_metrics
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.errors import UserError
from kernelsweep.publish.tables.formats import as_csv, as_latex, as_markdown
from kernelsweep.publish.tables.ladder_table import study_table
from kernelsweep.publish.tables.of_study import table_of
from kernelsweep.results import METRIC_COLUMNS, write_rows
from kernelsweep.share.recording import record


def known(name: str, device: dict[str, Any] = H200) -> StudyData:
    """A shipped study with made-up measurements and made-up metrics."""
    return shipped_data(name, device["name"])


def with_rows(data: StudyData, rows: pandas.DataFrame) -> StudyData:
    """The data with other rows of metrics."""
    return replace(data, metrics=replace(data.metrics, rows=rows))


def changed(data: StudyData, where: str, **columns: Any) -> StudyData:
    """The data with other values in the rows of metrics that a query chooses."""
    rows = data.metrics.rows.copy()
    rows.loc[rows.query(where).index, list(columns)] = list(columns.values())
    return with_rows(data, rows)


def markdown(data: StudyData) -> str:
    return as_markdown(table_of(data)[1])


def counters(text: str) -> dict[str, list[str]]:
    """The cells of the table below by heading, in the steps' order."""
    lines = [line for line in text.partition("### Hardware counters")[2].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {header: [row[place] for row in cells[2:]] for place, header in enumerate(cells[0])}


def draw(name: str, data: StudyData) -> Figure:
    figure = import_module(f"kernelsweep.publish.figures.{name}").draw(data)
    assert isinstance(figure, Figure)
    return figure


def said(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(Text) if isinstance(text, Text))


def test_published_metrics_stand_beside_those_of_the_same_step() -> None:
    data = known("unrolling")
    cells = counters(markdown(data))
    assert cells["unroll"] == ["1", "1", "1", "2", "4", *["8"] * 7]
    assert cells["global load efficiency (%)"][0] == "25.00 (25.02)"
    assert cells["global load efficiency (%)"][6] == "99.98", "what is published is unrolled_warps_volatile"
    assert "In brackets: published.\n" in markdown(data)
    back = pandas.read_csv(StringIO(as_csv(table_of(data)[0])))
    theirs = back["published_global_load_efficiency (%)"]
    assert list(theirs.dropna()) == [25.02, 25.02, 96.15, 98.04, 98.68, 99.21, 99.43, 99.43, 99.43]
    assert pandas.isna(theirs[6]), "what is published is unrolled_warps_volatile"
    assert back["global_load_efficiency (%)"][0] == 25.0


def test_metrics_of_another_kind_of_device_are_compared_by_their_changes() -> None:
    data = known("stepwise")
    text = markdown(data)
    cells = counters(text)
    assert "another kind of device only directions and ratios" in text
    # As published: 37.38, 53.2, 48.38 active threads of 64; 45 bank conflicts, then none.
    assert data.published is not None and data.published.metric("strided_index", 1, "executing_threads") == 53.2
    assert "45.00" not in text
    ours = cells["executing threads"]
    assert ours[0] == "467.0" and ours[1] == f"267.0 ({(400 / 2 + 67) / (400 + 67):.2f}×; 1.42×)"
    assert "In brackets: the value over the step before's; the same, published." in text


def test_a_gap_has_a_footnote_that_says_why() -> None:
    data = known("unrolling")
    data = changed(data, "kernel == 'interleaved'", value=float("nan"), message="No permission. Ask.")
    data = changed(
        data, "metric == 'memory_barrier_stall' and kernel != 'interleaved'", value=float("nan"), message="None."
    )
    text = markdown(data)
    cells = counters(text)
    assert cells["global load efficiency (%)"][2] == "– (96.15)"
    assert set(cells["memory barrier stall (%)"]) == {"–"}
    assert "</sup> No permission. Ask." in text
    assert "</sup> memory barrier stall: None." in text
    assert "`interleaved` <sup>2</sup>" in text


def test_a_study_that_was_not_profiled_has_no_second_table() -> None:
    data = known("unrolling")
    nothing = with_rows(data, data.metrics.rows.iloc[:0])
    assert "Hardware counters" not in markdown(nothing)
    assert list(table_of(nothing)[0]) == list(study_table(nothing))


def test_counters_of_another_build_are_not_set_beside_times() -> None:
    data = known("unrolling")
    data = replace(data, measurements=data.measurements.assign(binary_sha256="new"))
    data = changed(data, "kernel == 'unrolled'", binary_sha256="old")
    data = changed(data, "kernel == 'interleaved'", binary_sha256="new")
    found = step_metrics(data)
    stale = found[found["kernel"] == "unrolled"]
    assert len(stale) and stale["value"].isna().all() and stale["message"].str.startswith("Profiled in another").all()
    assert found.loc[found["kernel"] == "interleaved", "value"].notna().all()


def test_counters_have_tables_of_their_own_in_latex() -> None:
    tex = as_latex(table_of(known("unrolling"))[1])
    assert tex.count(r"\begin{tabular}{@{}l") == tex.count(r"\bottomrule") == 3
    assert tex.isascii() and r"global load\\efficiency\\(\%)" in tex
    assert r"\label{tab:unrolling-hardware-counters}" in tex


def test_each_metric_has_a_panel_with_an_axis_and_a_dot_a_step() -> None:
    data = known("stepwise")
    # One metric is the same in every step, and one step has no counters.
    data = changed(data, "metric == 'achieved_occupancy'", value=50.0)
    data = with_rows(data, data.metrics.rows.query("kernel != 'last_warp_shuffled'"))
    data = changed(data, "metric == 'branch' and kernel == 'cascaded'", value=9e3)
    figure = draw("metrics", data)
    threads, branches = figure.axes[:2]
    # The first steps would be squeezed beside so large a value.
    assert (threads.get_xscale(), branches.get_xscale()) == ("linear", "log")
    drawn = numpy.concatenate([numpy.ma.getdata(dots.get_offsets()) for dots in threads.collections[1:]])
    assert {467.0, 267.0} <= {*drawn[:, 0]} and len(threads.get_yticklabels()) == len(data.steps) - 1
    assert "9,000" in {text.get_text() for text in branches.texts}
    # Another maker's counters are in the table: their scale is another.
    assert "53.2" not in said(figure)
    assert "achieved occupancy (%)" not in [axes.get_title(loc="left") for axes in figure.axes]


def test_a_figure_without_metrics_says_so_in_words() -> None:
    data = known("unrolling")
    text = said(draw("metrics", with_rows(data, data.metrics.rows.iloc[:0])))
    assert "No hardware counters: this study has not been profiled" in text
    denied = changed(data, "value == value", value=float("nan"), message="No permission. Ask.")
    text = said(draw("metrics", denied))
    assert "No permission. Ask." in text and "nan" not in text


def test_published_ratios_stand_beside_ours_with_undefined_kernels_marked() -> None:
    data = shipped_data("unrolling", "NVIDIA H200")
    (axes,) = draw("ratios", data).axes
    # The published dots, their white insides, and ours.
    printed, _, ours = (dots[:, 0] for one in axes.collections if len(dots := numpy.ma.getdata(one.get_offsets())) == 6)
    assert list(printed) == [1.7, 1.87, 1.09, 3.3, 5.3, 1.0]
    times = {(row.kernel, row.unroll): row.time_us for row in data.at_reference().itertuples()}
    assert ours[0] == pytest.approx(times["neighbored", 1] / times["neighbored_less", 1])
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[3:5] == ["unrolled ×2\nover neighbored", "unrolled_warps_volatile ×8 †\nover neighbored"]


def test_metrics_load_with_or_without_what_the_contract_does_not_ask_for(tmp_path: Path) -> None:
    row = {
        **{"study": "s", "kernel": "k", "platform": "p", "array_size": 4, "block_size": 2, "unroll": 1},
        **{"dtype": "int32", "operation": "sum", "cache": "cold", "metric": "branch", "unit": "", "source": "ncu"},
    }
    write_rows(tmp_path / "whole.csv", METRIC_COLUMNS, [{**row, "value": "", "message": "why"}])
    short = [column for column in METRIC_COLUMNS[:13]]
    write_rows(tmp_path / "short.csv", short, [{**row, "value": "2.5", "source": "counted"}])
    found = load_metrics([tmp_path / "whole.csv", tmp_path / "short.csv"])
    assert sorted(found["source"]) == ["counted", "ncu"]
    assert found["value"].isna().sum() == 1 and found["value"].max() == 2.5
    assert set(found["message"]) == {"", "why"}
    write_rows(tmp_path / "wrong.csv", short[:-2], [{key: row[key] for key in short[:-2]}])
    with pytest.raises(UserError, match="no column value, source"):
        load_metrics([tmp_path / "wrong.csv"])


def test_a_recording_keeps_the_metrics_where_there_are_any(tmp_path: Path) -> None:
    results, folder = tmp_path / "results", tmp_path / "recording"
    results.mkdir()
    for name in ("measurements.csv", "builds.csv", "environment.json", "metrics.csv"):
        (results / name).write_text(name)
    record(results, folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "builds.csv",
        "environment.json",
        "measurements.csv.gz",
        "metrics.csv.gz",
    ]
    # Measured again and not profiled: the old counters don't stay beside the new times.
    (results / "metrics.csv").unlink()
    record(results, folder)
    assert not (folder / "metrics.csv.gz").exists()
