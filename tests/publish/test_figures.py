"""The figures: the same bytes for the same data, a file in every format, an honest picture when data are missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import pandas
import pytest
from checkout import ROOT
from drawn_texts import check_texts, contrast
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from pypdf import PdfReader
from recorded import recorded
from shipped_kernels import shipped_studies
from synthetic_sweep import BLOCK_SIZES, EMULATOR, H200, UNROLLING, WARP_SHUFFLE, fail, study_data, sweep

from kernelsweep.judge.data.words import device_text
from kernelsweep.publish.drawing import layout, palette
from kernelsweep.publish.drawing.figure_formats import QUICK_FORMATS, file_names
from kernelsweep.publish.figure_files import FIGURES
from kernelsweep.publish.figures import heatmap, ladder, lanes, lines
from kernelsweep.publish.swept import MOST_PLACES
from kernelsweep.publish.tables.study_table import study_table
from kernelsweep.results import PROOF_FAILED

# warp_shuffle with the heat map of its study's file.
BY_UNROLL = WARP_SHUFFLE | {"figures": [{"heatmap": {"x": "block_size", "y": "unroll", "show": "bandwidth_gbs"}}]}
# The height of a page's text, in inches, of the two-column papers that we know.
PAGE_IN = 9.2
# The studies in config/studies/ that have a figure, by its name, those with the longest ladders first.
LONGEST_FIRST = sorted(
    (study for study in shipped_studies() if study.settings.steps), key=lambda study: -len(study.settings.steps)
)
DRAWN = {study.name: study.settings.figure_axes for study in LONGEST_FIRST}
STUDIES = {
    figure: names for figure in FIGURES if (names := [one.name for one in LONGEST_FIRST if figure in DRAWN[one.name]])
}


def draw(
    module: ModuleType,
    study: dict[str, Any],
    rows: pandas.DataFrame,
    device: dict[str, Any],
    width: float = layout.TWO_COLUMNS,
) -> Figure:
    figure = module.draw(study_data(study, rows, device), width).figure
    assert isinstance(figure, Figure)
    return figure


def module_of(figure: str) -> Any:
    return import_module(f"kernelsweep.publish.figures.{figure}")


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text()]


ANOTHER_PROCESS = """
import sys
from dataclasses import replace
from pathlib import Path
from kernelsweep.publish.drawing import layout
from kernelsweep.publish.figures import ladder
from recorded import recorded
from synthetic_sweep import fail
data = recorded(sys.argv[2])
rows = fail(data.measurements, "timed_out", "too slow", block_size=64).sample(frac=1, random_state=1)
metrics = replace(data.metrics, rows=data.metrics.rows.iloc[::-1])
drawn = ladder.draw(replace(data, measurements=rows, metrics=metrics))
for suffix in ("svg", "pdf"):
    drawn.save(Path(sys.argv[1]) / f"ladder.{suffix}")
"""


def test_the_files_depend_on_the_data_alone(tmp_path: Path) -> None:
    # Another hash seed and another second: sets in another order, and dates that must not get into the files. Other
    # orders of rows. In the study with the fewest steps.
    study = STUDIES["ladder"][-1]
    paths = os.pathsep.join([str(ROOT / "workflow/scripts"), str(ROOT / "tests/support")])
    environment = os.environ | {"PYTHONPATH": paths, "PYTHONHASHSEED": "1"}
    there = tmp_path / "there"
    with subprocess.Popen([sys.executable, "-c", ANOTHER_PROCESS, str(there), study], env=environment) as run:
        data = recorded(study)
        rows = fail(data.measurements, "timed_out", "too slow", block_size=64)
        drawn = ladder.draw(replace(data, measurements=rows))
        for suffix in ("svg", "pdf"):
            drawn.save(tmp_path / f"ladder.{suffix}")
    assert run.returncode == 0
    here = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert len(here) == 2
    assert [name for name, content in here.items() if (there / name).read_bytes() != content] == []


def test_fonts_are_embedded_as_truetype_at_both_widths(tmp_path: Path) -> None:
    for name, width in layout.WIDTHS.items():
        figure = heatmap.draw(study_data(BY_UNROLL, sweep(WARP_SHUFFLE, H200), H200), width)
        (path,) = [tmp_path / file for file in file_names("figure", name) if file.endswith(".pdf")]
        figure.save(path)
        (page,) = PdfReader(path).pages
        assert float(page.mediabox.width) == pytest.approx(72 * width, abs=0.5)
        fonts = [font.get_object() for font in page["/Resources"]["/Font"].values()]
        assert fonts
        for font in fonts:
            # Type 42 of matplotlib's: TrueType outlines, whole in the file. Journals refuse Type 3 and missing fonts.
            (descendant,) = [each.get_object() for each in font.get("/DescendantFonts", [font])]
            assert descendant["/Subtype"] in ("/TrueType", "/CIDFontType2")
            assert descendant["/FontDescriptor"]["/FontFile2"].get_data()


def test_a_figures_title_and_caption_go_with_its_file_and_not_into_the_picture(tmp_path: Path) -> None:
    data = study_data(WARP_SHUFFLE, sweep(WARP_SHUFFLE, H200), H200)
    figure = ladder.draw(data, 3.3)
    figure.save(tmp_path / "bare.svg")
    figure.save(tmp_path / "bare.pdf")
    said = figure.texts
    _, _, picture = (svg := (tmp_path / "bare.svg").read_text()).partition("</metadata>")
    assert "speedup over" in picture and said["title"] not in picture and "Bars: 95%" not in picture
    assert "Bars: 95%" in svg
    assert figure.figure.get_figwidth() == 3.3 and file_names("ladder", 3.3, QUICK_FORMATS) == ["ladder_3.3in.pdf"]
    told = PdfReader(tmp_path / "bare.pdf").metadata
    assert told["/Title"] == said["title"] and told["/Subject"].endswith(said["source"])


@pytest.mark.parametrize(
    ("figure", "study"), [*((figure, studies[0]) for figure, studies in STUDIES.items()), ("heatmap", "histogram")]
)
def test_texts_stay_inside_clear_of_each_other_and_legible_and_figures_fit_a_page(figure: str, study: str) -> None:
    # tests/publish/test_own_study.py has the other width. Pins: the title of low panels was cut.
    data = recorded(study)
    drawing = module_of(figure).draw(data, layout.WIDTHS["one_column"])
    drawn = drawing.figure
    check_texts(drawn, 3)
    assert drawn.get_figwidth() == layout.WIDTHS["one_column"] and drawn.get_figheight() < PAGE_IN
    assert drawing.source == device_text(data.device) and data.device["name"] in drawing.caption


def test_lines_are_seen_on_paper_and_lines_and_texts_on_a_dark_page() -> None:
    css = (ROOT / "workflow/scripts/kernelsweep/publish/page/style.css").read_text()
    (page,) = re.findall(r"--paper: (#\w+);", css.partition("dark) {")[2].partition("}")[0])
    shapes, texts = palette.shapes_on_page(), palette.texts_on_page()
    named = [*palette.LINE_COLOURS, *(palette.size_colour(number, 7) for number in range(7))]
    assert "#000000" not in named, "which SVG files don't name, so that it would stay on a dark page"
    assert len({*named}) == len(named)
    for colour in (*named, *palette.SCALE):
        assert contrast(colour, "white") >= 4.5
        dark = re.findall(r"#\w+", shapes.get(colour.lower(), colour))[-1]
        assert contrast(dark, page) >= (4.5 if colour in named else 3.5)
        assert shapes.get(colour.lower()) == texts.get(colour.lower()), "a name has the colour of its line"


def test_a_map_of_very_many_values_shows_the_best_of_neighbours() -> None:
    # Pins: a figure as high as its axis is long: 190 inches and 21 GB of memory for 1,000 values.
    rows = sweep(WARP_SHUFFLE, H200)
    sizes = sorted(rows["block_size"].unique())
    every = [
        rows.assign(block_size=rows["block_size"] + number, time_us=rows["time_us"] * 2) for number in range(1, 32)
    ]
    many = pandas.concat([rows, *every], ignore_index=True)
    by_block = WARP_SHUFFLE | {"figures": [{"heatmap": {"x": "unroll", "y": "block_size", "show": "time_us"}}]}
    drawing = heatmap.draw(study_data(by_block, many, H200))
    assert many["block_size"].nunique() > 100 and drawing.figure.get_size_inches()[1] < 30
    assert "neighbours share a cell: their best" in drawing.caption
    # Of those that share a row, the fast ones are shown.
    assert {*sizes} <= {*drawing.rows["block_size"]}
    assert drawing.rows["block_size"].nunique() <= MOST_PLACES


@pytest.mark.parametrize(("module", "name"), [(ladder, "unrolling"), (lines, "unrolling"), (heatmap, "unrolling")])
def test_emulated_times_are_never_drawn(module: ModuleType, name: str) -> None:
    data = replace(recorded(name), device=EMULATOR)
    figure = module.draw(data).figure
    without = module.draw(replace(data, measurements=data.measurements.assign(time_us=float("nan")))).figure
    assert texts(figure) == texts(without) and len(figure.findobj()) == len(without.findobj())
    assert "no times" in " ".join(texts(figure)).lower() or module is ladder


def test_a_failed_step_is_named_in_the_ladder_in_place_of_its_time() -> None:
    rows = fail(sweep(UNROLLING, H200), "launch_failed", "", keep_time=True, kernel="interleaved")
    said = texts(draw(ladder, UNROLLING, rows, H200))
    assert "interleaved: launch failed" in said
    assert "99.0" not in said


def test_failed_points_are_marked_in_the_heat_maps() -> None:
    rows = fail(sweep(WARP_SHUFFLE, H200), "wrong_result", "", kernel="shuffle", unroll=4, block_size=64)
    drawing = heatmap.draw(study_data(BY_UNROLL, rows, H200))
    assert {"W", "W wrong result"} <= {*(said := texts(drawing.figure))} and said.count("W") == 1
    unproven = rows.assign(flags=rows["flags"].mask(rows["kernel"] == "shared_memory", PROOF_FAILED))
    said = texts(heatmap.draw(study_data(BY_UNROLL, unproven, H200)).figure)
    assert said.count("P") == 2 * len(BLOCK_SIZES) and "W wrong result, P proof failed" in said
    held_back = sweep(WARP_SHUFFLE, H200)
    held_back.loc[held_back["block_size"] == 128, "flags"] = "throttled"
    drawing = heatmap.draw(study_data(BY_UNROLL, held_back, H200))
    stars = [text for text in texts(drawing.figure) if text.endswith("*")]
    assert stars and "*: throttled, too few samples at the full clock." in drawing.caption


def test_lines_colour_at_most_seven_the_best_the_baseline_and_rivals_and_join_no_categories() -> None:
    drawing = lines.draw(recorded("stepwise"), 3.3)
    (axes,) = drawing.figure.axes
    said = [text.get_text().replace("\n", "") for text in axes.texts]
    grey = {text.get_text() for text in axes.texts if text.get_color() == palette.GREY}
    assert tuple(drawing.figure.get_size_inches()) == (3.3, 2.2)
    assert grey == {"mask_baseline", "cascaded", "last_warp_shuffled"}, "whose lines are behind others"
    # From below; the names of lines that end together are beside one value.
    assert said[:2] == ["9.9%", "modulo_baseline"] and said[-4:] == [
        "91%",
        "warp_shuffle",
        "cascaded",
        "last_warp_shuffled",
    ]
    at = {text.get_text(): text.get_position()[1] * 100 for text in axes.texts}
    assert abs(at["91%"] - 91) < 8 and abs(at["9.9%"] - 9.9) < 8, "values stand where the axis has them"
    assert "In grey, mostly behind others: mask_baseline, cascaded and last_warp_shuffled." in drawing.caption, (
        "as the answer"
    )
    # Panels side by side share the names beside the last.
    cold, hot = ([text.get_text() for text in axes.texts] for axes in lines.draw(recorded("unrolling")).figure.axes)
    assert cold == ["8.8%", "14%", "15%", "18%", "85%"] and [text for text in hot if text in cold] == cold
    assert hot[:2] == ["8.8%", "neighbored"] and hot[-3:] == ["unrolled", "unrolled_warps", "completely_unrolled"]
    # Pins: three lines over each other in three colours.
    (axes,) = lines.draw(recorded("histogram"), 3.3).figure.axes
    assert sum(text.get_color() == palette.GREY for text in axes.texts) == 3, "two names, and their value"
    # A share of the memory's peak, and one of arithmetic's, are on two scales.
    convolution = recorded("convolution")
    assert "Useful: the work that the problem needs" in lines.draw(convolution).caption
    shares = {"lines": {"x": "radius", "show": "peak_percent"}}
    drawing = lines.draw(replace(convolution, settings=convolution.settings.changed(figures=[shares])))
    joined = [[*map(round, line.get_xdata())] for line in drawing.figure.axes[0].get_lines() if line.get_clip_on()]
    assert joined and "No line joins shares of two peaks." in drawing.caption
    assert [*map(len, joined)] == [2, 1] * 4, "radius 1 and 4, and 16"
    # Sizes that vary together are marks in a row per kernel and library, in a group per precision, at any width.
    for width in layout.WIDTHS.values():
        drawing = lines.draw(recorded("matmul"), width)
        (axes,) = drawing.figure.axes
        assert len([legend for legend in axes.get_children() if isinstance(legend, Legend)]) == 1
        rows = [label.get_text().replace("\n", "") for label in axes.get_yticklabels()]
        assert [name for name in rows if name == "cublas_matmul"] == ["cublas_matmul"] * 2 and len(rows) == 10
        said = texts(drawing.figure)
        assert {"float32", "tf32", "at 4096³", "8192³"} <= {*said}
        assert " ".join(text for text in said if text.endswith("%")) == "8.7% 11% 38% 63% 64% 70% 63% 76% 15% 75%"
        assert len(drawing.rows) == 25 and drawing.caption.count("4096³") == 1
        white = [dots for dots in axes.collections if list(map(to_hex, dots.get_facecolor())) == ["#ffffff"]]
        assert [len(dots.get_offsets()) for dots in white] == [3], "cuBLAS at 4096³ twice, and once at 1023"
        assert drawing.caption.endswith("Hollow: throttled, too few samples at the full clock.")


def test_a_ladder_groups_precisions_with_their_library_and_is_hollow_where_undefined() -> None:
    drawing = ladder.draw(recorded("matmul"))
    (axes,) = drawing.figure.axes
    other = "tf32: over naive in float32"
    assert list(drawing.rows["group"]) == ["float32"] * 8 + [other] * 2 and other in texts(drawing.figure)
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names.count("cublas_matmul *") == 2 and "*: throttled, too few" in drawing.caption
    library = drawing.rows[drawing.rows["kernel"] == "cublas_matmul"]["speedup"]
    drawn = [ends for lines in axes.collections if isinstance(lines, LineCollection) for ends in lines.get_segments()]
    assert {float(start[0]) for start, end in drawn if start[0] == end[0]} >= {*library}
    assert axes.get_xlabel() == "speedup over naive, each at its fastest" and "is logarithmic" in drawing.caption
    # Of other libraries than the study's, the answer's and the fastest are drawn; a dashed line marks the fastest.
    bound = ladder.draw(recorded("bandwidth_bound"))
    libraries = bound.rows[bound.rows["kind"] == "rival"].set_index("kernel")["speedup"]
    assert [*libraries.index] == ["cub", "torch", "cub_not_guaranteed", "cub_tuned"], "the answer has the last"
    assert libraries.idxmax() == "cub_not_guaranteed"
    collections = bound.figure.axes[0].collections
    dashed = [lines for lines in collections if isinstance(lines, LineCollection) and lines.get_linestyle()[0][1]]
    assert [{x for x, _ in lines.get_segments()[0]} for lines in dashed] == [{libraries.max()}]
    assert "Not drawn: cub_newest, " in bound.caption and "Not drawn" not in drawing.caption
    assert "published configuration" in ladder.draw(recorded("unrolling")).message
    assert ", each at its fastest." in ladder.draw(recorded("staged")).message, "of which nothing is published"
    (axes,) = ladder.draw(recorded("stepwise")).figure.axes
    dots = next(dots for dots in axes.collections if not isinstance(dots, LineCollection))
    assert [to_hex(colour).upper() for colour in dots.get_facecolors()].count(palette.WHITE) == 3


def test_a_larger_number_in_a_heat_map_is_never_paler() -> None:
    drawing = heatmap.draw(recorded("operations"))
    # By float32's shuffle, int32's product, and the maximum by shuffle.
    said = "the operation alone changes the share of the memory's peak by a factor of at most 1.06"
    assert drawing.message == f"At 2²⁴, {said}, the kernel 1.20 and the element type 1.47."
    figure = drawing.figure
    figure.draw_without_rendering()
    cells = [
        (float(text.get_text().replace(",", "")), contrast(to_hex(colour), "white"))
        for axes in figure.axes[:-1]
        for text, colour in zip(axes.texts, axes.collections[0].get_facecolors(), strict=True)
    ]
    assert len(cells) == 64
    darkness = [dark for _, dark in sorted(cells)]
    assert darkness == sorted(darkness) and darkness[-1] > 1.3 * darkness[0]
    # Numbers near each other have the darker half of a scale whose ends are said; others are from zero.
    scale, numbers = figure.axes[0].collections[0].norm, [number for number, _ in cells]
    assert scale(min(numbers)) > 0.5 and "and colour (on a scale that starts at 20, not zero):" in drawing.caption
    assert [tick.get_text() for tick in figure.axes[-1].get_xticklabels()] == ["20", "30", "40", "50", "60", "70"]
    wide = heatmap.draw(recorded("unrolling"))
    assert wide.figure.axes[0].collections[0].norm(0) == 0 and "and colour:" in wide.caption, "half has half its colour"
    assert figure.axes[-1].get_xlabel() == "share of the memory's peak (%)"
    # One column has the same kernels and the same outlined cells: the page has one caption for both widths.
    wide, narrow = (heatmap.draw(recorded("staged"), width) for width in layout.WIDTHS.values())
    panels = [[(axes.get_title("left"), len(axes.patches)) for axes in one.figure.axes[:-1]] for one in (wide, narrow)]
    assert panels[0] == panels[1] and len(panels[0]) == 5 and wide.caption == narrow.caption
    # All panels have the same cells, grey where the sweep has none; the key stands in the place of a sixth panel.
    sizes = [axes.get_position().size for axes in wide.figure.axes[:-1]]
    assert all(size == pytest.approx(sizes[0]) for size in sizes)
    assert "not in the sweep" in texts(wide.figure) and len(wide.figure.axes[4].get_xticks()) == 7
    assert wide.figure.axes[-1].get_position().x0 > wide.figure.axes[4].get_position().x1
    assert narrow.figure.get_figheight() < PAGE_IN


def test_a_table_has_a_step_at_its_own_grid_size_and_a_ladder_its_kernel_at_the_fastest() -> None:
    study, rows = recorded("staged").settings, recorded("staged").measurements
    others = rows["kernel"].eq("staged_shared") & rows["grid_size"].ne(256)
    times = {column: rows[column].mask(others, 0.001) for column in ("time_low_us", "time_us", "time_high_us")}
    rows = rows.assign(peak_fraction=rows["peak_fraction"].mask(others, 0.7777), **times)
    own = study_table(study_data(study, rows, H200)).set_index("kernel").loc["staged_shared"]
    assert own["grid_size"] == 256 and own["peak_fraction"] != 0.7777
    # Among all configurations, those are the fastest; so they are in the figures of all configurations.
    assert "77.8" in texts(draw(heatmap, study, rows, H200))
    assert ladder.draw(replace(recorded("staged"), measurements=rows)).message.startswith("staged_shared is ")


def lane_lines(figure: Figure, index: int) -> list[tuple[float, float]]:
    """Where the lines of a picture start and end, in elements; of pictures without gaps between threads."""
    ends = [numpy.asarray(line.get_xdata(), dtype=float) - 0.5 for line in figure.axes[index].get_lines()]
    return sorted((float(end), float(start)) for start, end in ends)


def test_lanes_are_drawn_as_measured() -> None:
    study, rows = recorded("exchanges").settings, recorded("exchanges").measurements
    drawing = lanes.draw(study_data(study, rows, H200))
    figure, said = drawing.figure, texts(drawing.figure)
    assert drawing.message == "10 of 10 outputs are as published."
    assert [len(axes.get_lines()) for axes in figure.axes] == [*[16] * 9, 32], "the last one is two groups of lanes"
    # shift_up by 2: the first two lanes keep their own.
    assert lane_lines(figure, 1) == [(lane, lane - 2 if lane >= 2 else lane) for lane in range(16)]
    # Four elements a thread: the threads are named.
    assert said.count("thread 3") == 3


@pytest.mark.parametrize("sizes", [(2**20,), (2**20, 2**24)], ids=["one_point", "one_axis"])
def test_a_study_of_one_axis_or_point_has_each_figure_or_a_sentence(sizes: tuple[int, ...]) -> None:
    # Pins: a stack in place of every page of such a study on a GPU, where alone it has times.
    shuffle = {"kernels": [{"name": "shuffle", "axes": {"unroll": [4]}}], "steps": WARP_SHUFFLE["steps"][-1:]}
    rows = sweep(WARP_SHUFFLE | shuffle, H200, sizes, (256,))
    data = study_data(WARP_SHUFFLE | shuffle, rows[rows["cache"] == "cold"], H200)
    assert "A heat map needs two axes with several values." in " ".join(texts(heatmap.draw(data).figure))
    assert lines.draw(data).rows["kernel"].tolist() == ["shuffle"] * len(sizes) and ladder.draw(data).title


def test_a_study_far_from_any_peak_has_times_though_its_reference_names_not_every_axis() -> None:
    # Pins: KeyError, 'unroll'; and a line of 0.0%.
    assert lines.draw(recorded("exchanges")).title == "Exchanges: time against block size"


def test_outputs_that_differ_or_are_missing_are_said_so() -> None:
    study, rows = recorded("exchanges").settings, recorded("exchanges").measurements
    # A measured output that no model would give: the figure must not compute it.
    output = "0 1 2 3 2 3 4 5 6 7 8 9 10 11 99 13"
    chosen = rows.eval("kernel == 'shift_up' and arguments == 'delta=2' and width == 16")
    chosen &= rows["array_size"].eq(16) & rows["block_size"].eq(16)
    rows = rows.assign(output=rows["output"].mask(chosen, output), status=rows["status"].mask(chosen, "wrong_result"))
    rows = fail(rows, "launch_failed", "an illegal address", kernel="broadcast")
    rows = rows.assign(output=rows["output"].mask(rows["kernel"] == "broadcast", ""))
    rows = rows[rows["kernel"] != "butterfly_swap"]
    drawing = lanes.draw(study_data(study, rows, H200))
    figure, said = drawing.figure, texts(drawing.figure)
    check_texts(figure, 100)
    assert drawing.message == "6 of 10 outputs are as published."
    assert said.count("3 differ") == 1
    assert said.count("launch failed") == 2 and said.count("no such point in this sweep") == 1
    # The value that is none of the input's has no line.
    assert len(figure.axes[1].get_lines()) == 15
    assert len(figure.axes[0].get_lines()) == len(figure.axes[7].get_lines()) == 0


def test_the_readme_lists_every_figure_as_it_declares_itself() -> None:
    listed = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", (ROOT / "docs/results.md").read_text(), re.MULTILINE)
    declared = {(name, "times" if one.needs_times else "–") for name, one in FIGURES.items()}
    assert declared == {row for row in listed if row[0] in FIGURES}
