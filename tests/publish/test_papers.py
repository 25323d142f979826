"""Output for papers: tables that LaTeX typesets without warnings, and a citation of this version."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
from checkout import ROOT, copy_project
from matplotlib.font_manager import findfont
from pypdf import PdfReader
from recorded import recorded
from synthetic_sweep import EMULATOR, H200, UNROLLING, fail, sweep
from workflow_runs import snakemake

from kernelsweep.errors import UserError
from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.publish.drawing.access_picture import read_picture
from kernelsweep.publish.drawing.style import use_font
from kernelsweep.publish.figures import lines
from kernelsweep.publish.tables.comparison_table import comparison_latex
from kernelsweep.publish.tables.formats import as_latex
from kernelsweep.publish.tables.study_table import study_table
from kernelsweep.publish.tables.table_text import best_table, counters_table, short_text
from kernelsweep.publish.view import draw_view
from kernelsweep.publish.view_address import picture_in, platform_in, read_view, view_name
from kernelsweep.statistics import ratio, time_interval

# The width that the tables ask for in their first lines, and how far a line may run over them: less than is seen.
DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs,graphicx,siunitx}
\begin{document}
\setlength{\columnwidth}{3.5in}
%s
\end{document}
"""
MOST_OVER_PT = 1.0


# The studies with the longest names, libraries, and axes of their own.
SET = ("unrolling", "stepwise", "bandwidth_bound", "transpose", "matmul", "convolution", "histogram")


def has_latex() -> bool:
    """Whether this machine has LaTeX with siunitx."""
    if not shutil.which("pdflatex"):
        return False
    return subprocess.run(["kpsewhich", "siunitx.sty"], stdout=subprocess.DEVNULL).returncode == 0


def latex(data: StudyData) -> str:
    tables = (short_text(study_table(data), data), best_table(data), counters_table(data))
    return "\n".join(map(as_latex, tables))


@pytest.mark.skipif(
    not has_latex(), reason="pdflatex or siunitx is missing (Debian: texlive-latex-recommended, texlive-science)"
)
def test_latex_sets_every_table_within_the_width_that_it_asks_for(tmp_path: Path) -> None:
    odd = fail(sweep(UNROLLING, H200), "launch_failed", "", kernel="unrolled", unroll=2)
    odd_title = {"title": "50% of {x} & #1_a ~ $ < > | ^ \\", "metrics": []}
    tables = [latex(StudyData(UNROLLING | odd_title, odd, H200)), *map(latex, map(recorded, SET))]
    edited = {"is_shown": True, "points": 90, "ratio": 0.69, "low": 0.6871, "high": 0.6929, "verdict": "faster"}
    compared = {"same_within": 0.01, "kernels": {"unrolling/unrolled_warps": edited, "a/b": {"is_shown": False}}}
    tables.append(comparison_latex(compared, ["an H100", "an H200"]))
    # One run of LaTeX for all of them, each on a page of its own.
    (tmp_path / "tables.tex").write_text(DOCUMENT % "\n\\clearpage\n".join(tables), encoding="utf-8")
    run = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        encoding="latin-1",
    )
    assert run.returncode == 0, run.stdout[-2000:]
    over = re.findall(r"Overfull \\[hv]box \(([\d.]+)pt too (?:wide|high)\).*", run.stdout)
    assert [points for points in over if float(points) > MOST_OVER_PT] == []
    # A table that doesn't fit a page is not set at all, but only warned of.
    assert "Float too large" not in run.stdout


def test_a_comparisons_table_names_both_devices_and_its_intervals_confidence() -> None:
    found = {"is_shown": True, "points": 90, "ratio": 0.69, "low": 0.6871, "high": 0.6929, "verdict": "faster"}
    kernels = {"unrolling/a_b": found, "matmul/c": found, "a/b": {"is_shown": False}}
    text = comparison_latex({"same_within": 0.005, "kernels": kernels}, ["an H100", "an H200"])
    assert text.count("Ratio: the time on an H200 over that on an H100,") == 2
    assert "{tab:two-devices-matmul}" in text
    assert r"99\% \\ interval" in text and r"within 0.5\% of 1" in text and r"\texttt{b}" not in text
    assert r"\texttt{a\_b} & 90 & 0.690 & 0.687–0.693 & faster" in text


def test_what_to_use_names_ties_with_their_times_and_breaks_lines_between_values_only() -> None:
    bound, transpose = (
        as_latex(best_table(recorded(study))).replace("\xa0", " ") for study in ("bandwidth_bound", "transpose")
    )
    assert re.search(r"& or 256 × 2 in as many blocks as needed & \{\} & [\d.]+\(\d+\) & [\d.]+ ", bound)
    assert r"\texttt{streaming\_sum} \\ 512 × 4 in as many blocks as needed" in bound
    assert r"or \texttt{several\_rows} \\ tile=32×32 rows=4" in transpose and "or 7 more" in transpose


@pytest.mark.skipif(not has_latex(), reason="pdflatex or siunitx is missing")
def test_the_example_paper_is_made_from_a_run(tmp_path: Path) -> None:
    project = copy_project(tmp_path)
    paper = project / "examples/paper/paper.tex"
    commands = re.findall(r"(?m)^%   (?:uv run )?(.*)", paper.read_text().replace("\\\n%    ", ""))
    for command in [commands[0], *commands[1].split(" && ")]:
        program, *words = shlex.split(command)
        if program == "snakemake":
            run = snakemake(project, *words)
        else:
            run = subprocess.run([program, *words], cwd=project, stdout=subprocess.PIPE, encoding="latin-1")
        assert run.returncode == 0, run.stdout[-2000:]
    (page,) = PdfReader(project / "paper.pdf").pages
    assert {font.get_object()["/Subtype"] for font in page["/Resources"]["/Font"].values()} == {"/Type1"}, "no Type 3"
    best = json.loads((project / "results/recording/nvidia-h200/studies/warp_shuffle/best.json").read_text())
    assert any(f"{use['configuration']['time_us']:.1f}(" in page.extract_text() for use in best["use"])
    said = run.stdout
    assert "undefined" not in said and "Overfull" not in said and "Figure 3" in page.extract_text()


def test_a_view_has_its_latex_and_points_beside_it_without_paths_and_drivers_in_the_caption() -> None:
    view = {"study": "unrolling", "view": "lines", "show": "peak_fraction", "over": "array_size"}
    view |= {"across": "block_size", "at.cache": "cold", "kernels": "neighbored,unrolled"}
    address = f"report.html#explorer?{urlencode(view)}"
    drawing = draw_view(recorded("unrolling"), address, 3.3, ())
    name = view_name(read_view(address))
    remark, figure = drawing.latex(Path(f"views/{name}.pdf"), name, address).split("\\begin{figure}")
    assert "driver" in remark and address in remark and "driver" not in figure and "resources" not in figure
    assert name == "unrolling-peak_fraction-array_size" and f"\\includegraphics{{views/{name}.pdf}}" in figure
    assert f"\\label{{fig:{name}}}" in figure and "Peak: 4,814 GB/s" in figure
    rows = drawing.rows[drawing.rows["kernel"] == "unrolled"]
    assert list(rows["array_size"]) == [2**power for power in range(16, 31, 2)]
    assert (rows["peak_percent_low"] < rows["peak_percent"]).all()
    assert (rows["peak_percent"] < rows["peak_percent_high"]).all()
    # Pins: a stack, for an address from a page that has libraries.
    with pytest.raises(UserError, match="baseline is 'the fastest library'"):
        draw_view(recorded("unrolling"), f"{address}&show=gain&baseline=the+fastest+library", 3.3, ())
    # The same, for a baseline that has no point in common with the kernels.
    data = recorded("unrolling")
    is_largest, is_base = data.measurements["array_size"] == 2**30, data.measurements["kernel"] == "neighbored"
    apart = replace(data, measurements=data.measurements[is_largest == is_base])
    with pytest.raises(UserError, match="neighbored has no time where these kernels have one"):
        draw_view(apart, f"{address}&kernels=unrolled&show=gain&baseline=neighbored", 3.3, ())


def test_a_picture_of_accesses_becomes_a_figure_of_the_same_boxes_and_texts(tmp_path: Path) -> None:
    picture = ROOT / "docs/pictures/interleaved.svg"
    drawing, source = read_picture(picture), picture.read_text()
    (axes,) = drawing.figure.axes
    assert [text.get_text() for text in axes.texts] == re.findall("<text[^>]*>([^<]*)", source)
    assert sum(len(boxes.get_paths()) for boxes in axes.collections) == len(re.findall("M[^z]+z", source))
    drawing.save(tmp_path / "picture.pdf")
    assert float(PdfReader(tmp_path / "picture.pdf").pages[0].mediabox.width) == pytest.approx(72 * 7.16, abs=0.5)
    assert picture_in("results/emulator/studies/unrolling/accesses/interleaved.svg") == ("unrolling", "interleaved")


@pytest.mark.parametrize(("font", "embedded"), [("sans", "DejaVuSans"), ("serif", "STIX"), ("file", "DejaVuSerif")])
def test_the_font_of_figures_is_the_configurations(font: str, embedded: str, tmp_path: Path) -> None:
    try:
        use_font(findfont("DejaVu Serif") if font == "file" else font)
        lines.draw(recorded("warp_shuffle"), 3.3).save(tmp_path / "lines.pdf")
        with pytest.raises(UserError, match="is no font file"):
            use_font(__file__)
    finally:
        use_font("sans")
    (page,) = PdfReader(tmp_path / "lines.pdf").pages
    names = [str(one.get_object()["/BaseFont"]) for one in page["/Resources"]["/Font"].values()]
    assert any(embedded in name for name in names), names


def test_a_table_has_each_steps_time_with_its_interval_and_says_why_there_is_none() -> None:
    data = recorded("unrolling")
    table = study_table(data)
    text = as_latex(short_text(table, data))
    row = table[(table["kernel"] == "unrolled") & (table["unroll"] == 8)].iloc[0]
    numbers = r"& ([\d.]+)\((\d+)\) & (\d+) & ([\d.]+) & ([\d.]+) "
    found = re.search(r"\\texttt\{unrolled\} & 512/8 " + numbers, text)
    assert found
    time, side = float(found[1]), int(found[2]) / 100
    assert time == pytest.approx(row["time_us"], abs=0.005)
    assert time - side - 0.005 <= row["time_low_us"] and row["time_high_us"] <= time + side + 0.005
    assert [float(each) for each in found.groups()[2:]] == pytest.approx(
        [row["bandwidth_gbs"], 100 * row["peak_fraction"], row["speedup"]], abs=0.5
    )
    # The host's sums are another matter, and a mark says which code is undefined.
    assert "cpu" not in text and "volatile}\xa0†" in text and "undefined behaviour" in text
    assert r"\texttt{cublas\_matmul} & tf32 & " in latex(recorded("matmul"))
    chosen = replace(data, settings=data.settings.changed(table=["points_run", "speedup"]))
    assert re.search(r"\\texttt\{unrolled\} & 512/8 & \d+ & [\d.]+ ", as_latex(short_text(table, chosen)))
    with pytest.raises(UserError, match="did you mean 'speedup'"):
        short_text(table, replace(data, settings=data.settings.changed(table=["speed_up"])))
    emulated = replace(recorded("unrolling"), device=EMULATOR)
    for without in (emulated, recorded("exchanges")):
        assert re.match(r"(% .*times.*\.\n+){2}", latex(without))


def test_a_view_of_the_explorer_is_a_figure_with_the_studys_labels_and_colours() -> None:
    data = recorded("unrolling")
    own = {"labels": {"unrolled": "ours"}, "colours": {"unrolled": "#004488"}}
    data = replace(data, settings=data.settings.changed(**own))
    view = {"study": "unrolling", "view": "lines", "show": "gain", "baseline": "neighbored", "over": "array_size"}
    view |= {"across": "block_size", "at.block_size": "512", "at.cache": "cold", "kernels": "neighbored,unrolled"}
    page = f"file:///x/results/recording/nvidia-h200/report.html#explorer?{urlencode(view)}"
    drawing = draw_view(data, page, 3.3, ())
    assert drawing.figure.get_figwidth() == 3.3
    axes = drawing.figure.axes[0]
    assert axes.get_ylabel() == "times as fast as neighbored"
    assert [text.get_text() for text in axes.texts] == ["1.00×", "neighbored", "13.4×", "ours"]
    assert "block_size=512" in drawing.caption
    # Who ticked kernels finds their names, also where one covers another.
    three = draw_view(data, page.replace("%2Cunrolled", "%2Cunrolled%2Cunrolled_warps"), 3.3, ())
    assert {"neighbored", "ours", "unrolled_warps"} <= {text.get_text() for text in three.figure.axes[0].texts}
    baseline, ours = (line for line in axes.lines if len(line.get_ydata()) == 8 and line.get_linestyle() == "-")
    assert set(baseline.get_ydata()) == {1.0} and ours.get_color() == "#004488"
    # Ratios are read against 1, and have the intervals of both times.
    rows = data.kernel_rows
    there = rows[(rows["block_size"] == 512) & (rows["cache"] == "cold") & (rows["array_size"] == 2**30)]
    best = {name: time_interval(of.nsmallest(1, "time_us").iloc[0]) for name, of in there.groupby("kernel")}
    gain = ratio(best["neighbored"], best["unrolled"])
    assert ours.get_ydata()[-1] == pytest.approx(gain.value)
    assert axes.collections[-1].get_segments()[-1][:, 1] == pytest.approx([gain.low, gain.high])
    assert axes.get_ylim()[0] == pytest.approx(1 / 1.02)
    cells = draw_view(data, page.replace("view=lines", "view=map").replace("show=gain", "show=best_share"), 7.16, ())
    # At each size, one of the best is 100% of it, whatever the others take.
    assert [text.get_text() for text in cells.figure.axes[0].texts].count("100.0") >= 8


@pytest.mark.parametrize(("key", "value", "allowed"), [
    ("over", "arra_size", "did you mean 'array_size'"),
    ("across", "array_size", "Allowed: cache, dtype, block_size, unroll, kernel"),
    ("show", "message", "Allowed: peak_fraction, bandwidth_gbs, time_us, best_share, gain"),
    ("kernels", r"unrolled,$\frac$", "Allowed: neighbored, "),
    ("at.block_size", "7", "Allowed: best, 64, 128, 256, 512, 1024"),
    ("at.blocks", "7", "did you mean 'at.block_size'"), ("baseline", "", "Allowed: neighbored, "),
    ("view", "points", "not every point"), ("kernel", "unrolled", "did you mean 'kernels'"),
    ("at.unroll", "16", "no timed point is left"),
])  # fmt: skip
def test_a_view_that_names_what_is_not_there_ends_in_a_sentence(key: str, value: str, allowed: str) -> None:
    view = {"study": "unrolling", "view": "map", "show": "gain", "baseline": "neighbored", "over": "array_size"}
    view |= {"across": "block_size", "kernels": "neighbored", key: value}
    with pytest.raises(UserError) as error:
        draw_view(recorded("unrolling"), f"#explorer?{urlencode(view)}", 3.3, ())
    assert allowed in str(error.value) and (key in str(error.value) or key == "at.unroll")


def test_the_address_of_a_page_names_its_platform() -> None:
    page = "file:///x/results/recording/nvidia-h200/report.html#explorer?study=unrolling"
    assert platform_in(page) == "recording/nvidia-h200"
    assert view_name(read_view(f"{page}&show=gain")) == "unrolling-gain"
