"""The page of all pages: it never says that all is right where a later run found otherwise."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from shutil import rmtree

import pytest

from kernelsweep.publish.html_text import macro_text
from kernelsweep.publish.index.renew import keep_failed, renew_index
from kernelsweep.publish.share.recording import note_played

# What a page has above its title, as long as it is current.
UNMARKED = macro_text("page/since.html", "since")


def write(path: Path, text: str, seconds: int) -> None:
    """Write a file as of a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (seconds, seconds))


def ran(folder: Path, seconds: int, **right: int) -> None:
    """The results of a run: how many of each study's 9 points were right."""
    told = {study: {"right": count, "run": 9, "mistaken": 0, "edited": []} for study, count in right.items()}
    write(folder / "status.json", json.dumps({"provenance": "checked", "errors": 0, "studies": told}), seconds)
    write(folder / "report.html", "Every point is right.", seconds)


def rows(results: Path) -> dict[str, str]:
    """The page's platforms and studies as texts, by what they are of."""
    renew_index(results)
    page = (results / "index.html").read_text()
    (foot,) = re.findall(r'<p class="files">(.*Counted .*? UTC)', page)
    lines = re.findall(r"<(?:h2|tr)>(.*?)</(?:p|tr)>", page.replace("</p>", f" {foot}</p>"), re.DOTALL)
    texts = [re.sub(r"<[^>]+>", " ", line).split() for line in lines if "row" in line or "</h2>" in line]
    return {words[0]: " ".join(words[1:]) for words in texts}


def told(points: str, counted: str) -> str:
    """A platform's line."""
    return f"{points} points right . Checked. Counted 1970-01-01 {counted} UTC"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Results of a run of all studies, at second 100."""
    for study in ("sums", "rows"):
        write(tmp_path / f"emulator/points/{study}/one.csv", "", 90)
    ran(tmp_path / "emulator", 100, sums=9, rows=9)
    return tmp_path


def older(results: Path) -> list[str]:
    """What the page says of pages that are older than their results."""
    lines = re.findall("Older than its results: (.*)</p>", (results / "index.html").read_text())
    return [re.sub(r'<a href="(.*)">\1</a>', r"\1", line) for line in lines]


def test_a_study_that_is_wrong_now_is_right_on_no_page_without_its_date(results: Path) -> None:
    every = {"sums": "✓ 9 of 9", "rows": "✓ 9 of 9"}
    assert rows(results) == {"emulator": told("✓ 18 of 18", "00:01"), **every}
    assert not older(results)
    write(results / "emulator/points/sums/one.csv", "", 190)
    ran(results / "emulator/studies/sums", 200, sums=4)
    alone = "✗ 4 of 9 run by itself, 1970-01-01 00:03 UTC"
    assert rows(results) == {"emulator": told("✗ 13 of 18", "00:03"), **every, "sums": alone}
    page = (results / "index.html").read_text()
    assert page.index(": 5 of 9 points failed") < page.index("<h2>"), "red first"
    since = ["emulator/report.html, made 1970-01-01 00:01 UTC. Since then: sums: ✗ 4 of 9 right."]
    assert older(results) == since
    # A study that was never run with all is "by itself" on every page: nothing is said.
    write(results / "emulator/points/other/one.csv", "", 190)
    ran(results / "emulator/studies/other", 200, other=9)
    assert rows(results)["other"] == "✓ 9 of 9"
    assert "run together" not in (results / "index.html").read_text(), "that run's sums are out of date"
    for path in (results / "emulator/studies/other", results / "emulator/points/other"):
        rmtree(path)
    # Mended, and all studies run: the study's own page is older now.
    write(results / "emulator/points/sums/one.csv", "", 290)
    ran(results / "emulator", 300, sums=9, rows=9)
    assert rows(results) == {"emulator": told("✓ 18 of 18", "00:05"), **every}
    assert [line.partition(",")[0] for line in older(results)] == ["emulator/studies/sums/report.html"]
    assert {path.read_text() for path in results.rglob("report.html")} == {"Every point is right."}, "none is edited"


def test_points_that_were_measured_and_not_counted_are_not_called_right(results: Path) -> None:
    """As by `prove` or `compare`."""
    write(results / "emulator/points/sums/one.csv", "", 400)
    said = rows(results)
    assert said["emulator"].startswith("9 of 9 points right; 1 study was measured again, and not")
    again = "one measured again; to bring up to date: uv run snakemake sums"
    assert said["sums"].startswith("not counted") and again in said["sums"]
    assert not older(results), "its row says it"
    # Pins: a page that says "Every point is right", which compare's run of the same points has not made again.
    page = results / "emulator/report.html"
    write(page, f"{UNMARKED}<h1>", 100)
    keep_failed(results / "emulator", ["sums"], {"mistaken": [], "failed": {"sums/one": 3}})
    # Pins: a failed compare that another study's compare made the page forget.
    keep_failed(results / "emulator", ["rows"], {"mistaken": [], "failed": {}})
    ((at, command),) = re.findall("✗ 3 points of one failed in compare (.* UTC); (.*)", rows(results)["sums"])
    assert command == "to bring up to date, once corrected: uv run snakemake sums"
    mark = f"Out of date. Since this page was made: sums: 3 points of one failed in compare, {at}."
    mark += f" T{command[1:].replace('sums', 'all')}"
    marked = UNMARKED.replace('since">', f'since old">{mark}') + "<h1>"
    assert page.read_text() == marked and page.stat().st_mtime == 100
    # The comparison is told where it is newer, and of this study.
    write(results / "emulator/comparison/comparison.html", "", 450)
    write(results / "emulator/comparison/comparison.json", '{"verdict": ["wrong"], "failed": {"sums/one": 3}}', 450)
    rows(results)
    assert f'{at} (<a href="comparison/comparison.html">what compare found</a>). To' in page.read_text()
    ran(results / "emulator", 500, sums=9, rows=9)
    write(page, marked, 500)
    rows(results)
    assert page.read_text() == f"{UNMARKED}<h1>"


def test_a_recording_that_is_played_again_is_as_counted_and_another_one_is_not(tmp_path: Path) -> None:
    # Pins: "not counted, measured again" of every recorded study, where a start had only played the same file again.
    folder, recorded = tmp_path / "recording/one", tmp_path / "measurements.csv.gz"
    folder.mkdir(parents=True)
    write(recorded, "1", 90)
    note_played(folder, recorded)
    ran(folder, now := int(time.time()) + 60, sums=9)
    write(folder / "measurements.csv", "", now + 60)
    note_played(folder, recorded)
    assert rows(tmp_path)["sums"] == "✓ 9 of 9"
    write(folder / "status.json", (folder / "status.json").read_text(), 95)
    write(recorded, "2", 90)
    note_played(folder, recorded)
    assert "recorded again; to bring up to date" in rows(tmp_path)["sums"]


def test_a_study_with_times_is_told_with_what_to_use_and_a_curve(results: Path) -> None:
    content = json.loads((results / "emulator/status.json").read_text())
    of_all = dict.fromkeys(("kernel", "configuration", "ties", "average", "largest", "gain", "beside"), "")
    row = {**of_all, "sizes": "2¹⁶–2²²", "kernel": "tree", "configuration": "64 × 8", "loses": "3.1%"}
    row |= {"of_peak": "89.0%", "peak_fraction": 0.89}
    answer = {
        "curve": [0.1, 0.5, 0.9],
        "places": [0.0, 0.25, 1.0],
        "runs": [[0, 2]],
        "end": "2²⁴",
        "ends_of": {"memory": [0.9]},
        "further": {},
        "gains": {"2²⁰": 1.39, "2²²": 0.97, "2²⁴": 1.006},
        "library": "",
        "reached": [
            {"kernel": "tree", "is_everywhere": False, "is_refined": False, "shares": {"memory": [0.9]}, "ahead": {}}
        ],
        "uses": [row, {**row, "sizes": "2²⁴", "loses": "0.0%"}],
    }
    content["studies"]["sums"] |= {"title": "Sums: one value", "answer": answer, "kind": "float32 sum", "excused": 2}
    content["studies"]["rows"]["provenance"] = "checked twice"
    write(results / "emulator/status.json", json.dumps(content), 100)
    undefined = " (besides 2 of undefined behaviour)"
    of_sums = f"one value float32 sum 100% 0 90% 2¹⁶–2²² tree 64 × 8 89.0% 3.1% ✓ 9 of 9{undefined}"
    assert rows(results)["sums"] == of_sums
    row["has_better"], content["studies"]["rows"]["clean"] = True, ["1 of 3", "undefined behaviour: 2"]
    write(results / "emulator/status.json", json.dumps(content), 100)
    assert "2¹⁶–2²² or better by size tree" in rows(results)["sums"], "which the terminal marks"
    assert rows(results)["rows"].endswith("1 of 3, undefined behaviour: 2")
    reached = f"18 of 18 points right{undefined} . At 2²⁴, use tree: 90% of the memory&#39;s peak. "
    further = ">Our fastest is 0.970 to 1.39 times as fast as the fastest library at 3 sizes, faster at 2: "
    further += "least at 2²², most at 2²⁰.</p>"
    assert reached in rows(results)["emulator"] and further in (results / "index.html").read_text()
    assert "Checked; rows checked twice. " in rows(results)["emulator"]
    assert 'd="M0,28.8L96,3.2"/><text' in (results / "index.html").read_text()
    del answer["places"]  # of one size, which makes no curve
    write(results / "emulator/status.json", json.dumps(content), 100)
    assert "tree 64 × 8" in rows(results)["sums"] and "<polyline" not in (results / "index.html").read_text()


def test_a_verdict_is_a_line_and_goes_where_what_it_compares_was_measured_again(results: Path) -> None:
    # Pins: an edit that was taken back and run again, of which the page still said "sectors −68%".
    comparison = {"verdict": ["tree: sectors −68%, right at 9 of 9"], "kernels": {}, "counted": {"sums/tree": {}}}
    write(results / "emulator/comparison/comparison.json", json.dumps(comparison), 95)
    grade = {"verdict": ["racy: wrong (right at 4 of 9 points), race at racy.cu:34."], "status": 1, "candidates": []}
    write(results / "emulator/grade/verdict.json", json.dumps(grade), 170)

    def verdicts() -> list[str]:
        renew_index(results)
        return re.findall('<p class="verdict.*?<strong>(.*)</p>', (results / "index.html").read_text())

    racy = "racy: wrong (right at 4 of 9 points), race at racy.cu:34.</strong></a>"
    assert verdicts() == [racy, "tree: sectors −68%, right at 9 of 9</strong></a>"]
    write(results / "emulator/points/rows/one.csv", "", 96)
    assert len(verdicts()) == 2, "another study was measured"
    write(results / "emulator/points/sums/one.csv", "", 96)
    assert verdicts() == [racy]
    older = "Older than the newest measurements: <a .*>emulator/comparison/comparison.json</a>, made 1970"
    assert re.search(older, (results / "index.html").read_text())


def test_a_study_with_a_mistake_is_told_where_the_others_are(results: Path) -> None:
    # Pins: a page that said that every point is right, and nothing of the study that was left out.
    told = "Left out: own (config/studies/own.yaml:2: unknown key &#39;titel&#39;; did you mean &#39;title&#39;?)."
    page = results / "emulator/report.html"
    page.write_text(UNMARKED)
    renew_index(results, {"own": "config/studies/own.yaml:2: unknown key 'titel'; did you mean 'title'?"})
    pages = [page.read_text(), (results / "index.html").read_text()]
    assert all(told in text.replace("&#x27;", "&#39;") for text in pages)
    renew_index(results)
    assert page.read_text() == UNMARKED and "Left out" not in (results / "index.html").read_text()
