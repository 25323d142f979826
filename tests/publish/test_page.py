"""The page of all results: whole, readable at a phone's and a desk's width, and alone."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from checkout import copy_project
from workflow_runs import edit, shrink, snakemake

from kernelsweep.publish.page.embed import drawing, folded
from kernelsweep.publish.page.forest import forest
from kernelsweep.publish.page.markdown import to_html

# One process runs them all, so that the run that they look at is done once.
pytestmark = pytest.mark.xdist_group("page")

RECORDING = ("--config", "platform=recording/nvidia-h200")
RESULTS = "results/recording/nvidia-h200"

# A comparison as `snakemake compare` writes it.
COMPARISON = "# Before and after\n"

# A chapter that is wider than any screen, with numbers in the format of our tables.
SIZES = ("1,000", "2²⁰+3", "2^24", "2²⁰", "–", "1,048,574")
CHAPTER = "\n".join(
    [
        "# Claims",
        "",
        "Built for `vector<int>`, says [the journal](summary.md): template<class T> failed.",
        "",
        f"| kernel | array size | time | {' | '.join(f'column {number}' for number in range(40))} |",
        f"|---|---:|---:|{'---|' * 40}",
        *(
            f"| `kernel_{index}` <sup>{9 - index}</sup> | {size} | {index * 7 % 5 + 8} µs | {' | '.join('cell' * 40)} |"
            for index, size in enumerate(SIZES)
        ),
        "",
    ]
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in which a recording's page was made, with a comparison, and with a kernel that was edited
    since it was recorded. A comment is no edit. Another chapter stands for that on claims."""
    copy = copy_project(tmp_path_factory.mktemp("page"))
    shrink(copy)
    comparison = copy / RESULTS / "comparison"
    comparison.mkdir(parents=True)
    (comparison / "comparison.md").write_text(COMPARISON)
    (comparison / "comparison.json").write_text('{"verdict": ["Before and after"]}')
    os.utime(comparison / "comparison.json", (1e9, 1e9))  # before the recording was there
    kernels = copy / "kernels/warp_shuffle"
    edit(kernels / "shared_memory.cu", "partials[blockIdx.x] = shared[0];", "partials[blockIdx.x] = shared[1];")
    edit(kernels / "shuffle.cu", "", "// A remark, at the top.\n")
    run = snakemake(copy, "all", *RECORDING)
    assert run.returncode == 0, run.stdout
    assert f"{RESULTS}/report.html" in run.stdout, "where it is, is said at the end"
    assert "\n  recorded before an edit of warp_shuffle/shared_memory\n" in run.stdout
    page, chapter = copy / RESULTS / "report.html", copy / RESULTS / "chapter.md"
    chapter.write_text(CHAPTER)
    html = to_html(CHAPTER, "chapter-claims", "Claims", chapter.parent, page.parent)
    start, _, rest = page.read_text(encoding="utf-8").partition('<section id="chapter-claims">')
    claims, end, rest = rest.partition("</section>")
    assert "</h2>" in claims and end
    page.write_text(
        f'{start}<section id="chapter-claims">{claims.partition("</h2>")[0]}</h2>{html}{end}{rest}', "utf-8"
    )
    return copy


@pytest.fixture(scope="module")
def page(project: Path) -> Path:
    """The page."""
    return project / RESULTS / "report.html"


class Elements(HTMLParser):
    """A page's elements: each start tag with its attributes, and the text inside headings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def dead_links(page: Path) -> list[str]:
    """The targets of links that lead nowhere: to no file, or to no place on the page."""
    elements = Elements(page.read_text(encoding="utf-8"))
    anchors = {f"#{attributes['id']}" for _, attributes in elements.found if "id" in attributes}
    targets = [attributes["href"] or "" for attributes in elements.all("a")]
    assert targets
    return [
        target
        for target in targets
        if (target not in anchors if target.startswith("#") else not (page.parent / target.partition("#")[0]).exists())
    ]


def test_every_link_leads_somewhere(page: Path) -> None:
    assert dead_links(page) == []
    text = page.read_text(encoding="utf-8")
    # Each section, table and figure can be linked to.
    targets = {link["href"] for link in Elements(text).all("a") if link.get("class") == "anchor"}
    named = ("study-warp_shuffle", "study-warp_shuffle-table-1", "study-warp_shuffle-ladder", "chapter-claims-table-1")
    assert {f"#{name}" for name in (*named, "answer", "explorer")} <= targets
    for linked in ("studies/warp_shuffle/table.csv", "measurements.csv", "figures/ladder.pdf", "shuffle.cu"):
        assert linked in text


def test_a_figures_labels_keep_their_digits_on_the_page(tmp_path: Path) -> None:
    # Pins: 0.358 TFLOP/s, which the page called 0.35.
    (tmp_path / "lines.svg").write_text('<svg viewBox="0 0 9 9"><text x="1.23456">0.358</text></svg>')
    drawn = drawing(tmp_path / "lines.svg", "lines")
    assert ">0.358<" in drawn and 'x="1.23"' in drawn


def test_a_picture_of_an_earlier_version_of_ours_stays_as_it_is() -> None:
    svg = "<svg viewBox='0 0 9 9' data-folds='7 4' font-size='12'><g/></svg>"
    assert folded(svg, "x") == svg != folded(svg.replace("7 4", "7 4 5"), "x")


def test_a_comparisons_scale_names_each_ratio_as_it_is() -> None:
    kernel = {"ratio": 1.006, "low": 1.004, "high": 1.008, "verdict": "same", "counts": {}, "points": 8}
    scale = forest({"same_within": 0.01, "kernels": {"a/a": kernel | {"sizes": {}, "is_shown": True}}})
    assert [*scale["ticks"]] == ["0.99", "0.995", "1", "1.005", "1.01"]
    assert scale["ticks"]["1"] == scale["one"]


def test_one_page_leads_to_all_others(project: Path, page: Path) -> None:
    index = project / "results/index.html"
    assert dead_links(index) == []
    text = index.read_text(encoding="utf-8")
    assert 'href="recording/nvidia-h200/report.html"' in text and "1,248 of 1,248 points right" in re.sub(
        r"<.*?>", "", text
    )
    older = "Older than the newest measurements: <a .*>recording/nvidia-h200/comparison/comparison.json</a>, made .*UTC"
    assert re.search(older, text) and "<strong>Before and after" not in text, "an edit may have been taken back"
    assert 'href="../../index.html"' in page.read_text(encoding="utf-8")


def test_the_page_can_be_read_without_seeing_it(page: Path) -> None:
    elements = Elements(page.read_text(encoding="utf-8"))
    assert elements.all("html") == [{"lang": "en"}]
    pictures = [attributes for _, attributes in elements.found if attributes.get("role") == "img"]
    assert pictures
    for picture in pictures:
        assert len(picture["aria-label"] or "") > len("Ladder."), "each figure says in words what it shows"
    levels = [int(tag[1]) for tag, _ in elements.found if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(below <= above + 1 for above, below in pairwise(levels)), "no level is left out"
    assert {"scope": "row"} in elements.all("th"), "a row has a heading"
    names = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(names) == len(set(names))


def test_the_page_tells_what_ran_before_the_studies_and_the_rest_after_them(project: Path, page: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("\u00a0", " ")
    # The answer comes first: what to use, how near it is to the peak, what it loses, and whether all is right.
    kind = {"dtype": "int32", "operation": "sum", "cache": "cold"}
    (best,) = (use for use in json.loads((project / RESULTS / "best.json").read_text())["use"] if use["kind"] == kind)
    at = best["configuration"]
    use = f"<code>{best['kernel']}</code> {at['parameters']['block_size']} × {at['parameters']['unroll']}"
    answer = [use, f"{at['peak_fraction']:.1%}", f"{at['time_us']:,.2f} µs", f"{best['worst']:.1%}", "1,248 of"]
    assert f"<h2>Use {best['kernel']}: {at['peak_fraction']:.0%} of the memory&#39;s peak at 2³⁰ " in text
    summary = [*answer, "<summary>Points<"]
    order = [
        *summary,
        'id="study-warp_shuffle"',
        # Each kernel's own words, without the header of its file.
        "Partial sums in global memory: each thread adds",
        "that of <code>global_memory</code> in the study",
        'id="chapter-claims"',
        'id="files"',
    ]
    places = [text.index(part, text.index('id="answer"')) for part in order]
    assert places == sorted(places)


def test_messages_of_a_compiler_stay_text() -> None:
    text = "# A\n\n## B\n\nno `vector<int>`, but <script>alert(1)</script><sup>1</sup>\n"
    html = to_html(text, "part", "A", Path(), Path())
    assert '<h3 id="part-heading-1">B' in html and "<h1>" not in html, "headings are below the page's own"
    table = to_html(
        "# A\n\n## B\n\n| verdict | claim |\n|---|---|\n| ? not decidable | C |\n", "part", "A", Path(), Path()
    )
    assert '<th scope="row" class="open">? not' in table, "each verdict has its colour"
    assert re.search(
        r'aria-labelledby="(part-table-1-caption)".*<table>\s*<caption id="\1">A: B</caption>', table, re.DOTALL
    )
    assert "vector&lt;int&gt;" in html and "&lt;script&gt;" in html and "<sup>1</sup>" in html


@pytest.mark.chromium
@pytest.mark.parametrize("width", [360, 1440])
def test_nothing_is_wrong_with_the_pages(driver: object, project: Path, page: Path, width: int) -> None:
    from chromium import Faults, open_page

    assert open_page(driver, project / "results/index.html", width) == Faults([], [], [], [])
    assert open_page(driver, page, width) == Faults([], [], [], [])
    assert len(driver.find_elements("css selector", "figure svg text")) >= 3
    # The whole answer is read without a swipe, on a phone, too.
    assert (
        driver.execute_script(
            "const box = document.querySelector('.answer').parentElement; return box.scrollWidth - box.clientWidth;"
        )
        <= 1
    )


def column(driver: object, number: int) -> list[str]:
    cells = driver.find_elements("css selector", f"#chapter-claims tbody tr td:nth-child({number})")
    return [cell.text for cell in cells]


@pytest.mark.chromium
def test_no_page_is_wider_than_paper(driver: object, project: Path, page: Path) -> None:
    # Pins: all of a page printed smaller, because one table was wider. A4 without its margins has 680 px.
    from chromium import OVERFLOW, open_page

    wide = {}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    for file in (page, project / "results/index.html"):
        open_page(driver, file, 680)
        driver.refresh()  # As folded as it opens.
        # Its claims are a table of 18 columns.
        driver.execute_script("document.querySelector('#chapter-claims')?.remove()")
        wide[file.name] = driver.execute_script(OVERFLOW)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert wide == {page.name: [], "index.html": []}


@pytest.mark.chromium
def test_a_table_sorts_by_numbers_whatever_they_look_like(driver: object, page: Path) -> None:
    from chromium import open_page

    open_page(driver, page, 1440)
    told = column(driver, 2)
    assert told == list(SIZES)
    heading = driver.find_element("css selector", "#chapter-claims th:nth-child(2)")
    heading.find_element("css selector", "button").click()
    upwards = ["1,000", "1,048,574", "2²⁰", "2²⁰+3", "2^24", "–"]
    assert (column(driver, 2), heading.get_attribute("aria-sort")) == (upwards, "ascending")
    # The keyboard sorts as well; missing values stay last.
    heading.find_element("css selector", "button").send_keys("\ue007")
    downwards = [*upwards[-2::-1], "–"]
    assert (column(driver, 2), heading.get_attribute("aria-sort")) == (downwards, "descending")
    heading.find_element("css selector", "button").click()
    assert (column(driver, 2), heading.get_attribute("aria-sort")) == (told, None)
    driver.find_element("css selector", "#chapter-claims th:nth-child(3) button").click()
    times = [int(text.removesuffix(" µs")) for text in column(driver, 3)]
    assert times == sorted(times) and times[0] < 10 <= times[-1], "8 µs comes before 10 µs"
    # A table's headings are one stop of the tab key; an arrow goes to the next.
    buttons = driver.find_elements("css selector", "#chapter-claims th button")
    buttons[0].send_keys("\ue014")
    assert driver.switch_to.active_element == buttons[1]
    buttons[1].send_keys("\ue004")
    assert driver.switch_to.active_element not in buttons


@pytest.mark.chromium
def test_a_figure_opens_large_and_closes(driver: object, page: Path) -> None:
    from chromium import open_page

    open_page(driver, page, 360)
    # A phone has a figure of its own, which opens the wide one.
    wide, small = driver.find_elements("css selector", "a.enlarge")[0].find_elements("css selector", "svg")
    assert small.is_displayed() and not wide.is_displayed()
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", small)
    small.click()
    large = driver.find_element("css selector", "dialog[open] svg")
    assert large.is_displayed() and large.size["width"] > 1.3 * small.size["width"]
    driver.find_element("css selector", "dialog button").click()
    assert not driver.find_elements("css selector", "dialog[open]")


def test_an_edited_kernel_is_marked_as_recorded_before(project: Path, page: Path) -> None:
    table = (project / RESULTS / "studies/warp_shuffle/table.md").read_text(encoding="utf-8")
    (mark,) = re.findall(r"<sup>(\d+)</sup> Recorded before an edit of this kernel", table)
    marked = [
        line for line in table.splitlines() if line.startswith("|") and mark in re.findall(r"<sup>(.*?)</sup>", line)
    ]
    assert marked and all("shared_memory" in line for line in marked)
    for file in (page, project / "results/index.html"):
        shown = re.sub(r"<span hidden>.*?<!--end of", "", file.read_text(encoding="utf-8"))
        assert "ecorded before an edit of shared_memory" in shown and "✓ 1,248" not in shown
