"""The figures: the same bytes for the same data, a file in every format, an honest picture when data are missing."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from synthetic_sweep import BLOCK_SIZES, EMULATOR, H200, SIZES, UNROLLING, WARP_SHUFFLE, fail, sweep

from kernelsweep.figures import bandwidth, block_unroll, correctness, ladder, style
from kernelsweep.published import load_published

ROOT = Path(__file__).parents[1]
MODULES = (ladder, bandwidth, block_unroll, correctness)


def draw(module: ModuleType, study: dict[str, Any], rows: pandas.DataFrame, device: dict[str, Any]) -> Figure:
    figure = module.draw(study, rows, device, load_published(study["published"], ROOT / "resources/published"))
    assert isinstance(figure, Figure)
    return figure


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text()]


@pytest.mark.parametrize("module", MODULES)
def test_the_files_do_not_depend_on_the_run_or_the_row_order(module: ModuleType, tmp_path: Path) -> None:
    rows = fail(sweep(UNROLLING, H200), "timed_out", "too slow", kernel="neighbored", block_size=64)
    first = draw(module, UNROLLING, rows, H200)
    second = draw(module, UNROLLING, rows.sample(frac=1, random_state=1), H200)
    for suffix in ("svg", "pdf"):
        style.save(first, tmp_path / f"first.{suffix}")
        style.save(second, tmp_path / f"second.{suffix}")
        assert (tmp_path / f"first.{suffix}").read_bytes() == (tmp_path / f"second.{suffix}").read_bytes()
    # TrueType, not Type 3, which journals refuse.
    assert b"/FontFile2" in (tmp_path / "first.pdf").read_bytes()
    assert b"/Type3" not in (tmp_path / "first.pdf").read_bytes()
    style.save(first, tmp_path / "first.png")
    assert (tmp_path / "first.png").read_bytes().startswith(b"\x89PNG")


ANOTHER_PROCESS = """
import sys
from pathlib import Path
from kernelsweep.figures import block_unroll, style
from synthetic_sweep import H200, WARP_SHUFFLE, sweep
for suffix in ("svg", "pdf"):
    style.save(block_unroll.draw(WARP_SHUFFLE, sweep(WARP_SHUFFLE, H200), H200, None), Path(f"{sys.argv[1]}.{suffix}"))
"""


def test_the_files_do_not_depend_on_the_process(tmp_path: Path) -> None:
    # Another hash seed and another second: sets in another order, and dates that must not get into the files.
    paths = os.pathsep.join([str(ROOT / "workflow/scripts"), str(ROOT / "tests")])
    environment = os.environ | {"PYTHONPATH": paths, "PYTHONHASHSEED": "1"}
    subprocess.run([sys.executable, "-c", ANOTHER_PROCESS, str(tmp_path / "there")], env=environment, check=True)
    for suffix in ("svg", "pdf"):
        figure = block_unroll.draw(WARP_SHUFFLE, sweep(WARP_SHUFFLE, H200), H200, None)
        style.save(figure, tmp_path / f"here.{suffix}")
        assert (tmp_path / f"here.{suffix}").read_bytes() == (tmp_path / f"there.{suffix}").read_bytes()


def drawn_texts(figure: Figure) -> list[Text]:
    """The texts that the figure shows: not the labels of ticks beyond their axis, which matplotlib keeps as well."""
    hidden = set()
    for axis in [axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]:
        low, high = sorted(axis.get_view_interval())
        beyond = [tick for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high]
        hidden |= {label for tick in beyond for label in (tick.label1, tick.label2)}
    every = [text for text in figure.findobj(Text) if isinstance(text, Text)]
    return [text for text in every if text.get_visible() and text.get_text() and text not in hidden]


@pytest.mark.parametrize("study", [UNROLLING, WARP_SHUFFLE], ids=["unrolling", "warp_shuffle"])
@pytest.mark.parametrize("module", MODULES)
def test_texts_stay_inside_clear_of_each_other_and_legible(module: ModuleType, study: dict[str, Any]) -> None:
    figure = draw(module, study, sweep(study, H200), H200)
    assert figure.get_figwidth() in (style.ONE_COLUMN_IN, style.TWO_COLUMN_IN)
    figure.draw_without_rendering()
    shown = drawn_texts(figure)
    assert len(shown) > len(study["kernels"])
    # A pixel is 0.72 pt here: descenders may touch the line below, letters may not.
    boxes = [(text.get_text(), text.get_window_extent().padded(-1)) for text in shown]
    for text, box in boxes:
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, text
        assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1, text
    assert [(one, other) for (one, a), (other, b) in combinations(boxes, 2) if a.overlaps(b)] == []
    assert min(float(text.get_fontsize()) for text in shown) >= 7


@pytest.mark.parametrize("module", MODULES)
def test_every_figure_says_where_its_numbers_come_from(module: ModuleType) -> None:
    for device in (H200, EMULATOR):
        figure = draw(module, WARP_SHUFFLE, sweep(WARP_SHUFFLE, device), device)
        said = " ".join(texts(figure))
        assert device["provenance"][1:] in said


@pytest.mark.parametrize("module", [ladder, bandwidth, block_unroll])
def test_emulated_times_are_never_drawn(module: ModuleType) -> None:
    rows = sweep(UNROLLING, H200)
    with_emulator = draw(module, UNROLLING, rows, EMULATOR)
    without = draw(module, UNROLLING, sweep(UNROLLING, EMULATOR), EMULATOR)
    assert texts(with_emulator) == texts(without)
    assert "no times" in " ".join(texts(with_emulator)).lower()
    assert len(with_emulator.findobj()) == len(without.findobj())


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize(
    "rows",
    [
        sweep(UNROLLING, H200).iloc[:0],
        sweep(UNROLLING, H200, sizes=SIZES[:1], block_sizes=BLOCK_SIZES[:1]),
        fail(sweep(UNROLLING, H200), "out_of_memory", "8 GiB do not fit"),
        fail(sweep(UNROLLING, H200), "skipped", "too slow", kernel="neighbored"),
        sweep(UNROLLING, H200).query("kernel == 'unrolled_warps_volatile'"),
    ],
    ids=["no rows", "reference not in the sweep", "all failed", "first step skipped", "only undefined behaviour"],
)
def test_missing_data_are_drawn_as_missing(module: ModuleType, rows: pandas.DataFrame, tmp_path: Path) -> None:
    # Without published times either, nothing is left to draw where no point is right.
    published = UNROLLING["published"] if (rows["status"] == "ok").any() else None
    figure = draw(module, UNROLLING | {"published": published}, rows, H200)
    style.save(figure, tmp_path / "figure.svg")
    said = " ".join(texts(figure))
    assert "nan" not in said
    if published is None:
        assert "No " in said or "0 of " in said or "Nothing" in said


def test_a_failed_step_is_named_in_the_ladder_in_place_of_its_time() -> None:
    rows = fail(sweep(UNROLLING, H200), "launch_failed", "", keep_time=True, kernel="interleaved")
    said = texts(draw(ladder, UNROLLING, rows, H200))
    assert "launch failed" in said
    assert "99.0" not in said
    assert "117" in said


def test_failed_points_are_marked_in_the_heat_maps() -> None:
    rows = fail(sweep(WARP_SHUFFLE, H200), "wrong_result", "", kernel="shuffle", unroll=4, block_size=64)
    said = texts(draw(block_unroll, WARP_SHUFFLE, rows, H200))
    assert said.count("W") == 1
    assert any("W wrong result" in text for text in said)
    said = texts(draw(correctness, WARP_SHUFFLE, rows, H200))
    assert said.count("18/20\n2 W") == len(SIZES)
    assert "464 of 480 points tried gave the right result." in said


def test_skipped_points_do_not_count_as_wrong() -> None:
    rows = fail(sweep(WARP_SHUFFLE, EMULATOR), "skipped", "too slow to emulate", array_size=2**30)
    said = texts(draw(correctness, WARP_SHUFFLE, rows, EMULATOR))
    assert "All 420 points tried gave the right result; 60 were skipped." in said
    assert said.count("S") == 3
    assert any("too slow to emulate" in text for text in said)


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.svg"):
        style.save(Figure(), tmp_path / "figure.gif")
