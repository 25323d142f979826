"""The ladder's words: its message, and how it is read."""

from __future__ import annotations

from pandas import isna

from kernelsweep.judge.best.find import best_at, comparable, is_tie, reference_uses
from kernelsweep.judge.data.reference import flagged_kernels, undefined_kernels
from kernelsweep.judge.data.steps import grids_text
from kernelsweep.judge.data.study_data import place_words, shown_place
from kernelsweep.judge.data.words import (
    THROTTLED_NOTE,
    UNDEFINED_NOTE,
    device_text,
    list_texts,
    reference_text,
    times_text,
)
from kernelsweep.publish.figure_files import FIGURES
from kernelsweep.publish.figures.ladder_rows import Ladder
from kernelsweep.publish.swept_axes import place_caption
from kernelsweep.publish.tables.formats import four_digits
from kernelsweep.publish.tables.study_table import KERNEL_ROW, LIMIT_ROW
from kernelsweep.results import PROOF_FAILED


def texts_of(ladder: Ladder) -> tuple[str, str, str, str]:
    """The ladder's title, message, caption and source."""
    data = ladder.data
    title = FIGURES["ladder"].heading(data.title)
    return title, _message(ladder), _caption(ladder), device_text(data.device)


def _message(ladder: Ladder) -> str:
    """What the steps bring: at the reference point, or each at its fastest; or what others print."""
    data, table, first = ladder.data, ladder.table, ladder.first
    if not ladder.has_times and ladder.published:
        number = ladder.published[0].first
        best = table.sort_values(ladder.published[0].name, ascending=False).iloc[0]
        gain = _gain(best["label"], best[ladder.published[0].name], first)
        return f"No times here. On the {number.device} of {number.source}, {gain}."
    left_out = undefined_kernels(table) | flagged_kernels(table, PROOF_FAILED)
    if not data.steps:
        left_out |= set(data.kernel_names) - {best.kernel for best in comparable(best_at(data).values())}
    of_study = (table["kind"] == KERNEL_ROW) & ~table["kernel"].isin(left_out)
    allowed = table[of_study & table["time_us"].notna()].sort_values(["time_us", "label"])
    if allowed.empty:
        return "No step has a time that may be compared."
    size = place_words(data.settings.reference if data.steps else shown_place(data), data.settings)
    block = data.settings.reference.get("block_size")
    how = f" and block size {block}" if data.steps and block else "" if data.steps else ", each at its fastest"
    where = f"At {size}{how}" if size else "Each at its fastest"
    best = allowed.iloc[0]
    used = {use.kernel for use in reference_uses(data)}
    ties = [row for row in allowed.to_dict("records") if is_tie(row, dict(best))]
    # Of those that tie, the answer's comes first.
    labels = [str(row["label"]) for row in sorted(ties, key=lambda row: row["kernel"] not in used)]
    if isna(best["speedup"]):
        return f"{where}, {list_texts(labels)}: {four_digits(best['time_us'])} µs."
    if first in labels:
        return f"{where}, no later step is faster than {first}."
    alike = f" As fast: {list_texts(labels[1:])}." if labels[1:] else ""
    there = f"{where[:1].lower()}{where[1:]}" + ", the published configuration" * bool(data.steps and ladder.published)
    return f"{_gain(labels[0], best['speedup'], first)}, {there}.{alike}"


def _gain(step: str, gain: float, first: str) -> str:
    return f"{step} is {times_text(gain)} times as fast as {first}"


def _caption(ladder: Ladder) -> str:
    """How the ladder is read, what it leaves out, and that its size is not the largest, if so."""
    data, table = ladder.data, ladder.table
    origins = list_texts([column.origin for column in ladder.published]) if ladder.published else ""
    limits, size = {*table.loc[table["kind"] == LIMIT_ROW, "kernel"]}, shown_place(data).get("array_size")
    parts = ["a part of the work"] * bool(limits & {*data.kernel_names})
    parts += ["the driver's copy or fill"] * bool(limits - {*data.kernel_names})
    undrawn = [name for name in data.measured_libraries if name not in {*table["kernel"]}]
    if not data.has_times and origins:
        texts = [f"On the right: {ladder.published[0].origin}."]
    elif data.steps:
        texts = [f"{data.device['name']}, {reference_text(data.settings)}.{grids_text(data.steps)}"]
    else:
        texts = [place_caption(data, (), "Kernels are not cumulative.")]
    if data.has_times and size and size < data.kernel_rows["array_size"].max():
        whose = "sources'" if ladder.published else "study's"
        texts += [f"This is the {whose} size: at larger ones, speedups differ."]
    texts += ["The axis is logarithmic."]
    texts += ["Bars: 95% intervals, where wider than the mark."] if data.has_times else []
    texts += [f"Limits, which a kernel may pass: {list_texts(parts)}."] if parts else []
    texts += [f"Not drawn: {list_texts(undrawn, len(undrawn))}."] if undrawn else []
    texts += [f"Grey outlines: published, {origins}; each over {ladder.first} on its own device."] if origins else []
    texts += [f"*: {THROTTLED_NOTE}"] if table["is_throttled"].any() else []
    texts += ["Empty dots and " * data.has_times + UNDEFINED_NOTE] if table["is_undefined"].any() else []
    return " ".join(texts)
