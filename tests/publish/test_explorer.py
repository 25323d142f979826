"""The explorer of the timed points on the page, in a browser: a study of 20,000 points on axes of its own."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from kernelsweep.publish.page.embed import Link
from kernelsweep.publish.page.explorer import explorer_data
from kernelsweep.publish.page.render import render
from kernelsweep.results import (
    MEASUREMENT_COLUMNS,
    point_columns,
)
from kernelsweep.sweep.study import read_study

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
    page = render(
        title="Many points",
        index=Link("index.html", "All results"),
        facts={},
        made="2026-11-28",
        answers=[],
        settings={},
        failed="",
        summary="",
        studies=[],
        chapters=[],
        points=data,
        left_out=0,
        files=[],
        words="",
    )
    (root / "page.html").write_text(page, encoding="utf-8")
    return root / "page.html"


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
    for known in (
        f"{best:g} (95%: {0.99 * best:g}–{1.02 * best:g})",
        "tile\n8",
        "rows\n5",
        "down",
        "noisy",
    ):
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
        assert text(driver, ".controls output") == f"{n}"
    assert parse_qs(driver.current_url.partition("?")[2])["at.n"] == ["49000"]
    # To the left of all values is the best of them.
    slide(driver, "at.n", HOME)
    cells = driver.find_elements("css selector", "#explorer .cells text")
    assert min(float(cell.text) for cell in cells) == pytest.approx(time_us("tiled", 1000, 8, 5, "down"))
