"""A ladder's table: the right numbers beside each other, none where there is none, in all three formats."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pandas
import pytest
from checkout import ROOT
from synthetic_sweep import EMULATOR, H200, UNROLLING, WARP_SHUFFLE, baseline, fail, shipped, sweep

from kernelsweep.analysis.measurements import load_measurements
from kernelsweep.analysis.published import Published, load_published
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.errors import UserError
from kernelsweep.publish.tables.formats import TableText, as_csv, as_latex, as_markdown
from kernelsweep.publish.tables.ladder_table import TIME_COLUMNS, study_table
from kernelsweep.publish.tables.ladder_text import study_text

RESOURCES = ROOT / "resources/published"


def published(study: dict[str, Any]) -> Published:
    figures = load_published(study["published"], RESOURCES)
    assert figures is not None
    return figures


def text_of(data: StudyData) -> TableText:
    return study_text(study_table(data), data)


def markdown(
    study: dict[str, Any], rows: pandas.DataFrame, device: dict[str, Any], figures: Published | None = None
) -> str:
    return as_markdown(text_of(StudyData(study, rows, device, figures)))


def latex(study: dict[str, Any], rows: pandas.DataFrame, device: dict[str, Any], figures: Published | None) -> str:
    return as_latex(text_of(StudyData(study, rows, device, figures)))


def markdown_row(text: str, start: str) -> list[str]:
    """The cells of the Markdown table's row that begins with `start`."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {start}")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_measured_and_published_figures_stand_beside_each_other() -> None:
    table = study_table(StudyData(UNROLLING, sweep(UNROLLING, H200), H200, published(UNROLLING)))
    steps = list(zip(table["kernel"], table["unroll"], strict=True))
    assert steps == [(step["kernel"], step["unroll"]) for step in UNROLLING["steps"]]
    row = table.iloc[steps.index(("unrolled", 8))]
    assert row["time_us"] == 27.0
    assert row["speedup"] == pytest.approx(214.0 / 27.0)
    assert row["published_time_us"] == 116.6
    assert row["published_speedup"] == pytest.approx(555.2 / 116.6)
    # The article has no factor 16: our row keeps its own figures, and gets none of another row's.
    row = table.iloc[steps.index(("unrolled", 16))]
    assert row["time_us"] == 25.4
    assert pandas.isna(row["published_time_us"]) and pandas.isna(row["published_speedup"])


def test_a_published_row_without_a_counterpart_has_no_figures_of_ours() -> None:
    table = study_table(StudyData(WARP_SHUFFLE, sweep(WARP_SHUFFLE, H200), H200, published(WARP_SHUFFLE)))
    cpu = table.iloc[-1]
    assert (cpu["kernel"], cpu["published_time_us"]) == ("cpu", 5114.9)
    assert cpu["published_speedup"] == pytest.approx(255.6 / 5114.9)
    assert cpu[["unroll", *TIME_COLUMNS, "points_right"]].isna().all()
    text = markdown(WARP_SHUFFLE, sweep(WARP_SHUFFLE, H200), H200, published(WARP_SHUFFLE))
    assert markdown_row(text, "`cpu`") == ["`cpu`", *["–"] * 6, "5,114.9", "20× slower"]


def test_the_row_order_of_the_measurements_does_not_show() -> None:
    rows = fail(sweep(UNROLLING, H200), "skipped", "too large", array_size=2**30)
    shuffled = rows.sample(frac=1, random_state=1)
    first, second = (study_table(StudyData(UNROLLING, each, H200, published(UNROLLING))) for each in (rows, shuffled))
    assert as_csv(first) == as_csv(second)


def test_a_failed_point_shows_its_status_and_never_a_time() -> None:
    # The stray time must not show even if a row carries one against the contract.
    where = {"kernel": "shuffle", "unroll": 4, "array_size": 2**24, "block_size": 256}
    rows = fail(sweep(WARP_SHUFFLE, H200), "wrong_result", "got 3 | expected 4", keep_time=True, **where)
    table = study_table(StudyData(WARP_SHUFFLE, rows, H200, published(WARP_SHUFFLE)))
    step = table[(table["kernel"] == "shuffle") & (table["unroll"] == 4)].iloc[0]
    assert step[list(TIME_COLUMNS)].isna().all()
    assert (step["points_right"], step["points_run"], step["failures"]) == (158, 160, "2 wrong_result")
    text = markdown(WARP_SHUFFLE, rows, H200, published(WARP_SHUFFLE))
    row = markdown_row(text, "`shuffle` <sup>1</sup>")
    assert row[2:7] == ["wrong result", "–", "–", "–", "–"]
    assert row[-1] == "158 of 160; 2 wrong result"
    assert "got 3 | expected 4" in text


def test_without_the_first_step_there_is_no_speedup() -> None:
    rows = fail(sweep(WARP_SHUFFLE, H200), "timed_out", "", kernel="global_memory", unroll=1)
    table = study_table(StudyData(WARP_SHUFFLE, rows, H200, published(WARP_SHUFFLE)))
    assert table["speedup"].isna().all()
    assert table["time_us"].notna().sum() == 5
    assert table["published_speedup"].iloc[2] == pytest.approx(255.6 / 150.5)


def test_skipped_points_are_counted_apart_from_wrong_ones() -> None:
    rows = fail(sweep(WARP_SHUFFLE, H200), "skipped", "too large", array_size=2**30)
    table = study_table(StudyData(WARP_SHUFFLE, rows, H200))
    assert table["failures"].eq("").all()
    text = markdown(WARP_SHUFFLE, rows, H200)
    assert text.count("140 of 140; 20 skipped") == len(WARP_SHUFFLE["steps"])


def test_emulated_times_are_never_shown() -> None:
    rows = sweep(UNROLLING, EMULATOR).assign(time_us=123456.0, time_low_us=123455.0, time_high_us=123457.0)
    table = study_table(StudyData(UNROLLING, rows, EMULATOR, published(UNROLLING)))
    assert not set(TIME_COLUMNS) & set(table.columns)
    assert table["published_time_us"].iloc[0] == 555.2
    for text in (
        as_csv(table),
        markdown(UNROLLING, rows, EMULATOR, published(UNROLLING)),
        latex(UNROLLING, rows, EMULATOR, published(UNROLLING)),
    ):
        assert "12345" not in text
        assert "555.2" in text
    assert "No times of ours" in markdown(UNROLLING, rows, EMULATOR, published(UNROLLING))


def with_grids(rows: pandas.DataFrame, kernel: str, factors: dict[int, float]) -> pandas.DataFrame:
    """`rows`, where one kernel's number of blocks is an axis: its times become those times a factor for each grid."""
    others, of_kernel = rows[rows["kernel"] != kernel], rows[rows["kernel"] == kernel]
    grids = [
        of_kernel.assign(grid_size=grid, launches=2, time_us=of_kernel["time_us"] * factor)
        for grid, factor in factors.items()
    ]
    return pandas.concat([others, *grids], ignore_index=True)


def test_steps_of_one_kernel_at_two_grids_each_have_their_own_time() -> None:
    study = WARP_SHUFFLE | {
        "steps": [
            {"kernel": "global_memory", "unroll": 4, "grid_size": None},
            {"kernel": "shuffle", "unroll": 4, "grid_size": 270},
            {"kernel": "shuffle", "unroll": 4, "grid_size": "2 * multiprocessors"},
        ]
    }
    rows = with_grids(sweep(WARP_SHUFFLE, H200), "shuffle", {264: 1.0, 270: 2.0})
    table = study_table(StudyData(study, rows, H200))
    assert list(table["grid_size"]) == [2**14, 270, 264]
    assert list(table["launches"]) == [1, 2, 2]
    assert table["time_us"].iloc[1] == 2 * table["time_us"].iloc[2]
    assert table["step_gain"].iloc[2] == pytest.approx(2)
    text = markdown(study, rows, H200)
    assert markdown_row(text, "kernel")[-2:] == ["grid", "launches"]
    assert markdown_row(text, "`global_memory`")[-2:] == ["16,384", "1"]
    # Neither is worth a column where the plan sets the grid and every step is one launch.
    assert not {"grid", "launches"} & set(markdown_row(markdown(UNROLLING, sweep(UNROLLING, H200), H200), "kernel"))


def floats(rows: pandas.DataFrame) -> pandas.DataFrame:
    """The same points in float32, repeated without a change of bits, with an error that grows with the array."""
    errors = rows["array_size"] / 2**24 * 1.25e-7
    return rows.assign(dtype="float32", bit_identical="yes", relative_error=errors)


FLOATS = WARP_SHUFFLE | {"reference": WARP_SHUFFLE["reference"] | {"dtype": "float32"}}


def test_how_far_floating_point_results_are_off_and_whether_they_repeat() -> None:
    rows = floats(sweep(WARP_SHUFFLE, H200, sizes=(2**20, 2**24, 2**26)))
    differs = (rows["kernel"] == "shuffle") & (rows["array_size"] == 2**26)
    rows.loc[differs, "bit_identical"] = "no"
    # Points in double precision count for the bits, and not for the largest error in single precision.
    doubles = rows[rows["unroll"] == 1].assign(dtype="float64", relative_error=1.0)
    rows = pandas.concat([rows, doubles], ignore_index=True)
    table = study_table(StudyData(FLOATS, rows, H200))
    shuffle = table[(table["kernel"] == "shuffle") & (table["unroll"] == 4)].iloc[0]
    assert (shuffle["relative_error"], shuffle["largest_relative_error"]) == (1.25e-7, 5e-7)
    assert (shuffle["bit_identical_points"], shuffle["repeated_points"]) == (60, 90)
    text = markdown(FLOATS, rows, H200)
    assert markdown_row(text, "`shuffle`       |      4")[-2:] == ["1.2·10⁻⁷", "60 of 90"]
    # What is the same in all rows is a sentence, and no column.
    assert "All 270 points of these kernels' sweeps are right." in text and "right" not in markdown_row(text, "kernel")
    assert "`math.fsum`" in text and "Same bits:" in text


def test_integers_have_neither_errors_nor_bits_to_compare() -> None:
    text = markdown(WARP_SHUFFLE, sweep(WARP_SHUFFLE, H200), H200)
    assert "same bits" not in text and "relative error" not in text
    # A few floating-point points beside an integer reference point have bits, but no error at that point.
    rows = sweep(WARP_SHUFFLE, H200)
    further = floats(sweep(WARP_SHUFFLE, H200, sizes=(2**20,), block_sizes=(256,)))
    further = further[further["kernel"] == "shuffle"]
    text = markdown(WARP_SHUFFLE, pandas.concat([rows, further], ignore_index=True), H200)
    assert "relative error" not in text and "Repeated runs of all 4 floating-point points left the same bits." in text


HOST = "Intel(R) Xeon(R) Platinum 8480C"


def test_sums_on_the_host_stand_below_the_steps() -> None:
    rows = pandas.concat(
        [
            sweep(UNROLLING, H200),
            pandas.DataFrame(
                [baseline("recursive_pairwise", 21400.0, UNROLLING, HOST), baseline("numpy", 5350.0, UNROLLING, HOST)]
            ),
        ],
        ignore_index=True,
    )
    figures = load_published(UNROLLING["published"] | {"where": {"run": "complete"}}, RESOURCES)
    table = study_table(StudyData(UNROLLING, rows, H200, figures))
    # In the study's order; the scalar loop has no row, and is not made up. The published loop stays as it is.
    assert list(table["kernel"].iloc[len(UNROLLING["steps"]) :]) == ["cpu_numpy", "cpu_recursive_pairwise", "cpu"]
    numpy_row, published_row = table.iloc[-3], table.iloc[-1]
    assert (numpy_row["device"], numpy_row["time_us"]) == (HOST, 5350.0)
    assert numpy_row["speedup"] == pytest.approx(214.0 / 5350.0)
    assert numpy_row[["unroll", "block_size", "peak_fraction", "step_gain", "points_right", "points_run"]].isna().all()
    assert (published_row["status"], published_row["published_time_us"]) == ("published_only", 21427.2)
    text = markdown(UNROLLING, rows, H200, figures)
    mark = text.split(f"</sup> On the host: {HOST}, one thread;")[0][-1]
    row = markdown_row(text, f"`cpu_recursive_pairwise` <sup>{mark}</sup>")
    assert (row[1], row[2], row[4], row[-1]) == ("–", "21,400", "100× slower", "–")
    assert "All 2,000 points of these kernels' sweeps are right." in text
    assert rf"\,On the host: {HOST}, one thread;" in latex(UNROLLING, rows, H200, figures)
    # Where the platform has no times, they would have nothing to show.
    assert not study_table(StudyData(UNROLLING, rows, EMULATOR))["kernel"].str.startswith("cpu").any()


STEPS = ("modulo_baseline", "strided_index", "first_add_on_load")
STEPWISE = WARP_SHUFFLE | {
    "title": "Stepwise: a float sum in shared memory",
    "kernels": [{"name": kernel, "axes": {"unroll": [1, 4]}} for kernel in STEPS],
    "steps": [{"kernel": kernel, "unroll": 4, "grid_size": None} for kernel in STEPS],
    "published": {
        "file": "stepwise_amd.csv",
        "device": "an AMD GPU with wavefronts of 64",
        "label": "published",
        "compare": "ratios",
        "where": {},
    },
}


def stepwise_sweep() -> pandas.DataFrame:
    rows = sweep(WARP_SHUFFLE, H200)
    names = dict(zip(("global_memory", "shared_memory", "shuffle"), STEPS, strict=True))
    return rows.assign(kernel=rows["kernel"].map(names))


def test_times_of_another_kind_of_device_are_compared_by_ratios_alone() -> None:
    figures = published(STEPWISE)
    table = study_table(StudyData(STEPWISE, stepwise_sweep(), H200, figures))
    times = table["time_us"]
    # The publication has each kernel once, and no unroll factors.
    assert list(table["published_time_us"].iloc[:3]) == [1322.721, 1215.2, 948.001]
    assert pandas.isna(table["step_gain"].iloc[0]) and pandas.isna(table["published_step_gain"].iloc[0])
    assert table["step_gain"].iloc[2] == times.iloc[1] / times.iloc[2]
    assert table["published_step_gain"].iloc[2] == pytest.approx(1215.2 / 948.001)
    # Rows that only the publication has are no steps of ours, so none is before another.
    assert table["published_step_gain"].iloc[3:].isna().all()
    text = markdown(STEPWISE, stepwise_sweep(), H200, figures)
    header = markdown_row(text, "kernel")
    assert "published (µs)" in header and "published: an AMD GPU with wavefronts of 64" in text
    assert {"over the step before", "published (over the step before)"} < set(header)
    assert "published (speedup)" not in header
    assert "another kind of device" in text and "only ratios between steps compare" in text
    assert "over the step before" not in markdown(
        WARP_SHUFFLE, sweep(WARP_SHUFFLE, H200), H200, published(WARP_SHUFFLE)
    )


def test_a_step_with_undefined_behaviour_is_never_the_step_before() -> None:
    table = study_table(StudyData(UNROLLING, sweep(UNROLLING, H200), H200, published(UNROLLING)))
    row = table[table["kernel"] == "completely_unrolled"].iloc[0]
    times = table.set_index(["kernel", "unroll"])["time_us"]
    assert row["step_gain"] == times["unrolled_warps", 8] / times["completely_unrolled", 8]
    # The published step before is volatile, too.
    published_row = table[table["kernel"] == "completely_unrolled_volatile"].iloc[0]
    assert published_row["published_step_gain"] == pytest.approx(117.1 / 117.1)


def test_undefined_behaviour_is_a_footnote() -> None:
    text = markdown(UNROLLING, sweep(UNROLLING, H200), H200)
    assert markdown_row(text, "`unrolled_warps_volatile` <sup>1</sup>")
    assert "<sup>1</sup> Undefined behaviour" in text


def test_csv_gives_the_numbers_back() -> None:
    table = study_table(StudyData(UNROLLING, sweep(UNROLLING, H200), H200, published(UNROLLING)))
    back = pandas.read_csv(StringIO(as_csv(table)))
    assert list(back["time_us"]) == list(table["time_us"])
    assert list(back["published_time_us"].dropna()) == list(table["published_time_us"].dropna())


def test_latex_is_escaped_and_regular() -> None:
    rows = fail(sweep(UNROLLING, H200), "launch_failed", "50% of {x} & #1_a ~ $", kernel="unrolled", unroll=2)
    text = latex(UNROLLING, rows, H200, published(UNROLLING))
    assert r"\texttt{completely\_unrolled\_template}" in text
    assert r"\label{tab:unrolling}" in text
    assert r"50\% of \{x\} \& \#1\_a \textasciitilde{} \$" in text
    # The times, and below them how right the kernels are: side by side they would be wider than a page.
    tabulars = [part.split(r"\end{tabular}" + "\n\n")[0] for part in text.split(r"\begin{tabular}{")[1:]]
    assert len(tabulars) == 2
    for tabular in tabulars:
        body = tabular[tabular.index(r"\midrule") : tabular.index(r"\bottomrule")]
        separators = {line.replace(r"\&", "").count("&") for line in body.splitlines() if line.endswith(r"\\")}
        assert separators == {tabular[: tabular.index(r"\toprule")].count("r")}
    assert text.isascii()


def test_latex_tells_steps_of_one_kernel_apart_where_they_differ() -> None:
    rows = floats(sweep(WARP_SHUFFLE, H200))
    same = latex(FLOATS, rows, H200, None)
    assert same.count(r"\texttt{shuffle}") == 2 + 1
    rows.loc[rows["unroll"] == 4, "relative_error"] *= 2
    different = latex(FLOATS, rows, H200, None)
    assert r"\texttt{shuffle} & 1 & 1.2$\cdot$10" in different and r"\texttt{shuffle} & 4 & 2.5$\cdot$10" in different


def test_measurements_load_in_one_order_from_plain_and_compressed_files(tmp_path: Path) -> None:
    rows = fail(sweep(WARP_SHUFFLE, H200), "timed_out", "", kernel="shuffle", unroll=4)
    paths = []
    for kernel, suffix in (("shuffle", "csv"), ("global_memory", "csv.gz"), ("shared_memory", "csv")):
        paths.append(tmp_path / f"{kernel}.{suffix}")
        rows[rows["kernel"] == kernel].to_csv(paths[-1], index=False)
    loaded = load_measurements(paths)
    pandas.testing.assert_frame_equal(loaded, load_measurements(paths[::-1]))
    assert len(loaded) == len(rows)
    assert loaded.loc[loaded["status"] == "timed_out", "time_us"].isna().all()
    assert as_csv(study_table(StudyData(WARP_SHUFFLE, loaded, H200))) == as_csv(
        study_table(StudyData(WARP_SHUFFLE, rows, H200))
    )
    with pytest.raises(UserError, match="twice"):
        load_measurements([paths[0], paths[0]])


def test_libraries_and_limits_stand_beside_the_steps() -> None:
    # Pins: a library's row lost because it has no block size of ours; a limit taken at another size or of another type;
    # and the fraction of a limit given for a row without a time.
    study, measurements = shipped("bandwidth_bound", H200["name"])
    table = study_table(StudyData(study, measurements, H200)).set_index("kernel")
    assert list(table.index[-len(study["rivals"]) :]) == study["rivals"]
    at = measurements[(measurements["array_size"] == 2**28) & (measurements["dtype"] == "int32")]
    at = at[(at["operation"] == "sum") & (at["cache"] == "cold")]
    expected = {
        "read_only_fraction": at[at["kernel"] == "read_only"]["bandwidth_gbs"].max(),
        "copy_fraction": at[at["kernel"] == "limit_copy"]["bandwidth_gbs"].item(),
        "fill_fraction": at[at["kernel"] == "limit_fill"]["bandwidth_gbs"].item(),
    }
    for column, bandwidth in expected.items():
        for kernel in ("last_block", "cub"):
            assert table.loc[kernel, column] == pytest.approx(table.loc[kernel, "bandwidth_gbs"] / bandwidth)
    assert table.loc["torch", ["time_us", *expected]].isna().all()
    assert (table.loc["torch", "status"], table.loc["torch", "message"]) == ("skipped", "it is not installed")
    text = as_markdown(study_text(table.reset_index(), StudyData(study, measurements, H200)))
    assert "| of read only | of streaming read only | of copy | of fill |" in text
    assert "| `torch` <sup>1</sup> |      – |   skipped |" in text

    study, emulated = shipped("bandwidth_bound", EMULATOR["name"])
    table = study_table(StudyData(study, emulated, EMULATOR))
    assert not set(study["rivals"]) & set(table["kernel"])
    assert not set(expected) & set(table.columns)
