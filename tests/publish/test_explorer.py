"""The explorer of the timed points on the page, in a browser: a study of 20,000 points on axes of its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from recorded import RECORDING, recorded

from kernelsweep.judge.best.best_words import use_rows
from kernelsweep.judge.best.find import reference_uses
from kernelsweep.judge.data.measurements import covering
from kernelsweep.publish.drawing.palette import GREY, map_colours, on_page
from kernelsweep.publish.figures import DRAWERS
from kernelsweep.publish.page.embed import Link
from kernelsweep.publish.page.explorer import before_and_after, explorer_data
from kernelsweep.publish.page.render import Section, render
from kernelsweep.publish.view import draw_view
from kernelsweep.publish.view_address import whole_address
from kernelsweep.results import MEASUREMENT_COLUMNS, point_columns, rows_in
from kernelsweep.study.study import read_study

# Keys, as the browser's driver names them.
END, HOME, ARROW_LEFT = "\ue010", "\ue011", "\ue012"

pytestmark = [pytest.mark.chromium, pytest.mark.xdist_group("page")]

PROBLEM = """
def inputs(random, n, depth): return {"a": random.random(n)}
def outputs(n): return {"b": ((n,), "float64")}
def reference(a): return {"b": a}
def error_bound(): return {"b": 0.0}
def work(n): return {"bytes": 8 * n}
"""
AXES = {
    "n": [1000 * number for number in range(1, 51)],
    "tile": list(range(1, 26)),
    "rows": list(range(4, 8)),
    "order": ["across", "down"],
}
STUDY = f"""
title: A product of matrices
problem: kernels/product/problem.py
axes: {{{", ".join(f"{axis}: {values}" for axis, values in AXES.items())}, depth: {AXES["n"]}}}
tied: [[n, depth]]
kernels:
  - {{name: naive, launches: [{{grid: [n], block: [tile], arguments: [b, a]}}]}}
  - {{name: tiled, launches: [{{grid: [n], block: [rows], arguments: [b, a]}}]}}
"""


def time_us(kernel: str, n: int, tile: int, rows: int, order: str) -> float:
    """Shortest at tile 8 in 5 rows, down."""
    cost = 1 + 0.1 * abs(tile - 8) + 0.01 * abs(rows - 5) + 0.5 * (order == "across")
    return n / 100 * cost * (2 if kernel == "naive" else 1)


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with 20,000 points."""
    root = tmp_path_factory.mktemp("explored")
    for folder in ("kernels/product", "config/studies"):
        (root / folder).mkdir(parents=True)
    (root / "kernels/product/problem.py").write_text(PROBLEM)
    for kernel in ("naive", "tiled"):
        (root / f"kernels/product/{kernel}.cu").write_text("__global__ void k() {}\n")
    (root / "config/studies/product.yaml").write_text(STUDY)
    settings = read_study("product", root).settings.values()
    known = {"study": "product", "platform": "nvidia-h200", "device": "NVIDIA H200", "status": "ok"}
    measured = []
    for kernel, *values in product(("naive", "tiled"), *AXES.values()):
        point = dict(zip(AXES, values, strict=True))
        time = time_us(kernel, **point)
        measured.append(
            {
                **dict.fromkeys(MEASUREMENT_COLUMNS, ""),
                **known,
                **point_columns({**point, "depth": point["n"], "cache": "cold"}),
                "kernel": kernel,
                "time_us": f"{time:.3f}",
                "time_low_us": f"{time * 0.99:.3f}",
                "time_high_us": f"{time * 1.02:.3f}",
                "bandwidth_gbs": f"{8 * point['n'] / time / 1e3:.3f}",
                "flags": "noisy" if point["tile"] == 8 else "",
            }
        )
    assert len(measured) == 20_000
    study = {**settings, "names": ["naive", "tiled"], "gridded": ["naive", "tiled"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)  # Where problem files are looked for.
        data = explorer_data({"product": study}, measured)
    return page_of(data, root / "page.html")


def uses_of(name: str) -> list[dict[str, Any]]:
    """What to use of a recorded study."""
    data = recorded(name)
    return use_rows(reference_uses(data), data.settings)


RECORDED = ("bandwidth_bound", "convolution", "histogram", "matmul", "warp_shuffle")


def recorded_rows() -> list[dict[str, str]]:
    return list(rows_in(covering([RECORDING / "measurements.csv.gz"], RECORDED)))


@pytest.fixture(scope="module")
def recorded_points() -> dict[str, Any]:
    """The points of recorded studies."""
    studies = {}
    for name in RECORDED:
        data = recorded(name)
        known = {"names": data.kernel_names, "gridded": data.gridded, "uses": uses_of(name)}
        studies[name] = {**data.settings.values(), **known}
    return explorer_data(studies, recorded_rows())


@pytest.fixture(scope="module")
def recorded_page(recorded_points: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with recorded studies."""
    return page_of(recorded_points, tmp_path_factory.mktemp("recorded") / "page.html")


def page_of(points: dict[str, Any], file: Path, studies: Sequence[Section] = ()) -> Path:
    empty: dict[str, Any] = {"studies": studies, **{name: [] for name in ("chapters", "files")}}
    empty |= {"has_clock": True, "answers": {}, "facts": {"Numbers": ""}, "reach": [], "settings": {}}
    empty |= dict.fromkeys(("failed", "summary", "words", "made"), "")
    page = render(title="Points", points=points, index=Link("index.html", ""), platform="", left_out=0, **empty)
    file.write_text(page, encoding="utf-8")
    return file


def text(driver: object, selector: str) -> str:
    return driver.find_element("css selector", f"#explorer {selector}").text


def choose(driver: object, name: str, value: str) -> None:
    """As a reader would choose from a list."""
    from selenium.webdriver.support.select import Select

    Select(driver.find_element("css selector", f'#explorer [name="{name}"]')).select_by_value(value)


def slide(driver: object, name: str, *keys: str) -> None:
    """As a reader would move a slider with the keyboard."""
    driver.find_element("css selector", f'#explorer [name="{name}"]').send_keys(*keys)


def point_at_last(driver: object) -> None:
    """Move the pointer to the last mark of the last kernel."""
    from selenium.webdriver import ActionChains

    mark = driver.find_elements("css selector", "#explorer .mark")[-1]
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", mark)
    ActionChains(driver).move_to_element(mark).perform()


def test_a_reader_filters_points_and_passes_the_view_on(driver: object, explored: Path) -> None:
    from chromium import Faults, open_page

    assert open_page(driver, explored, 1440) == Faults([], [], [], [])
    # By default each kernel's best over its configurations, at each size; depth follows n, so it is no choice.
    assert "over n. 20,000 of 20,000 timed points, 100 drawn" in text(driver, ".count")
    assert not driver.find_elements("css selector", '#explorer [name="at.depth"]')
    # At the right end, the faster kernel: its best configuration, with all that is known of it.
    choose(driver, "show", "time_us")
    driver.find_element("css selector", '#explorer [value="naive"]').click()
    assert "10,000 of 20,000 timed points, 50 drawn" in text(driver, ".count")
    point_at_last(driver)
    best = time_us("tiled", 50_000, 8, 5, "down")
    for known in (f"{best:g} (95%: {0.99 * best:g}–{1.02 * best:g})", "tile\n8", "rows\n5", "down", "noisy"):
        assert known in text(driver, ".tip"), text(driver, ".tip")
    # A filter on one axis leaves the best of the others.
    choose(driver, "at.order", "across")
    point_at_last(driver)
    assert f"{time_us('tiled', 50_000, 8, 5, 'across'):g} (95%" in text(driver, ".tip")
    # The address holds the view.
    address = driver.current_url
    assert parse_qs(address.partition("?")[2])["at.order"] == ["across"]
    shown = text(driver, ".count")
    driver.get("about:blank")
    driver.get(address)
    assert text(driver, ".count") == shown and "5,000 of 20,000" in shown


def test_a_heat_map_shows_any_two_axes_and_a_slider_goes_through_a_third(driver: object, explored: Path) -> None:
    from chromium import open_page

    open_page(driver, explored, 1440)
    for name, value in (("view", "map"), ("show", "time_us"), ("over", "order"), ("across", "kernel")):
        choose(driver, name, value)
    for key, n in ((END, 50_000), (ARROW_LEFT, 49_000)):
        slide(driver, "at.n", key)
        cells = driver.find_elements("css selector", "#explorer .cells text")
        expected = [time_us(kernel, n, 8, 5, order) for kernel in ("naive", "tiled") for order in AXES["order"]]
        assert sorted(float(cell.text.replace(",", "")) for cell in cells) == pytest.approx(sorted(expected))
        assert text(driver, ".controls output") == f"{n} × {n}"
    assert parse_qs(driver.current_url.partition("?")[2])["at.n"] == ["49000"]
    # To the left of all values is the best of them.
    slide(driver, "at.n", HOME)
    cells = driver.find_elements("css selector", "#explorer .cells text")
    assert min(float(cell.text) for cell in cells) == pytest.approx(time_us("tiled", 1000, 8, 5, "down"))


def view_of(driver: object, page: Path, view: str) -> str:
    """Open a view by its address, and return the whole address, with all that the explorer adds upon a choice."""
    from selenium.webdriver.support.wait import WebDriverWait

    driver.get("about:blank")
    driver.get(f"{page.as_uri()}#explorer?{view}")
    WebDriverWait(driver, 20).until(lambda _: all_of(driver, '[name="show"]', "name"))
    driver.execute_script("""document.querySelector('#explorer [name="show"]').onchange()""")
    return driver.current_url


def all_of(driver: object, selector: str, what: str = "textContent") -> list[str]:
    """A property or an attribute of all elements, in one call."""
    script = """const [selector, what] = arguments;
return [...document.querySelectorAll(selector)].map((one) => one[what] ?? one.getAttribute(what));"""
    return driver.execute_script(script, f"#explorer {selector}", what)


def test_the_pdf_of_a_view_is_the_view(driver: object, recorded_page: Path, recorded_points: dict[str, Any]) -> None:
    # A short address, as the gallery has them, is what the page makes of it.
    for view in (
        "warp_shuffle&show=gain",
        "matmul&view=map",
        "bandwidth_bound",
        "bandwidth_bound&view=map",
        "histogram&view=map&over=kernel",
    ):
        address, study = f"study={view}", recorded_points[view.partition("&")[0]]
        page = view_of(driver, recorded_page, address).partition("?")[2]
        assert parse_qs(whole_address(f"#explorer?{address}", study).partition("?")[2]) == parse_qs(page)
    for view, bars_drawn in (("warp_shuffle&show=gain&baseline=global_memory", 24), ("bandwidth_bound&show=gain", 72)):
        data = recorded(view.partition("&")[0])
        (axes,) = draw_view(data, view_of(driver, recorded_page, f"study={view}"), 3.3, data.gridded).figure.axes
        low, high = axes.get_ylim()
        # The same limits and intervals: each bar's ends, from the lower limit on.
        bars = [
            bar.split(",")[1].split("V") for path in all_of(driver, ".interval", "d") for bar in path.split("M")[1:]
        ]
        there = sorted((376 - float(end)) / 364 for bar in bars for end in bar)
        intervals = [some for some in axes.collections if isinstance(some, LineCollection)]
        segments = [segment for some in intervals for segment in some.get_segments()]
        here = sorted((end - low) / (high - low) for segment in segments for end in segment[:, 1])
        assert len(here) == 2 * bars_drawn and there == pytest.approx(here, abs=1e-4)
    # The same digits, and the same cells outlined.
    for show in ("time_us", "best_share"):
        view = f"study=warp_shuffle&view=map&show={show}&over=block_size&across=unroll"
        axes, bar = draw_view(recorded("warp_shuffle"), view_of(driver, recorded_page, view), 7.16, ()).figure.axes
        cells = all_of(driver, ".cells text")[:25]
        assert sorted(cells) == sorted(text.get_text() for text in axes.texts)
        assert len(all_of(driver, ".fastest rect")) == len(axes.patches) > 0
        assert all_of(driver, ".shades .title") == [bar.get_xlabel()]


def test_no_line_joins_categories_and_each_kernel_is_named(driver: object, recorded_page: Path) -> None:
    from chromium import open_page

    for study, lines in {"histogram": 7, "matmul": 0}.items():
        view_of(driver, recorded_page, f"study={study}&view=lines&show=gflops")
        # All but tensor_cores, of another precision than the first kernel. What ends earlier says where.
        names = all_of(driver, ".chart text[data-kernel]")
        assert {name.split()[0] for name in names} == {*all_of(driver, ".kernels label")} - {"tensor_cores"}
        assert ("naive (4096³) 5.85" in names) == (study == "matmul")
        assert len(all_of(driver, ".line", "d")) == lines
    assert all_of(driver, '[name="show"] option')[0] == "useful throughput (TFLOP/s)"
    assert all_of(driver, ".chart svg > g > text")[-1] == "8192³"
    assert all_of(driver, ".kernels .absent") == ["tensor_cores"]
    # The first baseline is the answer's: the library, or the fastest of several.
    for study, baseline in (("matmul", "cublas_matmul"), ("bandwidth_bound", "the fastest library")):
        view_of(driver, recorded_page, f"study={study}&show=gain")
        assert all_of(driver, '[name="baseline"]', "value") == [baseline]
    assert {"cub_tuned 1.00×", "counted_sum 1.02×"} <= {*all_of(driver, ".chart text[data-kernel]")}
    assert not all_of(driver, ".absent text")
    view_of(driver, recorded_page, "study=matmul&show=gain&baseline=naive")
    assert all_of(driver, ".absent text") == ["no naive"] and "8192³" in all_of(driver, ".chart svg > g > text")
    # Where shares are near to each other, lines begin with ratios; every point doesn't.
    for view, first in (("lines", "gain"), ("points", "peak_fraction")):
        view_of(driver, recorded_page, f"study=bandwidth_bound&view={view}")
        assert all_of(driver, '[name="show"]', "value") == [first]
    # Of many kernels, it begins with the first one, those that do a part of the work, and those that the answer names.
    view_of(driver, recorded_page, "study=bandwidth_bound&view=lines&show=peak_fraction")
    answered = {name for use in uses_of("bandwidth_bound") for name in (use["kernel"], use["beside"])}
    reading, ties = {"read_only", "streaming_read_only"}, {"counted_sum", "work_counter"}
    ends = dict(name.split() for name in all_of(driver, ".chart text[data-kernel]"))
    assert ends.keys() == {"vector_loads", *reading, *answered, *ties} > {"cub_tuned"} and ends["counted_sum"] == "96%"
    # Pins: marks at 2²⁰+3 as a step of the series.
    assert "2²⁰" in (sizes := all_of(driver, ".chart svg > g > text")) and not {"2²⁰+3", "2²⁸+3"} & {*sizes}
    assert "as they nearly equal others: 2²⁰+3, 2²⁸+3." in all_of(driver, ".count")[0]
    marks = all_of(driver, "label:has(:checked) path", "d")
    assert len({*marks}) == len(marks) == 8, "each has a mark of its own"
    # What does a part of the work is dashed.
    assert len(all_of(driver, ".partial", "d")) == len(reading)
    # A map begins with how kernels are launched, and its fastest kernel does all of the work.
    driver.execute_script("""const list = document.querySelector('#explorer [name="view"]');
list.value = "map"; list.onchange();""")
    assert [all_of(driver, f'[name="{name}"]', "value") for name in ("over", "across")] == [
        ["block_size"],
        ["unroll"],
    ]
    assert all_of(driver, '[name="show"]', "value") == ["peak_fraction"]
    assert not reading & {*all_of(driver, ".kernels label:has(:checked)")}
    # Every point: those of one size stand apart from those of the next, and a phone has all sizes of all kernels.
    for width in (390, 1440):
        open_page(driver, recorded_page, width)
        view_of(driver, recorded_page, "study=bandwidth_bound&view=points")
        paths = all_of(driver, ".dots", "d")
        across = [sorted({int(place.split(",")[0]) for place in path.split("M")[1:]}) for path in paths]
        gaps = [[after - before for before, after in pairwise(places)] for places in across]
        of_sizes = [sum(gap > 8 for gap in of_kernel) for of_kernel in gaps]
        assert of_sizes == [8, *[10] * 7], "of 11 sizes, two of which are three elements larger"
        (right,) = all_of(driver, ".chart", "clientWidth")
        assert [right] == all_of(driver, ".chart", "scrollWidth") and max(map(max, across)) < right
    # Each panel says which configuration is its fastest, and at which sizes it has no point.
    view_of(driver, recorded_page, "study=matmul&view=points")
    heads = [head.replace("\xa0", " ") for head in all_of(driver, ".chart g > .title")]
    assert "46.8 at 8192³: block m 128, block n 128, tile k 16, thread m 16, thread n 8, resident 2" in heads
    assert len(all_of(driver, ".chart .named", "r")) == 8 and all_of(driver, ".absent text") == ["no point"] * 5
    # Shares of the memory's peak, at radius 1 and 4, and of arithmetic's, at 16, are on two scales.
    view_of(driver, recorded_page, "study=convolution&view=lines&over=radius&show=peak_fraction")
    assert [line.count("M") for line in all_of(driver, ".line", "d")][:4] == [2] * 4
    # Each that is ticked has a colour of its own, also ten kernels further on; its box has the same.
    view_of(driver, recorded_page, "study=bandwidth_bound&kernels=vector_loads,last_block,work_counter")
    colours = all_of(driver, ".chart g[data-kernel][fill]", "fill")
    assert len({*colours}) == len(colours) == 3 and all_of(driver, "label:has(:checked) path", "fill") == colours


def test_a_comparison_of_two_gpus_begins_with_a_kernel_on_both(driver: object, tmp_path: Path) -> None:
    data = recorded("warp_shuffle")
    keys = {f"{key}_{{}}{unit}": f"{key}{unit}" for key, unit in (("time", "_us"), ("status", ""), ("flags", ""))}
    rows = [
        row | {both.format(side): row[key] for both, key in keys.items() for side in ("before", "after")}
        for row in recorded_rows()
        if row["study"] == "warp_shuffle"
    ]
    known = {**data.settings.values(), "names": data.kernel_names, "gridded": data.gridded}
    points = before_and_after({"warp_shuffle": known}, rows, ["warp_shuffle/shuffle"], "on another GPU")
    view_of(driver, page_of(points, tmp_path / "page.html"), "")
    names = all_of(driver, ".chart text[data-kernel]")
    assert {name.rpartition(" ")[0] for name in names} == {"shuffle", "shuffle on another GPU"}
    assert all_of(driver, '[name="baseline"]', "value") == ["shuffle on another GPU"]


def test_on_a_phone_studies_unfold_and_paper_has_what_was_open(driver: object, tmp_path: Path) -> None:
    from chromium import open_page

    parts = {"Why": "<p>because</p>", "All numbers": "<p>0.5</p><h3>Counters</h3><p>32</p>"}
    studies = [Section(name, name, parts, {}, description=f"about {name}") for name in ("one", "two")]
    page = page_of({}, tmp_path / "page.html", studies)

    def shown(wanted: str) -> bool:
        found = driver.find_elements("xpath", f"//p[text()='{wanted}']|//h3[text()='{wanted}']")
        return any(driver.execute_script("return arguments[0].checkVisibility()", one) for one in found)

    open_page(driver, page, 390)
    driver.refresh()
    assert not shown("about one") and not shown("about two")
    # A link from the answer opens its study.
    driver.get(f"{page.as_uri()}#study-two")
    assert shown("about two") and not shown("about one")
    open_page(driver, page, 1440)
    driver.refresh()
    assert shown("about one") and not shown("0.5")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert [shown(wanted) for wanted in ("about one", "0.5", "Counters", "because")] == [True, True, False, False]
    driver.execute_script("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    assert shown("Counters") and shown("because")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_darker_cell_of_a_map_is_a_larger_number_as_in_the_figures(driver: object, recorded_page: Path) -> None:
    from chromium import open_page

    # On a phone, the key is below the map, and within the chart; this begins at the section's top: settings are folded.
    for width in (390, 1440):
        open_page(driver, recorded_page, width)
        view_of(driver, recorded_page, "study=histogram&view=map&show=bandwidth_gbs&over=spread&across=kernel")
        assert all_of(driver, ".shades path", "stroke")[-1] == "light-dark({}, {})".format(*map_colours()[-1])
        assert all_of(driver, ".shades .title") == ["bandwidth (GB/s)"]
        chart, key = (driver.find_element("css selector", f"#explorer .chart {one}").rect for one in ("svg", ".shades"))
        kernels = driver.find_element("css selector", "#explorer .kernels")
        top = driver.find_element("css selector", "#explorer").rect["y"]
        assert (chart["y"] - top < 160, kernels.is_displayed()) == (width == 390, width == 1440)
        for start, size in (("x", "width"), ("y", "height")):
            assert chart[start] <= key[start] and key[start] + key[size] <= chart[start] + chart[size]
    numbers = [float(cell.replace(",", "")) for cell in all_of(driver, ".cells text")]
    # Of the scale's colours, the darker has less green. The scale ends at a round number, as the figures' does.
    cells = driver.find_elements("css selector", "#explorer .filled rect")
    fills = [cell.value_of_css_property("fill") for cell in cells]
    shown = [int(fill.split(",")[1]) for _, fill in sorted(zip(numbers, fills, strict=True))]
    assert len({*numbers}) > 9 and shown == sorted(shown, reverse=True) and shown[0] > 240
    darkest = [f"rgb{tuple(bytes.fromhex(paper[1:]))}" for paper, _ in map_colours()[-6:]]
    assert fills[numbers.index(max(numbers))] in darkest
    assert {"0", "4,000"} <= {*all_of(driver, ".shades text")}
    assert "Number and colour of a cell: bandwidth (GB/s)" in text(driver, ".count")


def test_a_study_of_few_kernels_begins_with_all_that_are_defined() -> None:
    # Pins: kernels of undefined behaviour counted among too many.
    data = recorded("unrolling")
    rows = data.measurements[data.measurements["time_us"].notna()].astype(str).to_dict("records")
    known = {"names": data.kernel_names, "gridded": data.gridded, "uses": uses_of("unrolling")}
    explored = explorer_data({"unrolling": {**data.settings.values(), **known}}, rows)["unrolling"]
    assert explored["undefined"] and explored["usual"] == [
        name for name in data.kernel_names if name not in explored["undefined"]
    ]
    # One kernel, one colour: in the figures, in a view of few kernels, and on the page.
    colours = dict(zip(explored["kernels"], explored["colours"], strict=True))
    view = "#explorer?study=unrolling&view=lines&show=peak_fraction&over=array_size&kernels=interleaved,unrolled"
    drawings = DRAWERS["lines"](data), draw_view(data, whole_address(view, explored), 3.3, ())
    in_figure, in_view = (
        {
            text.get_text(): text.get_color()
            for text in drawing.figure.axes[-1].texts
            if text.get_text() in colours and text.get_color() != GREY
        }
        for drawing in drawings
    )
    assert len(in_figure) > 1 < len(in_view)
    for name, drawn in (*in_figure.items(), *in_view.items()):
        assert on_page(str(drawn)) == colours[name], name
    drawing = DRAWERS["ladder"](data)
    (dots,) = (some for some in drawing.figure.axes[0].collections if not isinstance(some, LineCollection))
    drawn = [on_page(to_hex(colour).upper()) for colour in dots.get_edgecolors()]
    assert drawn == [colours[name] for name in drawing.rows["kernel"]]


def test_a_kernel_without_times_is_no_baseline_and_hinders_no_other() -> None:
    # Pins: where each point of a kernel was wrong, as after an edit, no page was made.
    data = recorded("unrolling")
    known = {"names": data.kernel_names, "gridded": data.gridded, "uses": uses_of("unrolling")}
    rows = data.measurements[data.measurements["time_us"].notna()].astype(str).to_dict("records")
    first, second, *_ = data.kernel_names
    for without, baseline in (("", first), (first, second)):
        timed = [row for row in rows if row["kernel"] != without]
        (explored,) = explorer_data({"unrolling": {**data.settings.values(), **known}}, timed).values()
        assert first in explored["kernels"] and explored["first"] == baseline
