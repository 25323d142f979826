"""The exchanges' table: each output, whether it is the published one, and how much of the sweep was right."""

from __future__ import annotations

from typing import Any

import pandas
from reductions import EXCHANGE
from synthetic_sweep import EMULATOR, H200

from kernelsweep.analysis.published import Published
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.publish.tables.exchanges import exchange_table, exchange_text
from kernelsweep.publish.tables.formats import as_csv, as_latex, as_markdown
from kernelsweep.results import MEASUREMENT_COLUMNS

ROTATED = "2 3 4 5 6 7 8 9 10 11 12 13 14 15 0 1"
ROTATED_BACK = "14 15 0 1 2 3 4 5 6 7 8 9 10 11 12 13"
SWAPPED = "7 1 2 3 4 5 6 0 15 9 10 11 12 13 14 8"
OUTPUTS = {
    ("rotate", "offset=2"): ROTATED,
    ("rotate", "offset=-2"): ROTATED_BACK,
    ("butterfly_swap", "lane_mask=1 first=0 second=3"): SWAPPED,
}
PUBLISHED = Published("published", "warp_shuffle_exchanges.csv", outputs=OUTPUTS)

STUDY: dict[str, Any] = {
    "problem": EXCHANGE.named,
    "compares": "outputs",
    "title": "Exchanges: ways to hand values across a warp",
    "axes": {},
    "kernels": [
        {"name": "butterfly_swap", "axes": {"arguments": ["lane_mask=1 first=0 second=3"]}},
        {"name": "rotate", "axes": {"arguments": ["offset=2", "offset=-2", "offset=37"]}},
    ],
    "reference": {"array_size": 16, "block_size": 16, "dtype": "int32", "operation": "exchange", "cache": "hot"},
}


def row(kernel: str, arguments: str, output: str = "", **point: Any) -> dict[str, Any]:
    """A right point, at the reference unless `point` says otherwise."""
    return {
        "study": "exchanges",
        "kernel": kernel,
        "array_size": 16,
        "block_size": 16,
        "unroll": 1,
        "dtype": "int32",
        "operation": "exchange",
        "cache": "hot",
        "status": "ok",
        "message": "",
        "flags": "",
        "width": 16,
        "arguments": arguments,
        "output": output,
        **point,
    }


def measured(**rotated: Any) -> pandas.DataFrame:
    """A small sweep, rows in no order; `rotated` changes the point of the first published rotation."""
    rows = [
        row("rotate", "offset=-2", ROTATED_BACK),
        row("rotate", "offset=37", "5 6 7"),
        row("rotate", "offset=2", "not this group", width=4),
        row("rotate", "offset=2", "not this block", block_size=256),
        row("rotate", "offset=2", "not this array", array_size=32),
        row("rotate", "offset=2", **{"output": ROTATED, **rotated}),
        row("rotate", "offset=2", array_size=1000, status="skipped", message="too long"),
        row("butterfly_swap", "lane_mask=1 first=0 second=3", "not this block", unroll=4, block_size=32),
        row("butterfly_swap", "lane_mask=1 first=0 second=3", SWAPPED, unroll=4, block_size=4),
    ]
    return pandas.DataFrame(rows, columns=list(MEASUREMENT_COLUMNS)).astype({"width": "Int64"})


def table_of(rows: pandas.DataFrame, published: Published | None = PUBLISHED) -> pandas.DataFrame:
    return exchange_table(StudyData(STUDY, rows, H200, published))


def markdown(rows: pandas.DataFrame, published: Published | None, study: dict[str, Any] = STUDY) -> str:
    data = StudyData(study, rows, H200, published)
    return as_markdown(exchange_text(exchange_table(data), data))


def cells(text: str, *start: str) -> list[str]:
    """The cells of the one Markdown row whose first cells are these."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    (found,) = [row for row in rows if row[: len(start)] == list(start)]
    return found


def test_each_published_exchange_has_its_row_with_what_was_measured() -> None:
    table = table_of(measured())
    assert list(zip(table["kernel"], table["arguments"], strict=True)) == list(OUTPUTS)
    assert list(table["output"]) == list(table["published_output"]) == list(OUTPUTS.values())
    assert list(table["same"]) == ["yes"] * 3
    # Four threads with four elements each are the published sixteen.
    assert list(table[["width", "block_size", "unroll"]].iloc[2]) == [16, 4, 4]
    # Over the kernel's whole sweep, so the same in both rows of one kernel.
    assert table[["points_right", "points_run", "points_skipped"]].to_numpy().tolist() == [[6, 6, 1]] * 2 + [[2, 2, 0]]
    text = markdown(measured(), PUBLISHED)
    assert cells(text, "`rotate`", "offset=-2")[2:] == [
        "16",
        "1",
        ROTATED_BACK,
        ROTATED_BACK,
        "yes",
        "6 of 6; 1 skipped",
    ]
    assert as_csv(table) == as_csv(table_of(measured().iloc[::-1]))


def test_an_output_that_is_not_the_published_one_is_seen() -> None:
    other = ROTATED.replace("0 1", "1 0")
    table = table_of(measured(output=other))
    assert list(table["same"]) == ["no", "yes", "yes"]
    text = markdown(measured(output=other), PUBLISHED)
    assert cells(text, "`rotate` <sup>1</sup>")[-4:-1] == [other, ROTATED, "no"]
    assert "<sup>1</sup> The output is not the published one." in text


def test_a_wrong_exchange_says_what_was_wrong() -> None:
    wrong = {"status": "wrong_result", "message": "element 0: expected 2, found 0", "output": "0 3"}
    text = markdown(measured(**wrong), PUBLISHED)
    assert cells(text, "`rotate` <sup>1,2</sup>")[-4:] == ["0 3", ROTATED, "no", "5 of 6; 1 wrong result; 1 skipped"]
    assert "wrong result; element 0: expected 2, found 0" in text
    # One that was not run at all has no output to differ.
    skipped = table_of(measured(status="skipped", output=""))
    assert (skipped["status"].iloc[0], skipped["same"].iloc[0]) == ("skipped", "")


def test_kernels_without_a_published_row_follow_and_published_rows_without_a_kernel_stay() -> None:
    study = STUDY | {"kernels": [STUDY["kernels"][1], {"name": "of_ours", "axes": {"arguments": ["delta=1"]}}]}
    rows = measured()
    rows = rows[rows["kernel"] != "butterfly_swap"]
    table = exchange_table(StudyData(study, rows, H200, PUBLISHED)).set_index("kernel")
    assert list(table.index) == ["rotate", "rotate", "butterfly_swap", "of_ours"]
    assert (table["status"]["butterfly_swap"], table["published_output"]["butterfly_swap"]) == (
        "published_only",
        SWAPPED,
    )
    assert (table["status"]["of_ours"], table["arguments"]["of_ours"]) == ("not_measured", "delta=1")
    text = markdown(rows, PUBLISHED, study)
    assert cells(text, "`butterfly_swap`")[-4:] == ["–", SWAPPED, "–", "–"]
    assert cells(text, "`of_ours` <sup>1</sup>")[-4] == "not measured"


def test_without_a_publication_its_columns_are_left_out() -> None:
    table = table_of(measured(), None)
    # The study's kernels in its order, each with the first of its arguments.
    assert list(table["kernel"]) == ["butterfly_swap", "rotate"]
    assert list(table["output"]) == [SWAPPED, ROTATED]
    assert not {"published_output", "same"} & set(table.columns)
    assert "published" not in markdown(measured(), None)


def test_latex_is_regular_and_says_nothing_twice() -> None:
    text = as_latex(exchange_text(table_of(measured()), StudyData(STUDY, measured(), EMULATOR, PUBLISHED)))
    assert text.isascii()
    assert r"\label{tab:exchanges}" in text
    # The outputs, and below them what else is known, where both rotations have the same to tell.
    assert text.count(r"\texttt{butterfly\_swap}") == text.count(r"\begin{tabular}{") == 2
    assert text.count(r"\texttt{rotate}") == 3
    assert rf"offset=-2 & {ROTATED_BACK} & {ROTATED_BACK} & yes \\" in text
