"""Output for papers: tables that LaTeX typesets without warnings, and a citation of this version."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
from recorded import recorded
from synthetic_sweep import EMULATOR, H200, UNROLLING, fail, sweep

from kernelsweep.errors import UserError
from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.publish.tables.formats import as_latex
from kernelsweep.publish.tables.study_table import study_table
from kernelsweep.publish.tables.table_text import best_table, short_text
from kernelsweep.publish.view import draw_view
from kernelsweep.publish.view_address import platform_in
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
    return f"{as_latex(short_text(study_table(data), data))}\n{as_latex(best_table(data))}"


@pytest.mark.skipif(
    not has_latex(), reason="pdflatex or siunitx is missing (Debian: texlive-latex-recommended, texlive-science)"
)
def test_latex_sets_every_table_within_the_width_that_it_asks_for(tmp_path: Path) -> None:
    odd = fail(sweep(UNROLLING, H200), "launch_failed", "", kernel="unrolled", unroll=2)
    odd_title = {"title": "50% of {x} & #1_a ~ $ < > | ^ \\", "metrics": []}
    tables = [latex(StudyData(UNROLLING | odd_title, odd, H200)), *map(latex, map(recorded, SET))]
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
    assert "cpu" not in text and "volatile †" in text and "undefined behaviour" in text
    assert r"\texttt{cublas\_matmul} & tf32 & " in latex(recorded("matmul"))
    chosen = replace(data, settings=data.settings.changed(table=["points_run", "speedup"]))
    assert re.search(r"\\texttt\{unrolled\} & 512/8 & \d+ & [\d.]+ ", as_latex(short_text(table, chosen)))
    with pytest.raises(UserError, match="did you mean 'speedup'"):
        short_text(table, replace(data, settings=data.settings.changed(table=["speed_up"])))
    emulated = replace(recorded("unrolling"), device=EMULATOR)
    for without in (emulated, recorded("exchanges")):
        assert re.fullmatch(r"(% .*times.*\.\n+){2}", latex(without))


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
    assert [text.get_text().partition(" ")[0] for text in axes.texts] == ["neighbored", "ours"]
    assert "block_size=512" in drawing.caption
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
