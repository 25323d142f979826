"""Best configurations: the fastest, all that can't be told apart from it, and a file that other programs can read."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import jsonschema
import pandas
import pytest
from checkout import ROOT
from recorded import recorded
from shipped_kernels import shipped_study
from synthetic_sweep import EMULATOR, H200, UNROLLING, fail, row_counts, sweep

from kernelsweep.base.templates import environment
from kernelsweep.judge.best.best_file import best_json
from kernelsweep.judge.best.best_words import best_text, configuration_text, libraries_text, use_rows
from kernelsweep.judge.best.find import Best, Configuration, Use, comparable, find_best, find_uses, of_reference
from kernelsweep.judge.claims.claim import GOAL, HOLDS, NEEDS_COUNTS
from kernelsweep.judge.data.proofs import KernelProof
from kernelsweep.judge.data.reference import at_place
from kernelsweep.judge.data.row_counts import RowCounts
from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.judge.data.words import configuration_words
from kernelsweep.publish.answer import answer_text, answers
from kernelsweep.publish.reach import reach
from kernelsweep.publish.share_chart import share_chart
from kernelsweep.publish.tables.formats import as_latex
from kernelsweep.publish.tables.table_text import best_table
from kernelsweep.study.axes import LARGEST_GRID

SCHEMA = json.loads((ROOT / "workflow/schemas/best.schema.json").read_text())
SIZE = 2**24
LEAD = environment(ROOT / "workflow/scripts/kernelsweep/publish", is_html=True).get_template("page/use.html")


def find(rows: pandas.DataFrame, device: dict[str, Any] = H200) -> list[Best]:
    return find_best("unrolling", StudyData(UNROLLING, rows, device))


def lines_of(found: list[Best], *of: Any) -> str:
    """The page, without the spaces that line its columns up."""
    return re.sub(r" +", " ", best_text(found, [], *of))


def one(found: list[Best], kernel: str, array_size: int = SIZE, cache: str = "cold") -> Best:
    place = {"array_size": array_size, "cache": cache}
    (best,) = [best for best in found if best.kernel == kernel and best.point.items() >= place.items()]
    return best


def with_time(rows: pandas.DataFrame, time_us: float, **place: Any) -> pandas.DataFrame:
    """The rows with one point's time set, and an interval of half a percent to either side."""
    chosen = pandas.Series(True, index=rows.index)
    for column, value in ({"array_size": SIZE, "cache": "cold"} | place).items():
        chosen &= rows[column] == value
    rows.loc[chosen, ["time_us", "time_low_us", "time_high_us"]] = (time_us, time_us * 0.995, time_us * 1.005)
    return rows


def test_the_fastest_and_what_it_can_not_be_told_apart_from() -> None:
    rows = with_time(sweep(UNROLLING, H200), 20.0, kernel="unrolled", block_size=256, unroll=4)
    # The ends of the ratios' intervals lie 0.7% to either side: 20.1 is a tie, 20.2 is not.
    rows = with_time(rows, 20.1, kernel="unrolled", block_size=128, unroll=4)
    rows = with_time(rows, 20.05, kernel="unrolled", block_size=64, unroll=8)
    rows = with_time(rows, 20.2, kernel="unrolled", block_size=512, unroll=8)
    best = one(find(rows), "unrolled")
    assert best.fastest.parameters == {"block_size": 256, "unroll": 4, "grid_size": None}
    assert best.fastest.time_us == 20.0
    assert [(tie.parameters["block_size"], tie.parameters["unroll"]) for tie in best.ties] == [(64, 8), (128, 4)]
    assert best.compared == 20


def test_a_kernel_that_rounds_more_is_never_called_the_fastest() -> None:
    study = shipped_study("matmul").settings
    point = {axis: study.reference[axis] for axis in ("m", "n", "k", "cache")}

    def best(kernel: str, precision: str, time_us: float) -> Best:
        one = Configuration(
            {"precision": precision}, time_us, 0.99 * time_us, 1.01 * time_us, None, None, None, precision
        )
        return Best("matmul", kernel, False, point, 1, one, ())

    found = [best("naive", "float32", 30.0), best("vectors", "float32", 20.0), best("tensor_cores", "tf32", 10.0)]
    assert [best.kernel for best in comparable(found)] == ["naive", "vectors"]


def uses(rows: pandas.DataFrame) -> list[Use]:
    return [use for use in find_uses("unrolling", StudyData(UNROLLING, rows, H200)) if use.kind["cache"] == "cold"]


def test_what_to_use_loses_least_at_any_size_and_where_that_is_much_each_size_has_its_own() -> None:
    rows = sweep(UNROLLING, H200)
    rows = rows[rows["kernel"].isin(["neighbored", "unrolled"])]
    sizes = sorted(rows["array_size"].unique())
    for place, size in enumerate(sizes):
        is_small = place < 2
        rows = with_time(rows, 50.0, array_size=size)
        # Good at small sizes, good at large ones, and near the fastest at all but a tie.
        rows = with_time(rows, 10.0 if is_small else 14.0, kernel="unrolled", block_size=64, unroll=4, array_size=size)
        rows = with_time(rows, 14.0 if is_small else 10.0, kernel="unrolled", block_size=512, unroll=4, array_size=size)
        rows = with_time(rows, 10.6 if is_small else 10.1, kernel="unrolled", block_size=256, unroll=4, array_size=size)
    everywhere, small, large = uses(rows)
    assert [one.configuration.parameters["block_size"] for one in (everywhere, small, large)] == [256, 64, 512]
    assert everywhere.everywhere and everywhere.worst == pytest.approx(0.06)
    assert everywhere.mean == pytest.approx((2 * 0.06 + (len(sizes) - 2) * 0.01) / len(sizes))
    assert [size["array_size"] for size in small.sizes + large.sizes] == sizes and small.worst == large.worst == 0
    assert everywhere.gain and (everywhere.beside, everywhere.gain.value) == ("neighbored", pytest.approx(50 / 10.1))
    # Where one is within 2% everywhere, or ties, nothing else is named.
    rows = with_time(rows, 10.19, kernel="unrolled", block_size=256, unroll=4, array_size=sizes[0])
    rows = with_time(rows, 10.05, kernel="unrolled", block_size=256, unroll=4, array_size=sizes[1])
    (one,) = uses(rows)
    assert one.configuration.parameters["block_size"] == 256 and one.worst == pytest.approx(0.019)
    text = re.sub(r" +", " ", best_text(find(rows), [one], {"unrolling": UNROLLING}, H200))
    assert "| all | `unrolled` | 256 × 4 |" in text and "| 1.9%, " in text
    # Undefined behaviour, and what failed, is never to be used.
    assert uses(fail(rows, "wrong_result", "0", kernel="unrolled", block_size=256)) != [one]


def made_of(*losses: tuple[float, float]) -> pandas.DataFrame:
    """Configurations that lose so much at the smallest size, and at each other size, against another each time."""
    rows = sweep(UNROLLING, H200)
    rows = rows[rows["kernel"].isin(["neighbored", "unrolled"]) & (rows["unroll"] <= 4)]
    sizes = sorted(rows["array_size"].unique())
    for size in sizes:
        rows = with_time(rows, 50.0, array_size=size)
        best = {"kernel": "unrolled", "unroll": 4, "block_size": 64 if size == sizes[0] else 1024}
        rows = with_time(rows, 10.0, array_size=size, **best)
        for block_size, lost in zip((128, 256, 512), losses, strict=False):
            time_us = 10.0 * (1 + lost[int(size != sizes[0])])
            rows = with_time(rows, time_us, array_size=size, kernel="unrolled", unroll=4, block_size=block_size)
    return rows


@pytest.mark.parametrize(("losses", "block_size"), [
    (((0.09, 0.0), (0.06, 0.05)), 256),
    # Pins: 0.4% at the worst size, within the error, decided against a tenth of the mean loss.
    (((0.064, 0.0), (0.06, 0.05)), 128),
    (((0.102, 0.0), (0.098, 0.05)), 256),
])  # fmt: skip
def test_the_worst_size_decides_and_where_that_ties_within_a_tenth_the_mean(losses: Any, block_size: int) -> None:
    first, *_ = uses(made_of(*losses))
    assert first.everywhere and first.configuration.parameters["block_size"] == block_size


def test_what_loses_more_than_a_tenth_is_recommended_nowhere() -> None:
    rows = made_of((0.11, 0.0), (0.3, 0.3))
    small, large = uses(rows)
    assert not small.everywhere and small.worst == large.worst == 0 and len(large.sizes) == 7
    assert [(tie.kernel, tie.configuration.parameters["block_size"]) for tie in large.ties] == [("unrolled", 128)]
    (answer,) = answers({"unrolling": UNROLLING}, [small, large], RowCounts(), {})
    noted = {"study": "unrolling", "kernel": "mark", "check": "races", "tool": "emulator", "message": "all write 1"}
    proofs = {("unrolling", "mark"): KernelProof(noted=[noted])}
    tables = (
        answer_text([answer], "", proofs),
        best_text(find(rows), [small, large], {"unrolling": UNROLLING}, H200),
        as_latex(best_table(StudyData(UNROLLING, rows, H200))).replace(r"\textsuperscript{16}", "¹⁶"),
    )
    for spread in ("", "0.01"):
        row = {"study": "unrolling", "kernel": "unrolled", "status": "ok", "flags": "", "time_us": "1.0"}
        (visited,) = answers({"unrolling": UNROLLING}, [large], row_counts([row | {"visit_spread": spread}]), {})
        assert ("ties too few. Set" in " ".join(answer_text([visited], "", {}).split())) == (not spread)
    # Pins: a kernel whose check had failed when it was recorded had no row, and claims on counters were left out.
    claims = [{"study": "unrolling", "size": "", "source": "", "fails_at": "", "verdict": NEEDS_COUNTS}] * 2
    claims.append(claims[0] | {"verdict": HOLDS, "size": "2²⁴", "fails_at": "2¹⁶"})
    # Pins: our goals counted among the claims, which the page counts apart.
    claims += [claims[2] | {"source": GOAL, "fails_at": ""}, claims[0] | {"source": GOAL}]
    lacking = {"flagged": {"unrolling": ["mark"]}, "claims": claims}
    (flagged,) = answers({"unrolling": UNROLLING}, [], RowCounts(), {}, **lacking)
    text = " ".join(answer_text([flagged], "", {}).split())
    assert "no time of unrolling/mark counts: a check had found a mistake" in text
    assert "claims: 1 holds at 2²⁴ (1 of these fails at another size), 3 need counters" in text
    assert "our goals: 1 of 1 met at 2²⁴" in text
    # Pins: a stack in place of the answer where a range is one size, which the library of tables took for a number.
    assert "1,000" in answer_text([replace(answer, uses=[{**of, "sizes": "1,000"} for of in answer.uses])], "", proofs)
    assert "note: unrolling/mark, races (emulator): all write 1" in " ".join(tables[0].split())
    assert "no point of unrolling/neighbored, " in " ".join(tables[0].split())
    assert share_chart(UNROLLING, find(rows), [], [])["ends"][-1]["name"] == "unrolled"
    tied = find(with_time(rows, 10.0, kernel="neighbored", array_size=int(rows["array_size"].max())))
    for used in ("neighbored", "unrolled"):
        # What the answer's table names comes first.
        (*_, end) = share_chart(UNROLLING, tied, [], [{"kernel": used, "has_better": False}])["ends"]
        assert end["name"].startswith(f"{used} and ")
    long = [replace(best, kernel=best.kernel.replace("unrolled", "unrolled_by_a_long_name")) for best in tied]
    ends = share_chart(UNROLLING, long, [], [{"kernel": "neighbored", "has_better": False}])["ends"]
    assert ends[-1]["name"] == "neighbored and 1 more", "so that it isn't cut"
    for table in tables:
        said = [line.split() for line in re.sub(r"[|&`]", " ", table).splitlines() if "× 4" in line][:2]
        assert ["2¹⁶" in said[0], "64" in said[0], "1024" in said[1]] == [True] * 3 and "all" not in said[0], table


def test_the_answers_chart_has_a_panel_per_peak_and_joins_no_sizes_without_an_order() -> None:
    data = recorded("convolution")
    rows = use_rows(find_uses("convolution", data), data.settings)
    copy = find_best("convolution", data, ["limit_copy"])
    chart = share_chart(data.settings, find_best("convolution", data), copy, rows)
    assert [panel["peak"] for panel in chart["panels"]] == ["memory", "float32"] and not chart["runs"]
    radii = [[row["words"].rpartition("=")[2] for row in panel["rows"]] for panel in chart["panels"]]
    assert radii == [["1", "4", "1", "4"], ["16", "16"]]
    # A copy has no share of arithmetic's peak.
    shares = [row["beside"]["limit"] for panel in chart["panels"] for row in panel["rows"]]
    assert None not in shares[:4] and shares[4:] == [None, None]
    # Pins: one row for a part of each image's radii, with the share of one peak; and a row that named no peak.
    assert [row["peak"] for row in rows] == ["the memory's", "float32's"] * 2 and not any(
        row["other_share"] for row in rows
    )
    assert [row["at"] for row in rows] == ["radius=4", ""] * 2, "of several radii, and of one size"
    # Pins: "3.75×" of both radii, at one of which it is 1.14×.
    assert [(row["gain"], row["gain_at"]) for row in rows][2:] == [
        ("1.14× to 3.75×", "radius=1 and radius=4"),
        ("43.3×", ""),
    ]
    # Pins: "steps=8" and "radius=4" on the first screen, which said nowhere what these are.
    assert chart["titles"] == {"radius": "radius (pixels)", "steps": "pixels per thread"}
    (headline,) = reach({"convolution": {**chart, "uses": rows}})
    assert (
        headline.replace("\xa0", " ")
        == "At 8192 × 8192, use two_shared_passes: 34% to 39% of the memory's peak and 23% of float32's"
    )
    # Pins: no word on 4099 × 2051 below the heading.
    names = re.findall("<li><b>(.*?)</b>: <code>(.*?)</code>", str(LEAD.module.choices(rows)).replace("\xa0", " "))
    sides = [("8192 × 8192", ("two_shared_passes", "two_shared_passes"))]
    sides.append(("4099 × 2051", ("one_pass", "two_shared_passes")))
    radii = ("1\u2060–\u20604", "16")
    told = [(f"{side}, radius={at}", kernel) for side, of in sides for at, kernel in zip(radii, of, strict=True)]
    assert names == told, "all sizes, the largest first"
    # Pins: convolution at 34% of the memory's peak and at 23% of float32's, without a word on which problem that is.
    of_all = reach({"convolution": chart, "blur": chart})
    one, other = (f"convolution at radius={radius}, blur at radius={radius}" for radius in (4, 16))
    assert f"reach 34% ({one}) to 39%" in of_all[0] and f"23% ({other}) of float32's peak" in of_all[1]
    of_array_sizes = share_chart(UNROLLING, find(sweep(UNROLLING, H200)), [], [])
    assert of_array_sizes["runs"] and not of_array_sizes["panels"]


def test_rows_of_small_shares_have_an_axis_of_their_own() -> None:
    # Pins: the marks of three rows of six in 4% of an axis, our dot over the library's bar.
    data = recorded("histogram")
    panels = share_chart(data.settings, find_best("histogram", data), [], [])["panels"]
    assert [(panel["end"], len(panel["rows"])) for panel in panels] == [(0.1, 3), (1, 3)]


def test_arithmetic_that_rounds_more_has_a_panel_with_its_own_library_and_a_share_in_the_headline() -> None:
    # Pins: "70% of the nearest peak" alone, above a row of ours that takes half the time in tf32.
    data = recorded("matmul")
    rows = use_rows(find_uses("matmul", data), data.settings)
    chart = share_chart(data.settings, find_best("matmul", data), find_best("matmul", data, ["cublas_matmul"]), rows)
    heads = [(panel["peak"], panel["beside"]["rival"]) for panel in chart["panels"]]
    assert heads == [("float32", "cublas_matmul"), ("tf32", "cublas_matmul tf32")]
    cublas = data.measurements[data.measurements["kernel"] == "cublas_matmul"].sort_values(["precision", "m"])
    drawn = [row for panel in chart["panels"] for row in panel["rows"]]
    assert [row["beside"]["rival"] for row in drawn] == pytest.approx(cublas["peak_fraction"].astype(float).to_list())
    are_throttled = ["throttled" in flags.split() for flags in cublas["flags"]]
    assert [row["throttled"]["rival"] is not None for row in drawn] == are_throttled
    assert {row["throttled"]["rival"] for row in drawn} == {None, 1725.0, 1965.0}
    assert [round(100 * end) for end in drawn[-1]["ranges"]["rival"]] == [69, 79]
    # Pins: the terminal and best.tex said "loses 0.0%", and nothing of cuBLAS.
    text = libraries_text([row for row in rows if not row["is_refined"]], data.settings)
    assert text.replace("\xa0", " ") == (
        "cublas_matmul is 1.68× as fast as vectors at 1023 × 1025 × 1021, 1.09× as fast as double_buffered at 8192³, "
        "4.66× as fast as tensor_cores in tf32 at 8192³"
    )
    # Pins: "use tensor_cores: 16%", without the library's 73%.
    headline, *beside_libraries = reach({"matmul": {**chart, "uses": rows}})
    told = "At 8192³, cublas_matmul reaches 76% of float32's peak, our double_buffered 70%"
    assert headline == told, "nobody is told to use what is slower than a library"
    # Pins: neither cuBLAS's visits, 9% apart, nor its lower clocks.
    small = "1023\xa0×\xa01025\xa0×\xa01021"
    assert beside_libraries == [
        "At 8192³, cublas_matmul reaches 73% (69–79%) of tf32's peak, our tensor_cores 16%",
        "In float32, our fastest is 0.596 (0.554–0.651) to 0.919* times as fast as cublas_matmul at 3 sizes"
        f": least at {small}, most at 4096³",
        "In tf32, our fastest is 0.205* to 0.434* (0.424–0.444) times as fast as cublas_matmul at 3 sizes"
        f": least at 4096³, most at {small}",
    ]
    at_largest = [row["sizes"].partition(" ")[2] for row in rows if row["is_at_largest"]]
    assert at_largest == ["4096³; 8192³", "all", "4096³; 8192³"], "what is spelled out below the heading"
    # Pins: one sentence with the ends of several peaks.
    further = "Where another peak is the limit, they reach 16% (matmul, gemm) of tf32's peak"
    assert reach({"matmul": chart, "gemm": chart})[1:] == [further]
    assert [row["sizes"].partition(":")[0] for row in rows] == ["float32"] * 2 + ["tf32"] * 3
    assert [row["gain"] for row in rows if row["is_beside_throttled"]] == ["0.205× to 0.405×", "0.434×"]
    # Pins: 0.60 alone, of cuBLAS's 63 to 74 µs; double_buffered's 0.92 is known to 1%.
    assert [rows[at]["gain_interval"] for at in (0, 1, -1)] == ["0.554–0.651", "", "0.197–0.228"]
    assert [*chart["gains"].values()] == pytest.approx([0.60, 0.92, 0.92], abs=0.005), "by size"


def test_as_many_blocks_as_needed_is_one_choice_for_all_sizes() -> None:
    # Pins: each number of blocks was a choice of its own, so that none did for all sizes.
    data = recorded("bandwidth_bound")
    everywhere, *refined = of_reference(find_uses(data.title, data), data.title, data.settings)
    rows = use_rows([everywhere, *refined], data.settings)
    assert "1024 × 2 in as many blocks as needed at 2²⁶–2²⁸; 2 others" in rows[1]["configuration"]
    assert everywhere.everywhere and everywhere.configuration.parameters["grid_size"] == LARGEST_GRID
    # Pins: of the strip's streaming_sum up to 2²⁸, the first screen named 512 × 4 alone, which loses to the library.
    text = str(LEAD.module.choices(rows)).replace("\xa0", " ").replace("\u2060", "")
    assert re.findall("</code>, block size (.*?)(?:; )?<", text) == [
        "512, unroll factor 4",
        "512, unroll factor 8",
        "1024, unroll factor 2 at 2²⁶–2²⁸; block size 512, unroll factor 4 above 2²⁰, up to 2²⁴; "
        "block size 256, unroll factor 1 at 2¹⁶–2²⁰",
    ]
    # Pins: "1,024 blocks at 2¹⁶–2²⁰", which were launched at 2²⁰ alone; and "528 blocks" where fewer have work.
    (entry, *_) = json.loads(best_json([], refined, [data.title], data.device))["use"]
    assert (len(entry["sizes"]), entry["configuration"]["parameters"]["grid_size"]) == (3, LARGEST_GRID)
    of_floats = [use for use in find_uses(data.title, data) if use.kind == everywhere.kind | {"dtype": "float32"}]
    assert configuration_text(of_floats[0].configuration) == "512 × 4 in up to 528 blocks"
    of_kind = {axis: everywhere.kind[axis] for axis in ("dtype", "operation", "cache")}
    rows = at_place(data.measurements[data.measurements["kernel"].isin(data.gridded)], of_kind)
    rows = rows[(rows["status"] == "ok") & ~rows["kernel"].isin(data.settings.limits)]
    # The largest grid at a size is what the most blocks that a launch can have were cut to.
    choice = ["kernel", "block_size", "unroll"]
    largest = rows.sort_values("grid_size").drop_duplicates([*choice, "array_size"], keep="last")
    losses = largest["time_us"] / largest["array_size"].map(rows.groupby("array_size")["time_us"].min()) - 1
    by_choice = losses.groupby([largest[axis] for axis in choice]).agg(["max", "size"])
    worst = by_choice.loc[by_choice["size"] == by_choice["size"].max(), "max"]
    assert everywhere.worst == pytest.approx(worst.min())
    parameters = everywhere.configuration.parameters
    assert worst.idxmin() == (everywhere.kernel, parameters["block_size"], parameters["unroll"])


def test_what_stands_beside_is_the_fastest_library_measured_and_the_chart_has_the_tables_choice() -> None:
    # Pins: "1.02× cub" where another library, which the study's file doesn't name, was faster; and a chart without the
    # choice for all sizes, so that its last number was none of the table's first row.
    data = recorded("bandwidth_bound")
    # Pins: an error where kernels of ours had no time with a hot cache, and a library had.
    is_left = ~data.measurements["kernel"].isin(data.kernel_names) | (data.measurements["cache"] == "cold")
    found = find_uses(data.title, replace(data, measurements=data.measurements[is_left]))
    uses = of_reference(find_uses(data.title, data), data.title, data.settings)
    assert {use.kind["cache"] for use in found} == {"cold"} and of_reference(found, data.title, data.settings) == uses
    there = at_place(data.measurements, uses[0].kind)
    libraries = there[there["kernel"].isin(["cub", "torch", "cub_newest", "cub_tuned", "cub_not_guaranteed"])]
    for use in uses:
        of_size = libraries[libraries["array_size"] == use.sizes[-1]["array_size"]].sort_values("time_us")
        assert use.beside == of_size["kernel"].iloc[0]
        assert use.gain and use.gain.value == pytest.approx(of_size["time_us"].iloc[0] / use.configuration.time_us)
    assert {use.beside for use in uses} >= {"cub_tuned", "cub_not_guaranteed"}
    rows = use_rows(uses, data.settings)
    # Pins: "2²⁸+3–2³²" beside a chart that leaves 2²⁸+3 out.
    assert (rows[0]["sizes"], rows[-1]["sizes"]) == ("all", "above 2²⁸")
    # Pins: no word of the rows by size, the last of which is faster than the library.
    assert libraries_text(rows, data.settings) == "cub_tuned is 1.03× as fast as streaming_sum (for all sizes) at 2³²"
    beside = find_best(data.title, data, [*data.measured_libraries, "read_only", "streaming_read_only"])
    chart = share_chart(data.settings, find_best(data.title, data), beside, rows)
    named = {end["kind"]: (end["name"], f"{end['share']:.1%}") for end in chart["ends"] if end["kind"]}
    assert named == {
        "best": ("counted_sum and work_counter", rows[-1]["of_peak"]),
        "choice": ("streaming_sum, for all sizes", rows[0]["of_peak"]),
        "rival": ("cub_tuned", "94.4%"),
        "limit": ("read_only", "95.9%"),
    }
    # Pins: "96%" of the last row above the first one's 91.9%.
    headline, ratios = reach({"bandwidth_bound": {**chart, "uses": rows}})
    told = "At 2³², use counted_sum: 96% of the memory's peak; for all sizes streaming_sum: 92% (cub_tuned 94%)"
    assert headline == told, "what is used is no slower than a library"
    # Pins: the table's ratio at the largest size alone, 1.02, of a lead of up to 1.39.
    told = "Our fastest is 1.01 to 1.39 (1.35–1.43) times as fast as the fastest library at 11 sizes"
    assert ratios == f"{told}: least at 2²⁸, most at 2¹⁶"
    # Pins: lines that were one above 2²⁶, as shares from 0 to 100%.
    assert [tick["words"] for tick in chart["zoom"]["ticks"]] == ["0.8×", "1×", "1.2×", "1.4×"]
    one = chart["zoom"]["ticks"][1]["place"]
    assert chart["zoom"]["beside"]["rival"] == pytest.approx([one] * 11) and min(chart["zoom"]["best"]) > one
    # Pins: counted_sum above the line at 2²⁸, for which the table has streaming_sum.
    ends = [(winner["words"], round(winner["end"], 3)) for winner in chart["winners"]]
    assert ends == [("streaming_sum", 0.812), ("counted_sum", 1)], "the kernels to use, as in the table: up to 2²⁸"
    assert chart["alike"] == ["2²⁰+3 (1.23×)", "2²⁸+3 (1.01×)"]
    assert [label["words"] for label in chart["labels"][-2:]] == ["2³⁰", "2³²"]
    # Up to 2²⁶, no kernel passes the fastest of those that do a part of the work; read_only alone is slower than ours.
    (limit,) = (line for line in chart["beside"] if line["kind"] == "limit")
    assert limit["elsewhere"] == ["streaming_read_only"]
    assert limit["passes"] == "as fast, within the error, at 9 of 11 sizes"
    assert all(part > whole for part, whole in zip(limit["shares"][:7], chart["curve"][:7], strict=True))


def test_the_terminal_names_sizes_of_several_axes_once_and_kernels_before_their_values() -> None:
    data = recorded("convolution")
    (answer,) = answers({"convolution": data.settings}, find_uses("convolution", data), RowCounts(), {})
    assert [row["sizes"].replace("\xa0", " ") for row in answer.uses] == [
        "4099 × 2051, radius=1–4",
        "4099 × 2051, radius=16",
        "8192 × 8192, radius=1–4",
        "8192 × 8192, radius=16",
    ]
    lines = answer_text([answer], "", {}).replace("\xa0", " ").splitlines()
    start = lines.index("               8192 × 8192, radius=1–4  two_shared_passes   0.0%   33.7% memory")
    assert lines[start + 1 : start + 3] == [
        "                                          block=32×4 steps=8",
        "               8192 × 8192, radius=16   two_shared_passes   0.0%  23.2% float32",
    ]
    # Beside a study with longer names, sizes have less room, and studies no column.
    longer = [{**row, "kernel": "completely_unrolled_template"} for row in answer.uses]
    lines = answer_text([answer, replace(answer, study="bandwidth_bound", uses=longer)], "", {}).splitlines()
    assert "  convolution" in lines and max(map(len, lines)) <= 80
    # Pins: sizes of 130 letters in one piece left a configuration less than no room, and the run ended with a stack.
    longest = [{**row, "sizes": "; ".join([row["sizes"]] * 5)} for row in answer.uses]
    text = answer_text([replace(answer, uses=longest)], "", {}).replace("\xa0", " ")
    assert text.count("8192 × 8192, radius=16") == 5 and "block=32×8 steps=8" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_reader_sees_the_fastest_of_each_kernel_with_ties_in_short() -> None:
    rows = sweep(UNROLLING, H200)
    largest = int(rows["array_size"].max())
    for block_size in (128, 256, 512):
        place = {"array_size": largest, "block_size": block_size, "unroll": 8}
        rows = with_time(rows, 20.0, kernel="completely_unrolled", **place)
    rows = with_time(rows, 10.0, kernel="unrolled_warps_volatile", block_size=128, unroll=8, array_size=largest)
    text = lines_of(find(rows), {"unrolling": UNROLLING}, H200)
    by_kernel = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    assert ["| `completely_unrolled`", "128 × 8", "20.00"] in [line[:3] for line in by_kernel]
    assert "256 × 8; 512 × 8 |" in [line[-1] for line in by_kernel]
    assert ["| `unrolled_warps_volatile` (undefined behaviour)", "10.00"] in [line[:3:2] for line in by_kernel]


def test_without_times_both_files_say_why() -> None:
    document = json.loads(best_json(found := find(sweep(UNROLLING, EMULATOR), EMULATOR), [], ["unrolling"], EMULATOR))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert found == document["entries"] == []
    reason = "There are no times on this platform, so no configuration is the best."
    assert document["reason_for_none"] == reason
    assert reason in best_text(found, [], {"unrolling": UNROLLING}, EMULATOR)


def test_two_sides_of_one_thing_are_told_together() -> None:
    assert configuration_words({"tile_x": 64, "tile_y": 32, "rows": 8}) == "tile=64×32 rows=8"
    assert configuration_words({"bx": 64, "by": 2}) == "bx=64 by=2"
