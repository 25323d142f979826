"""Metrics in figures: with the published values, or the reason for a gap."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy
import pandas
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from synthetic_sweep import H200, shipped_data

from kernelsweep.analysis.metric_rows import load_metrics
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.errors import UserError
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


def draw(name: str, data: StudyData) -> Figure:
    figure = import_module(f"kernelsweep.publish.figures.{name}").draw(data)
    assert isinstance(figure, Figure)
    return figure


def said(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(Text) if isinstance(text, Text))


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
    printed, _, ours = (dots[:, 0] for one in axes.collections if len(dots := numpy.ma.getdata(one.get_offsets())) == 5)
    assert list(printed) == [1.7, 1.87, 1.09, 3.3, 5.3], "and none that the source only words"
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
