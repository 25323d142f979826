"""Do the emulator's counts equal Nsight Compute's counters? A page of Markdown on the points of a recording.

uv run snakemake --cores 2 count --config 'axes={array_size: [2^24]}'
uv run python benchmarks/counts_against_ncu.py nvidia-h200
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas
from support.made_up import ROOT

from kernelsweep.judge.data.step_metrics import title
from kernelsweep.judge.data.words import device_text, step_name
from kernelsweep.publish.share.recording import recorded_device
from kernelsweep.results import ALL_POINT_COLUMNS, read_rows

# The allowed difference: in percentage points for efficiencies, else as a fraction of the measured value.
PERCENTAGE_POINTS = 0.1
FRACTION = 0.01
EFFICIENCIES = ("global_load_efficiency", "global_store_efficiency")
GLOBAL = ("global_load_requests", "global_load_sectors", "global_store_requests", "global_store_sectors")
SHARED = ("shared_load_requests", "shared_load_wavefronts", "shared_store_requests", "shared_store_wavefronts")
CONFLICTS = "bank_conflict"
COMPARED = (*EFFICIENCIES, *GLOBAL, *SHARED, CONFLICTS)

_NAMES = ["study", "kernel", *ALL_POINT_COLUMNS]


def compare_counts(counted: Iterable[Mapping[str, str]], measured: Iterable[Mapping[str, str]]) -> pandas.DataFrame:
    """A row for each measured value, metric by metric.

    counted, measured  rows of metrics.csv; points that were only counted are left out

    Columns: study, step and metric; measured and counted, as numbers; off, which is counted minus measured: in
    percentage points, else as a fraction of the measured value; is_within, whether that is allowed.

    Nsight Compute's own counter of bank conflicts includes conflicts with other traffic. So the measured value is the
    number of wavefronts beyond one a request, which is equal if lanes access at most four bytes.
    """
    values = _by_point(measured)
    requests, wavefronts = (values[[f"shared_{op}_{what}" for op in ("load", "store")]].sum(axis=1, skipna=False)
                            for what in ("requests", "wavefronts"))  # fmt: skip
    values[CONFLICTS] = wavefronts - requests
    measured_values, counts = (
        table.melt(ignore_index=False).dropna().set_index("metric", append=True)["value"]
        for table in (values, _by_point(counted))
    )
    rows = measured_values.rename("measured").to_frame().join(counts.rename("counted")).reset_index()
    names = zip(rows["kernel"], rows["unroll"], strict=True)
    rows["step"] = [step_name(kernel, {"unroll": int(unroll)}) for kernel, unroll in names]
    is_share = rows["metric"].isin(EFFICIENCIES)
    rows["off"] = (rows["counted"] - rows["measured"]) / rows["measured"].where(~is_share, 1)
    rows.loc[rows["counted"] == rows["measured"], "off"] = 0.0
    rows["is_within"] = rows["off"].abs() <= is_share.map({True: PERCENTAGE_POINTS, False: FRACTION})
    return rows[["study", "step", "metric", "measured", "counted", "off", "is_within"]]


def _by_point(rows: Iterable[Mapping[str, str]]) -> pandas.DataFrame:
    """A row a point, and a column for each metric of COMPARED."""
    # Recordings of earlier versions have no column `parameters`.
    every = pandas.DataFrame(list(map(dict, rows))).reindex(columns=[*_NAMES, "metric", "value"]).fillna("")
    every["value"] = pandas.to_numeric(every["value"])
    table = every.pivot_table("value", _NAMES, "metric", sort=False)
    return table.reindex(columns=pandas.Index(COMPARED, name="metric"))


def counts_page(compared: pandas.DataFrame, device: Mapping[str, Any]) -> str:
    """The comparison as a page of Markdown: each metric over all points, then what is outside the goal."""
    goals = {metric: f"{PERCENTAGE_POINTS} percentage points" for metric in EFFICIENCIES}
    by_metric = compared.groupby("metric", sort=False)
    summary = pandas.DataFrame({"points": by_metric.size(), "within the goal": by_metric["is_within"].sum()})
    summary.insert(0, "goal", [goals.get(str(metric), f"{FRACTION:.0%}") for metric in summary.index])
    outside = compared.loc[~compared["is_within"], ["study", "step", "metric"]]
    for column in ("measured", "counted"):
        outside[column] = compared[column].map("{:,.10g}".format).replace("nan", "not counted")
    tables = [
        table.assign(metric=table["metric"].map(title)).to_markdown(index=False, disable_numparse=True)
        for table in (summary.reset_index(), outside)
    ]
    return (
        f"# Counted on the emulator, measured by Nsight Compute\n\n{device_text(device)}.\n"
        f"How the counts come about, and why they may differ: docs/counting.md of kernelsweep.\n\n{tables[0]}\n\n"
        f"Outside the goal:\n\n{tables[1]}\n"
    )


def main() -> None:
    """Print the page of the recording that the command line names."""
    folder = ROOT / "resources/recordings" / sys.argv[1]
    device = recorded_device(json.loads((folder / "environment.json").read_text(encoding="utf-8")), folder.name)
    counted = read_rows(Path("results/emulator/metrics.csv"))
    studies = {row["study"] for row in counted}
    measured = [row for row in read_rows(folder / "metrics.csv.gz") if row["study"] in studies]
    print(counts_page(compare_counts(counted, measured), device))


if __name__ == "__main__":
    main()
