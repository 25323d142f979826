"""A study with a problem of its own: its table, its best configurations, and its figures, from made-up times."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema
import pandas
import pytest
from checkout import ROOT
from drawn_texts import check_texts, drawn_texts
from made_settings import made
from synthetic_sweep import EMULATOR, H200, fail

import kernelsweep as ks
from kernelsweep.errors import UserError
from kernelsweep.judge.best.best_file import best_json, read_best
from kernelsweep.judge.best.best_words import best_text
from kernelsweep.judge.best.find import find_best, find_uses
from kernelsweep.judge.claims.claim import check_claims, own_claims
from kernelsweep.judge.claims.judge import judge
from kernelsweep.judge.data.measurements import load_measurements
from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.publish.drawing.layout import WIDTHS
from kernelsweep.publish.figure_files import check_figures
from kernelsweep.publish.tables.formats import TableText, as_markdown
from kernelsweep.publish.tables.study_table import study_table
from kernelsweep.publish.tables.table_text import table_text
from kernelsweep.results import MEASUREMENT_COLUMNS, point_columns, write_rows
from kernelsweep.study.study import Study, read_study

PROBLEM = """
import numpy as np

def inputs(random, n): return {"a": random.random(n, np.float32)}
def outputs(n, tile): return {"b": ((n, tile), np.float32)}
def reference(a): return {"b": a}
def error_bound(): return {"b": 0.0}
def work(n): return {"flops": 2 * n**3}
"""
STUDY = """
title: A product of matrices
problem: kernels/product/problem.py
axes: {n: [1024, 2048, 4096], block_x: [16, 32, 64], tile: [1, 2, 4], order: [rows, columns]}
kernels:
  - name: naive
    launches: [{grid: [n], block: [block_x], arguments: [b, a]}]
  - name: tiled
    launches: [{grid: [n], block: [block_x], arguments: [b, a]}]
rivals:
  - {call: "cublas_matmul<order>", arguments: [b, a, a, n, n, n]}
limits: [copy]
claims:
  - {claim: The fastest reaches half of cuBLAS., reference_kernel: cublas_matmul, relation: at_least, value: 0.5}
  - {claim: The naive one does., kernel: naive, reference_kernel: cublas_matmul, relation: at_least, value: 0.5}
  - {claim: Not rows., kernel: tiled, reference_kernel: limit_copy, relation: above, value: 0.4, at: {order: columns}}
  - {claim: It was measured., reference_kernel: limit_copy, relation: above, value: 1, at: {n: 2048}}
figures: FIGURES
"""
FIGURES = ("lines", "heatmap", "ladder")
# What each value costs, by axis; tile 1 and 2 can't be told apart.
COSTS: dict[str, dict[Any, float]] = {
    "kernel": {"naive": 4.0, "tiled": 1.0},
    "block_x": {16: 1.5, 32: 1.0, 64: 1.2},
    "tile": {1: 1.0, 2: 1.001, 4: 1.3},
    "order": {"rows": 1.0, "columns": 1.1},
}


def study(root: Path, figures: str = "[lines, heatmap]", problem: str = PROBLEM, further: str = "") -> Study:
    (root / "kernels/product").mkdir(parents=True, exist_ok=True)
    (root / "config/studies").mkdir(parents=True, exist_ok=True)
    if not (root / "workflow").exists():
        (root / "workflow").symlink_to(ROOT / "workflow")
    (root / "kernels/product/problem.py").write_text(problem)
    for kernel in ("naive", "tiled"):
        (root / f"kernels/product/{kernel}.cu").write_text("__global__ void k() {}\n")
    (root / "config/studies/product.yaml").write_text(STUDY.replace("FIGURES", figures) + further)
    return read_study("product", root)


def row(kernel: str, point: dict[str, Any], device: dict[str, Any]) -> dict[str, Any]:
    known = {"study": "product", "kernel": kernel, "platform": device["platform"], "device": device["name"]}
    found: dict[str, Any] = {**known, **point_columns(point), "status": "ok"}
    if device["kind"] == "gpu":
        time_us = 40 * (point["n"] / 1024) ** 3
        for axis, costs in COSTS.items():
            time_us *= costs[{**point, "kernel": kernel}[axis]]
        found |= {"time_us": time_us, "time_low_us": 0.997 * time_us, "time_high_us": 1.004 * time_us}
        found |= {"gflops": 2 * point["n"] ** 3 / time_us / 1e3, "work": f"flops={2 * point['n'] ** 3}"}
    return found


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("own")


@pytest.fixture
def here(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The study's folder, from which jobs run."""
    monkeypatch.chdir(root)
    return root


def made_up(root: Path, device: dict[str, Any] = H200) -> StudyData:
    settings = study(root).settings
    axes = {"n": [1024, 2048, 4096], **{axis: list(costs) for axis, costs in COSTS.items() if axis != "kernel"}}
    points = [dict(zip(["cache", *axes], ["cold", *values], strict=True)) for values in product(*axes.values())]
    rows = [row(kernel, point, device) for kernel in ("naive", "tiled") for point in points]
    # cuBLAS takes 25 µs for rows, and 22 µs for columns; a copy takes 20 µs, and has no axes of kernels.
    beside = [
        ("cublas_matmul", {"order": "rows"}, 25.0),
        ("cublas_matmul", {"order": "columns"}, 22.0),
        ("limit_copy", {}, 20.0),
    ]
    for name, axes_of_call, time_us in beside if device["kind"] == "gpu" else []:
        point = {"cache": "cold", "n": 1024, **axes_of_call}
        times = {"time_us": time_us, "time_low_us": time_us, "time_high_us": time_us}
        rows.append(
            {
                **row("tiled", {**point, "block_x": 32, "tile": 1, "order": "rows"}, device),
                **point_columns(point),
                **times,
                "kernel": name,
                "work": "",
            }
        )
    write_rows(root / "measurements.csv", MEASUREMENT_COLUMNS, rows)
    return StudyData(settings, load_measurements([root / "measurements.csv"]), device)


def table_of(data: StudyData) -> tuple[pandas.DataFrame, TableText]:
    table = study_table(data)
    return table, table_text(table, data)


def test_claims_compare_the_fastest_configurations_with_rivals_and_limits(here: Path) -> None:
    def judged(data: StudyData) -> list[tuple[str, float | None, str]]:
        claims = own_claims("product", data.settings.claims)
        return [
            (one.verdict, one.measured and round(one.measured.value, 3), one.message) for one in judge(claims, data, {})
        ]

    data = made_up(here)
    assert judged(data) == [
        ("holds", 22 / 40, ""),
        ("does not hold", 0.138, ""),
        ("holds", 0.455, ""),  # The driver's copy doesn't know `order`.
        ("not measured", None, "limit_copy at cache=cold n=2048 is not in this sweep"),
    ]
    rows = data.measurements
    stopped = fail(rows, "skipped", "torch is not installed", kernel="cublas_matmul")
    assert judged(replace(data, measurements=stopped))[0][0] == "not measured"
    assert "cublas_matmul: skipped: torch is not installed" in judged(replace(data, measurements=stopped))[0][2]
    assert {one[2] for one in judged(made_up(here, EMULATOR))} == {"no times on this platform"}
    check_claims(data.settings, study(here).kernels, study(here).file)
    for wrong, message in (
        ({"reference_kernel": "cublas_matmull"}, "did you mean 'cublas_matmul'"),
        ({"kernel": "cublas_matmul"}, "Allowed: naive, tiled"),
        ({"quantity": "speedups"}, "quantity is 'speedups'; did you mean 'speedup'"),
        ({"reference_kernel": None}, "reference_kernel is missing: a speedup compares two kernels"),
    ):
        settings = made(data.settings) | {"claims": [{**data.settings.claims[0].values(), **wrong}]}
        with pytest.raises(UserError, match=re.escape(message)):
            check_claims(settings, study(here).kernels, study(here).file)


def test_axes_are_typed_and_the_table_has_each_kernels_best_with_its_ties(here: Path) -> None:
    data = made_up(here)
    assert data.measurements["n"].dtype == "Int64" and data.measurements["array_size"].isna().all()
    table, text = table_of(data)
    naive, tiled, *beside = table.to_dict("records")
    assert [row["kernel"] for row in beside] == ["cublas_matmul", "cublas_matmul", "limit_copy"]
    best = {"n": 1024, "cache": "cold", "block_x": 32, "tile": 1, "order": "rows", "time_us": 40.0}
    assert best.items() <= tiled.items()
    assert (naive["speedup"], tiled["speedup"], tiled["compared"], tiled["as_fast"]) == (1, 4, 18, "tile=2")
    assert tiled["speedup_low"] < 4 < tiled["speedup_high"] and tiled["gflops"] == pytest.approx(53687, abs=1)
    markdown = as_markdown(text)
    assert "n=1024, cold cache." in markdown and "GB/s" not in markdown


def test_best_configurations_are_named_by_the_studys_axes(here: Path) -> None:
    data = made_up(here)
    found = find_best("product", data)
    document = json.loads(
        best_json(found, find_uses("product", data), ["product"], {**H200, "compute_capability": "9.0"})
    )
    schema = json.loads((ROOT / "workflow/schemas/best.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    entry = document["entries"][3]
    assert (entry["kernel"], entry["point"]) == ("tiled", {"n": 1024, "cache": "cold"})
    assert entry["fastest"]["parameters"] == {"block_x": 32, "tile": 1, "order": "rows"}
    assert [tie["parameters"]["tile"] for tie in entry["ties"]] == [2]
    text = re.sub(r" +", " ", best_text(found, [], {"product": data.settings}, H200))
    assert "| `tiled` | block_x=32 tile=1 order=rows | 2,560.00 | 2,552.32–2,570.24 | 53,687 | tile=2 |" in text
    (here / "best.json").write_text(json.dumps(document))
    assert read_best(here / "best.json").use == find_uses("product", data)
    frame = ks.load(here).best("product")
    assert list(frame["kernel"]) == [best.kernel for best in found] and str(frame["ties"].dtype) == "Int64"
    assert list(frame["time_us"]) == [best.fastest.time_us for best in found]


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_any_axes_are_legible(name: str, here: Path) -> None:
    drawing = import_module(f"kernelsweep.publish.figures.{name}").draw(made_up(here), WIDTHS["two_columns"])
    figure = drawing.figure
    check_texts(figure, 8)
    texts = " ".join([text.get_text() for text in drawn_texts(figure)] + [drawing.message])
    shown = {"lines": "naive", "heatmap": "53.7"}
    shown["ladder"] = "tiled is 4.00 times as fast as naive, at n=1024, each at its fastest."
    texts = texts.replace("\n", " ")
    assert shown[name] in texts
    if name == "ladder":
        rows = ["naive", "tiled", "cublas_matmul", "the driver's copy", "cublas_matmul"]
        labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
        assert all(label.startswith(row) for label, row in zip(labels, rows, strict=True)), labels


def test_axes_of_figures_are_the_studys_choice(here: Path) -> None:
    chosen = study(here, "[{lines: {x: tile, by: order}}, {heatmap: {x: n, y: kernel}}]")
    check_figures(chosen)
    data = StudyData(chosen.settings, made_up(here).measurements, H200)
    figure = import_module("kernelsweep.publish.figures.lines").draw(data).figure
    assert figure.axes[0].get_xlabel() == "tile"
    assert [text.get_text() for text in figure.axes[0].texts] == ["37.5", "columns", "41.3", "rows"], "from below"
    figure = import_module("kernelsweep.publish.figures.heatmap").draw(data).figure
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["naive", "tiled"]
    for figures, mistake in (
        ("[{lines: {x: tiles}}]", "figures: lines: x is 'tiles'; did you mean 'tile'?"),
        ("[{lines: {show: gflop}}]", "figures: lines: show is 'gflop'; did you mean 'gflops'?"),
        ("[lanes]", "figures: lanes needs the axis array_size, which the study lacks"),
        ("[{lines: {z: n}}]", "figures: lines has 'z'. Allowed: x, by"),
        ("[lines, {lines: {x: n}}]", "figures lists 'lines' twice"),
    ):
        with pytest.raises(UserError) as error:
            check_figures(study(here, figures))
        assert mistake in str(error.value)
