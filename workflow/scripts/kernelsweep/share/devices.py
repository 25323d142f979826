"""Compare devices: the steps of a study and the verdicts on claims, on each device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas

from kernelsweep.analysis.reference import at_reference, of_kernels, timed, undefined_kernels
from kernelsweep.analysis.steps import Step, ladder_steps
from kernelsweep.analysis.words import device_text, reference_text
from kernelsweep.errors import UserError
from kernelsweep.intervals import ratio, time_interval
from kernelsweep.platforms.names import is_recording, recording_name
from kernelsweep.publish.tables.formats import EMPTY, Column, TableText, as_markdown
from kernelsweep.publish.tables.point_notes import NOT_MEASURED

# devices.csv, one row a study, step and data set.
#   platform, device   the data set and its GPU
#   time_us ... flags  as in measurements.csv, at the study's reference point; status is not_measured if the data set
#                      lacks that point
#   speed_ratio        speed relative to the first device: the first device's time over this device's time
#   speed_ratio_low, speed_ratio_high
#                      its 95% confidence interval
DEVICE_COLUMNS = (
    "study",
    "kernel",
    "unroll",
    "grid_size",
    "platform",
    "device",
    "status",
    "time_us",
    "time_low_us",
    "time_high_us",
    "bandwidth_gbs",
    "peak_fraction",
    "speed_ratio",
    "speed_ratio_low",
    "speed_ratio_high",
    "flags",
)
# The columns of claims.csv that identify a claim, and the column of the verdict.
CLAIM_KEYS = ("study", "claim", "source", "source_device", "published")
VERDICT = "verdict"

HOW_TO_ADD = (
    "Measure on a GPU of your own (`uv run --extra gpu snakemake --cores 1 all`), or add a recording of another one: "
    "docs/recordings.md says how."
)
HOW_TO_JUDGE = "`uv run snakemake --cores 1 all --config platform={platform}` judges its claims."


@dataclass(frozen=True)
class DataSet:
    """The results of one GPU, measured here or recorded.

    platform      the results' folder: nvidia-h200, or recording/nvidia-h200
    device        its description, as in device.json
    measurements  the rows of all studies, at least those at their reference points with any array size
    claims        the rows of claims.csv, or None without that file
    """

    platform: str
    device: Mapping[str, Any]
    measurements: pandas.DataFrame
    claims: pandas.DataFrame | None = None

    def of_study(self, study: str, settings: Mapping[str, Any]) -> pandas.DataFrame:
        """The rows of a study's kernels."""
        return of_kernels(settings, self.measurements[self.measurements["study"] == study])


def data_set_labels(sets: Sequence[DataSet]) -> list[str]:
    """The GPUs' names; data sets of one model are `this GPU` and `recording nvidia-h200`."""
    names = [str(one.device["name"]) for one in sets]
    sources = [
        f"recording {recording_name(one.platform)}" if is_recording(one.platform) else "this GPU" for one in sets
    ]
    return [name if names.count(name) == 1 else source for name, source in zip(names, sources, strict=True)]


def device_rows(study: str, settings: Mapping[str, Any], sets: Sequence[DataSet]) -> pandas.DataFrame:
    """The rows of devices.csv of a study: step by step, one row a data set, in the given order.

    A step whose grid size depends on the multiprocessors has another number of blocks on each device.
    """
    rows = []
    steps = [ladder_steps(settings, one.device) for one in sets]
    for number in range(len(settings["ladder"])):
        of_step = [_row(study, settings, of_set[number], one) for of_set, one in zip(steps, sets, strict=True)]
        first = of_step[0]
        for row in of_step:
            if first["status"] == "ok" and row["status"] == "ok":
                faster = ratio(time_interval(first), time_interval(row))
                row |= {
                    "speed_ratio": faster.value,
                    "speed_ratio_low": faster.low,
                    "speed_ratio_high": faster.high,
                }
        rows += of_step
    return pandas.DataFrame(rows, columns=list(DEVICE_COLUMNS)).astype({"grid_size": "Int64"})


def _row(study: str, settings: Mapping[str, Any], step: Step, one: DataSet) -> dict[str, Any]:
    row: dict[str, Any] = {
        "study": study,
        "kernel": step.kernel,
        "unroll": step.unroll,
        "grid_size": step.grid_size,
        "platform": one.platform,
        "device": one.device["name"],
        "status": NOT_MEASURED,
        "flags": "",
    }
    found = step.rows(at_reference(settings, one.of_study(study, settings)))
    if found.empty:
        return row
    row |= {"status": found["status"].iloc[0], "flags": found["flags"].iloc[0]}
    with_time = timed(found, one.device)
    if with_time.empty:
        return row
    times = ("time_us", "time_low_us", "time_high_us", "bandwidth_gbs", "peak_fraction")
    return row | {column: float(with_time[column].iloc[0]) for column in times}


def study_section(settings: Mapping[str, Any], rows: pandas.DataFrame, sets: Sequence[DataSet]) -> str:
    """A study's part of devices.md: a row a step, with time, bandwidth, fraction of the peak, and ratio by data set."""
    labels = data_set_labels(sets)
    steps = ladder_steps(settings, sets[0].device)
    undefined = undefined_kernels(rows)
    columns = [Column("unroll", [str(step.unroll) for step in steps])]
    for number, (one, label) in enumerate(zip(sets, labels, strict=True)):
        of_set = rows[rows["platform"] == one.platform]
        columns += [
            Column(f"{label}: time (µs)", [_time(row) for row in of_set.to_dict("records")]),
            Column("GB/s", [_number(value, 0) for value in of_set["bandwidth_gbs"]]),
            Column("of peak", [_number(100 * value, 0, "%") for value in of_set["peak_fraction"]]),
        ]
        if number:
            columns.append(Column(f"× as fast as {labels[0]}", [_ratio(row) for row in of_set.to_dict("records")]))
    notes = ["Undefined behaviour in CUDA: never a baseline."] if undefined else []
    explanation = "GB/s counts each input byte once; of peak is its share of the memory's theoretical peak."
    if len(sets) > 1:
        explanation += " In brackets: the 95% confidence interval."
    text = TableText(
        title=settings["title"],
        provenance=f"At {reference_text(settings)}.",
        kernels=[step.kernel for step in steps],
        marks=[[1] if step.kernel in undefined else [] for step in steps],
        columns=columns,
        notes=notes,
        explanation=explanation,
        main_rows=len(steps),
    )
    return as_markdown(text)


def _time(row: Mapping[Any, Any]) -> str:
    return f"{row['time_us']:.2f}" if row["status"] == "ok" else str(row["status"]).replace("_", " ")


def _number(value: float, decimals: int, unit: str = "") -> str:
    return EMPTY if pandas.isna(value) else f"{value:.{decimals}f}{unit}"


def _ratio(row: Mapping[Any, Any]) -> str:
    if pandas.isna(row["speed_ratio"]):
        return EMPTY
    return f"{row['speed_ratio']:.3f} ({row['speed_ratio_low']:.3f}–{row['speed_ratio_high']:.3f})"


def claim_matrix(sets: Sequence[DataSet]) -> pandas.DataFrame:
    """Every claim that was judged on some device, with a column of verdicts for each data set; "" if not judged there.

    Raises UserError if a claims.csv lacks a column.
    """
    judged = {}
    for one in sets:
        if one.claims is None:
            continue
        missing = [column for column in (*CLAIM_KEYS, VERDICT) if column not in one.claims]
        if missing:
            raise UserError(f"results/{one.platform}/claims.csv: no column {', '.join(missing)}")
        judged[one.platform] = one.claims[[*CLAIM_KEYS, VERDICT]].rename(columns={VERDICT: one.platform})
    every = [pandas.DataFrame(columns=list(CLAIM_KEYS), dtype=str), *judged.values()]
    matrix = pandas.concat(every)[list(CLAIM_KEYS)].drop_duplicates(ignore_index=True)
    for verdicts in judged.values():
        matrix = matrix.merge(verdicts, how="left", on=list(CLAIM_KEYS))
    return matrix.fillna("")


def claims_section(sets: Sequence[DataSet]) -> str:
    """The claims' part of devices.md: each claim with its verdict on each device."""
    lines = ["## Which claims hold where", ""]
    matrix = claim_matrix(sets)
    if not matrix.empty:
        labels = dict(zip((one.platform for one in sets), data_set_labels(sets), strict=True))
        judged = [platform for platform in labels if platform in matrix]
        headings = ["study", "claim", "published on", *(labels[platform] for platform in judged)]
        lines += [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
        for _, row in matrix.iterrows():
            cells = [row["study"], row["claim"], row["source_device"], *(row[platform] or EMPTY for platform in judged)]
            lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
        lines.append("")
    missing = [one.platform for one in sets if one.claims is None]
    lines += [f"Not judged yet on {platform}. {HOW_TO_JUDGE.format(platform=platform)}" for platform in missing]
    return "\n".join(lines).rstrip() + "\n"


def devices_page(studies: Mapping[str, Mapping[str, Any]], rows: pandas.DataFrame, sets: Sequence[DataSet]) -> str:
    """devices.md: the data sets, then each study's steps on each of them, then the claims.

    studies  settings by name
    rows     the rows of devices.csv
    """
    lines = ["# Devices beside each other", ""]
    if len(sets) == 1:
        lines += [f"There is one data set, so nothing to compare it with yet. {HOW_TO_ADD}", ""]
    lines += ["| device | data set | multiprocessors | memory's peak (GB/s) | |", "|---|---|---:|---:|---|"]
    for one in sets:
        peak = one.device["peak_bandwidth_gbs"]
        lines.append(
            f"| {one.device['name']} | `{one.platform}` | {one.device['multiprocessors']} | "
            f"{_number(float('nan') if peak is None else peak, 0)} | {device_text(one.device)} |"
        )
    sections = [study_section(settings, rows[rows["study"] == name], sets) for name, settings in studies.items()]
    return "\n".join([*lines, "", *sections, claims_section(sets)])
