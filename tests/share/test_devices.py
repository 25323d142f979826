"""Devices beside each other: the right ratios, honest gaps, and which claims hold where."""

from __future__ import annotations

import csv
import gzip
import json
import re
import shutil
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pandas
import pytest
from drawn_texts import check_texts
from matplotlib.text import Text
from synthetic_sweep import H200, UNROLLING, WARP_SHUFFLE, fail, sweep
from workflow_runs import shrink, snakemake

from kernelsweep.drawing import layout
from kernelsweep.drawing.figure_formats import FORMATS
from kernelsweep.share import devices_figure
from kernelsweep.share.devices import DataSet, claim_matrix, data_set_labels, device_rows, devices_page

SLOWER = 1.5
TIMES = ("time_us", "time_low_us", "time_high_us")
OTHER: dict[str, Any] = H200 | {
    "name": "NVIDIA H100",
    "platform": "nvidia-h100",
    "peak_bandwidth_gbs": 3350.0,
    "provenance": "measured on NVIDIA H100, driver 580.159.04",
}


def scaled(rows: pandas.DataFrame, factor: float) -> pandas.DataFrame:
    """The same points, with all times multiplied by `factor`."""
    times = {column: rows[column] * factor for column in TIMES}
    return rows.assign(
        **times, bandwidth_gbs=rows["bandwidth_gbs"] / factor, peak_fraction=rows["peak_fraction"] / factor
    )


def two_sets(study: dict[str, Any]) -> list[DataSet]:
    rows = sweep(study, H200)
    return [DataSet("nvidia-h200", H200, rows), DataSet("recording/nvidia-h100", OTHER, scaled(rows, SLOWER))]


def test_ratios_are_of_the_same_step_on_both_devices_with_their_interval() -> None:
    sets = two_sets(UNROLLING)
    failed = fail(sets[1].measurements, "launch_failed", "", kernel="interleaved")
    sets[1] = DataSet(sets[1].platform, OTHER, failed[failed["kernel"] != "neighbored_less"])
    rows = device_rows("synthetic", UNROLLING, sets)
    assert len(rows) == 2 * len(UNROLLING["ladder"])
    first, other = (rows[rows["platform"] == one.platform].set_index(["kernel", "unroll"]) for one in sets)
    assert (first["speed_ratio"] == 1).all()
    assert other.loc[("unrolled", 8), "time_us"] == pytest.approx(27.0 * SLOWER)
    right = other[other["status"] == "ok"]
    assert list(right["speed_ratio"]) == pytest.approx([1 / SLOWER] * len(right), rel=1e-3)
    # Both times have intervals from -0.4% to +0.6%, so their ratio's interval is about ±0.7%.
    low, high = right["speed_ratio_low"] * SLOWER, right["speed_ratio_high"] * SLOWER
    assert low.between(0.990, 0.995).all() and high.between(1.005, 1.010).all()
    assert other.loc[("interleaved", 1), "status"] == "launch_failed"
    assert other.loc[("neighbored_less", 1), "status"] == "not_measured"
    assert other.loc[[("interleaved", 1), ("neighbored_less", 1)], ["time_us", "speed_ratio"]].isna().all(axis=None)

    page = devices_page({"synthetic": UNROLLING}, rows, sets)
    (line,) = [line for line in page.splitlines() if line.startswith("| `interleaved`")]
    assert [cell.strip() for cell in line.strip("|").split("|")][5:] == ["launch failed", "–", "–", "–"]
    assert "nan" not in page.lower()
    assert page.startswith("# ") and "There is one data set" not in page


def test_data_sets_of_one_model_are_told_apart_in_few_letters() -> None:
    here, other = two_sets(UNROLLING)
    recorded = replace(here, platform="recording/nvidia-h200")
    assert data_set_labels([here, other, recorded]) == ["this GPU", OTHER["name"], "recording nvidia-h200"]


def test_one_data_set_says_that_it_is_alone_and_how_to_add_another() -> None:
    (one, _) = two_sets(WARP_SHUFFLE)
    page = devices_page({"synthetic": WARP_SHUFFLE}, device_rows("synthetic", WARP_SHUFFLE, [one]), [one])
    assert "There is one data set, so nothing to compare it with yet." in page
    assert "docs/recordings.md" in page and "as fast as" not in page
    assert "Not judged yet on nvidia-h200." in page


def claims(**verdicts: str) -> pandas.DataFrame:
    """A claims.csv with these verdicts by claim."""
    return pandas.DataFrame(
        {"study": "unrolling", "claim": claim, "source": "an article", "source_device": "RTX 3080", "published": "2|3"}
        | {"measured": "2.1", "low": "2.0", "high": "2.2", "verdict": verdict}
        for claim, verdict in verdicts.items()
    )


def test_claims_are_set_beside_each_other_in_their_order() -> None:
    one, other = two_sets(UNROLLING)
    sets = [
        DataSet(one.platform, one.device, one.measurements, claims(zipping_helps="holds", unrolling_helps="holds")),
        DataSet(other.platform, other.device, other.measurements, claims(unrolling_helps="does not hold", new="holds")),
        DataSet("recording/x", OTHER | {"name": "X"}, other.measurements),
    ]
    matrix = claim_matrix(sets)
    verdicts = [list(row) for row in matrix[["claim", "nvidia-h200", "recording/nvidia-h100"]].itertuples(index=False)]
    assert verdicts == [
        ["zipping_helps", "holds", ""],
        ["unrolling_helps", "holds", "does not hold"],
        ["new", "", "holds"],
    ]
    page = devices_page({}, device_rows("synthetic", UNROLLING, sets), sets)
    assert "| unrolling | unrolling_helps | RTX 3080 | holds | does not hold |" in page
    assert "Not judged yet on recording/x." in page


@pytest.mark.parametrize("width", layout.WIDTHS.values(), ids=list(layout.WIDTHS))
def test_the_figure_has_the_ratios_of_each_device_and_legible_texts(width: layout.Width) -> None:
    sets = two_sets(UNROLLING)
    figure = devices_figure.draw("synthetic", UNROLLING, sets, width)
    check_texts(figure, 6)
    (axes,) = figure.axes
    (dots,) = [line for line in axes.get_lines() if len(line.get_xdata()) == len(UNROLLING["ladder"])][:1]
    assert list(dots.get_xdata()) == pytest.approx([1 / SLOWER] * len(UNROLLING["ladder"]), rel=1e-3)
    said = " ".join(text.get_text() for text in figure.findobj(Text))
    assert "NVIDIA H100" in said and "easured on NVIDIA H200" in said
    alone = devices_figure.draw("synthetic", UNROLLING, sets[:1])
    assert "There is one data set." in " ".join(text.get_text() for text in alone.findobj(Text))


def test_a_recording_that_somebody_adds_is_compared(project: Path) -> None:
    shrink(project, ["warp_shuffle"])
    recordings = project / "resources/recordings"
    added = recordings / "nvidia-h100"
    shutil.copytree(recordings / "nvidia-h200", added)
    environment = json.loads((added / "environment.json").read_text())
    environment["device"] |= {"name": OTHER["name"], "platform": OTHER["platform"], "peak_bandwidth_gbs": 3350.0}
    environment["measured"] = "2025-01-01T00:00:00Z"
    (added / "environment.json").write_text(json.dumps(environment))
    packed = (added / "measurements.csv.gz").read_bytes()
    rows = [row for row in csv.DictReader(StringIO(gzip.decompress(packed).decode())) if row["study"] == "warp_shuffle"]
    slower = [
        {
            **row,
            **{column: str(SLOWER * float(row[column])) for column in TIMES if row[column]},
            "platform": OTHER["platform"],
            "device": OTHER["name"],
        }
        for row in rows
    ]
    for folder, content in ((recordings / "nvidia-h200", rows), (added, slower)):
        with gzip.open(folder / "measurements.csv.gz", "wt", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(content)
    judged = project / "results/recording/nvidia-h100/claims.csv"
    judged.parent.mkdir(parents=True)
    claims(unrolling_helps="not decidable").to_csv(judged, index=False)

    run = snakemake(project, "devices")
    assert run.returncode == 0, run.stdout
    assert set(re.findall(r"rule (\w+):", run.stdout)) == {"compare_devices", "devices"}
    results = project / "results/devices"
    with (results / "devices.csv").open(newline="") as file:
        compared = list(csv.DictReader(file))
    ratios = [float(row["speed_ratio"]) for row in compared if row["platform"] == "recording/nvidia-h100"]
    assert ratios == pytest.approx([1 / SLOWER] * len(ratios)) and len(ratios) == len(compared) / 2 > 2
    assert "not decidable" in (results / "claims.csv").read_text()
    for suffix in FORMATS:
        assert (results / f"figures/warp_shuffle{suffix}").stat().st_size > 0
