"""Published numbers: each on the page as it is printed, beside the right step, and never taken for ours."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from checkout import ROOT
from matplotlib.collections import LineCollection
from recorded import recorded, steps_page
from shipped_kernels import shipped_studies
from synthetic_sweep import EMULATOR

from kernelsweep.errors import UserError
from kernelsweep.judge.data.published import PUBLISHED, check_published, read_published
from kernelsweep.publish.drawing import palette
from kernelsweep.publish.figures import ladder
from kernelsweep.publish.page.markdown import to_html
from kernelsweep.publish.tables.formats import as_markdown
from kernelsweep.publish.tables.study_table import study_table
from kernelsweep.publish.tables.table_text import table_text

FILES = {study.settings.published: study.name for study in shipped_studies() if study.settings.published}
HEAD = "source,device,run,listing,kernel,parameters,quantity,over,unit,value\n"


def test_every_file_is_read_by_a_study() -> None:
    assert {path.name for path in (ROOT / PUBLISHED).glob("*.csv")} - {"claims.csv", "sources.csv"} == {*FILES}


@pytest.mark.parametrize("file", sorted(FILES))
@pytest.mark.parametrize("platform", ["gpu", "emulator"])
def test_every_published_number_is_on_the_page_as_it_is_printed(file: str, platform: str) -> None:
    data = recorded(FILES[file])
    data = data if platform == "gpu" else replace(data, device=EMULATOR)
    html = to_html(as_markdown(table_text(study_table(data), data)), "study", data.title, ROOT, ROOT)
    cells = [unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<td.*?</td>", html)]
    facts = " ".join(re.findall(r"<p>As printed.*?</p>", html))
    for one in read_published(file, ROOT / PUBLISHED):
        assert one.value in cells or (one.quantity == "result" and one.value in facts), one


def test_a_number_stands_beside_its_own_step_with_its_device_and_source() -> None:
    data = recorded("unrolling")
    table = study_table(data)
    rows = {(row["kernel"], row["unroll"]): row for row in table.to_dict("records")}
    of, by = "published_time_us unrolling-loops (RTX 3080)", "published_speedup unrolling-loops (RTX 3080)"
    # The document's table, not a run; a printed speedup over the first step; none beside our form of a listing.
    assert [rows["unrolled", unroll][of] for unroll in (2, 4, 8)] == [164.4, 126.7, 116.6]
    assert rows["neighbored_less", 1][by] == 1.81
    assert rows["interleaved", 1]["published_speedup divergence (sm_75 GPU)"] == 1.87
    assert table.set_index("kernel").loc["unrolled_warps"].filter(like="published").isna().all()
    steps = steps_page(data, dict.fromkeys(data.kernel_names, ""))
    after = "RTX 3080 (unrolling-loops) after `unrolled ×8`: time 0.1166 → 0.1171 ms"
    assert after in steps and "sm_75 GPU (divergence): 5.3 times as fast as `neighbored`." in steps


def test_the_ladder_has_hollow_marks_of_published_speedups_and_dots_of_ours_alone() -> None:
    data = recorded("warp_shuffle")
    for shown, has_ours in ((data, True), (replace(data, device=EMULATOR), False)):
        figure = ladder.draw(shown).figure
        (axes,) = figure.axes
        (marks,) = (line for line in axes.lines if line.get_marker() == "D")
        assert list(marks.get_xdata()) == [1, 1.31, 1.7, 2.02, 2.47, 2.5] and marks.get_markerfacecolor() == "none"
        names = [text.get_text() for text in axes.get_legend().get_texts()]
        assert names == [*[data.device["name"]] * has_ours, "published: RTX 3080 (warp-shuffle)"]
        dots = [dots for dots in axes.collections if not isinstance(dots, LineCollection)]
        assert sum(len(some.get_offsets()) for some in dots) == (6 if has_ours else 0)
        value = next(text for text in axes.texts if "×" in text.get_text())
        expected = (
            ("67.25 µs\u2007\u20071.00×", palette.INK) if has_ours else ("255.6 µs\u2007\u20071.00×", palette.GREY)
        )
        assert (value.get_text(), value.get_color()) == expected


@pytest.mark.parametrize(("row", "message"), [
    ("a,RTX,,,copied,,time,,ms,1", "row 1 (copied time): kernel is 'copied'; did you mean 'copy'?"),
    ("a,RTX,,,copy,,time,,msec,1", "row 1 (copy time): unit is 'msec'; did you mean 'ms'? Allowed: ns, us, ms, s."),
    ("a,RTX,,,copy,,time,,ms,0", "row 1 (copy time): value is '0'. Allowed: a number, of times above 0"),
    ("a,RTX,,,copy,,stalls,,%,about 1", "value is 'about 1'. Allowed: a number"),
    ("a,RTX,,,copy,,stall,,%,1", "quantity is 'stall'; did you mean 'stalls'?"),
    ("a,RTX,,,copy,tiles=8,time,,ms,1", "parameters has 'tiles'; did you mean 'tile'?"),
    ("a,RTX,,,copy,tile,time,,ms,1", "parameters has 'tile'. Allowed: axes with values, such as unroll=8."),
    ("a,,,,copy,,time,,ms,1", "source or device is empty. Name both"),
    ("a,RTX,,,copy,,time,,ms,1\na,RTX,,,copy,,time,,us,9", "row 2 (copy time): row 1 has this number already."),
])  # fmt: skip
def test_a_mistake_is_named_with_its_file_and_row(row: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(f"# Comments don't count.\n{HEAD}{row}\n")
    with pytest.raises(UserError) as error:
        check_published(read_published("own.csv", tmp_path), ["copy"], ["tile"], ["stalls"], f"{tmp_path}/own.csv")
    assert str(error.value).startswith(f"{tmp_path}/own.csv, row ") and message in str(error.value)
