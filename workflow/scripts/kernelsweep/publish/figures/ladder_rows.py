"""The rows of the ladder, with their names and values, and its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import nan

import pandas
from pandas import isna, notna

from kernelsweep.judge.best.best_words import chosen_text
from kernelsweep.judge.best.find import Tie, best_at, comparable, is_tie, reference_uses
from kernelsweep.judge.data.published import SPEEDUP
from kernelsweep.judge.data.reference import THROTTLED, flagged, flagged_kernels, undefined_kernels
from kernelsweep.judge.data.steps import grids_text, step_labels
from kernelsweep.judge.data.study_data import StudyData, kernel_axes, place_words, shown_place
from kernelsweep.judge.data.words import (
    THROTTLED_MARK,
    THROTTLED_NOTE,
    UNDEFINED_MARK,
    UNDEFINED_NOTE,
    axis_value,
    device_text,
    limit_kernel,
    limit_text,
    list_texts,
    reference_text,
    times_text,
)
from kernelsweep.publish.figure_files import FIGURES
from kernelsweep.publish.swept_axes import place_caption
from kernelsweep.publish.tables.formats import four_digits
from kernelsweep.publish.tables.published_text import PublishedColumn
from kernelsweep.publish.tables.study_table import (
    KERNEL_ROW,
    LIMIT_ROW,
    NO_STEP,
    RIVAL_ROW,
    published_columns,
    study_table,
)
from kernelsweep.results import PROOF_FAILED

# The columns of a quantity with its interval.
OF_TIME, OF_SPEEDUP = ("time_us", "time_low_us", "time_high_us"), ("speedup", "speedup_low", "speedup_high")

ENDS = ("shown", "low", "high")
# As wide as a digit.
FIGURE_SPACE = "\u2007"


@dataclass(frozen=True)
class Ladder:
    """The rows of a study's table, in groups of one kind of work and in the order of the story.

    table      a row for each step, library and limit, with the columns name and group, and shown, low and high, the
               quantity and its interval, NaN without one. A group is named by the values of the axes by which a
               library's rows differ, such as a precision; "" where they don't
    quantity   the speedup over the first step; or the time, where that has none
    published  the columns with published speedups, by whose they are
    """

    data: StudyData
    table: pandas.DataFrame
    quantity: str
    published: Sequence[PublishedColumn]

    @property
    def first(self) -> str:
        """The first step."""
        return str(self.table["label"].iloc[0])

    @property
    def label(self) -> str:
        """The quantity for readers."""
        is_gain = self.quantity == OF_SPEEDUP[0]
        how = "at published configurations" if self.published else "at fixed configurations"
        how = how if self.data.steps or not self.has_times else "each at its fastest"
        return f"{f'speedup over {self.first}' if is_gain else 'time (µs)'}, {how}"

    @property
    def has_times(self) -> bool:
        """Whether a row has a time of ours."""
        return bool(self.table["time_us"].notna().any())

    @property
    def has_configurations(self) -> bool:
        """Whether names have the configurations that are fastest, as no step says them."""
        return self.has_times and not self.data.steps

    def names(self, is_narrow: bool) -> list[str]:
        """Each row's name, with its kernel's fastest configuration if no step says it; if narrow, below it."""
        best = best_at(self.data).values() if self.has_configurations else ()
        chosen = {one.kernel: chosen_text(Tie(one.kernel, one.fastest), self.data.settings) for one in best}
        pairs = zip(self.table["name"], self.table["kernel"], strict=True)
        return [("\n" if is_narrow else " ").join(filter(None, (name, chosen.get(kernel)))) for name, kernel in pairs]

    def values(self, is_narrow: bool) -> list[str]:
        """Each row's time and speedup in words; if narrow, time above speedup or none; published ones without ours."""
        times, gains = (self.table[name] for name in ("time_us", "speedup"))
        if not self.has_times:
            gains = self.table[self.published[0].name]
            number = self.published[0].first
            times = self.table.get(f"published_time_us {number.source} ({number.device})", gains * nan)
        digits = 3 if gains.max() < 1.2 else 2  # So that a difference is seen.
        words, gain_texts = [], [f"{gain:.{digits if gain < 10 else 1}f}×" if gain == gain else "" for gain in gains]
        most = max(map(len, gain_texts))
        for time, gain in zip(times, gain_texts, strict=True):
            is_shown = time == time and not (is_narrow and gain and not self.has_configurations)
            texts = [f"{four_digits(time)} µs" * is_shown, gain and gain.rjust(most, FIGURE_SPACE)]
            words.append(("\n" if is_narrow else FIGURE_SPACE * 2).join(filter(None, texts)))
        return words


@cache  # A figure is drawn in several widths.
def ladder_of(data: StudyData) -> Ladder:
    """The ladder of a study."""
    published = [column for column in published_columns(data) if column.quantity == SPEEDUP]
    kernels = [step.kernel for step in data.steps]
    if not published and data.has_times and len({*kernels}) == len(kernels):
        # A step's own configuration shows what it changes, and says little of how fast its kernel is.
        data = replace(data, settings=data.settings.changed(steps=[]))
    table = study_table(data)
    table = table[table["status"] != NO_STEP].reset_index(drop=True)
    table = table.assign(**{name: nan for name in (*OF_TIME, *OF_SPEEDUP) if name not in table})
    rivals = table[table["kind"] == RIVAL_ROW]
    axes = [axis for axis in kernel_axes(data.settings) if axis != "unroll" and rivals[axis].nunique() > 1]
    groups = [
        ", ".join(axis_value(axis, row[axis]) for axis in axes if notna(row[axis])) for row in table.to_dict("records")
    ]
    quantity = OF_TIME if table["speedup"].isna().all() and table["time_us"].notna().any() else OF_SPEEDUP
    labels = _labels(data, table)
    over = f": over {labels[0]} in {groups[0]}" * (quantity == OF_SPEEDUP)
    table = table.assign(
        label=labels,
        group=[f"{group}{over}" if group not in ("", groups[0]) else groups[0] for group in groups],
        is_undefined=table["kernel"].isin(undefined_kernels(table)),
        is_throttled=flagged(table, THROTTLED),
    )
    table = table.assign(
        name=_names(data, table), **{end: table[name] for end, name in zip(ENDS, quantity, strict=True)}
    )
    # Of other libraries than the study's, the fastest, and those that the answer names.
    rivals = table[table["kind"] == RIVAL_ROW].sort_values("time_us")
    named = [*data.settings.rival_names, *(use.beside for use in reference_uses(data))]
    others = rivals[rivals.duplicated("group") & ~rivals["kernel"].isin(named)]
    # Groups in the order in which the table has them.
    table = table.drop(index=others.index)
    limits = table["kind"] == LIMIT_ROW
    table = pandas.concat([table[~limits], table[limits].sort_values("shown", ascending=quantity == OF_SPEEDUP)])
    table = table.sort_values("group", key=lambda column: pandas.factorize(column)[0], kind="stable")
    if published and table["time_us"].isna().all():
        table = table[table[[column.name for column in published]].notna().any(axis="columns")]
    return Ladder(data, table, quantity[0], published if quantity == OF_SPEEDUP else [])


def _labels(data: StudyData, table: pandas.DataFrame) -> list[str]:
    """The names of steps, then of libraries and limits."""
    limits = {limit_kernel(limit): limit_text(limit) for limit in data.settings.limits}
    labels = step_labels(data.steps)
    return labels + [limits.get(kernel, kernel) for kernel in table["kernel"].iloc[len(data.steps) :]]


def _names(data: StudyData, table: pandas.DataFrame) -> list[str]:
    """Each row's name, with marks of undefined behaviour and of a throttled time; without a time of ours, why."""
    return [
        row["label"]
        + UNDEFINED_MARK * row["is_undefined"]
        + THROTTLED_MARK * row["is_throttled"]
        + f": {row['status'].replace('_', ' ')}" * bool(data.has_times and isna(row["time_us"]))
        for row in table.to_dict("records")
    ]


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


def _undrawn(ladder: Ladder) -> list[str]:
    """A caption's sentence on the libraries that aren't drawn; none without."""
    names = [name for name in ladder.data.measured_libraries if name not in {*ladder.table["kernel"]}]
    return [f"Not drawn: {list_texts(names, len(names))}."] if names else []


def _limits_text(ladder: Ladder) -> list[str]:
    """A caption's sentence on the limits; none without."""
    limits = {*ladder.table.loc[ladder.table["kind"] == LIMIT_ROW, "kernel"]}
    is_own = {limit in ladder.data.kernel_names for limit in limits}
    words = ["a part of the work"] * (True in is_own)
    words += ["the driver's copy or fill"] * (False in is_own)
    return [f"Limits, which a kernel may pass: {list_texts(words)}."] if words else []


def _size_text(ladder: Ladder) -> list[str]:
    """A caption's sentence on why the ladder has another size than the answer; none where that is the largest, too."""
    data, size = ladder.data, shown_place(ladder.data).get("array_size")
    if not data.has_times or not size or size >= data.kernel_rows["array_size"].max():
        return []
    whose = "sources'" if ladder.published else "study's"
    return [f"This is the {whose} size: at larger ones, speedups differ."]


def _caption(ladder: Ladder) -> str:
    """How the ladder is read."""
    data, origins = ladder.data, list_texts([column.origin for column in ladder.published]) if ladder.published else ""
    if not data.has_times and origins:
        texts = [f"On the right: {ladder.published[0].origin}."]
    elif data.steps:
        texts = [f"{data.device['name']}, {reference_text(data.settings)}.{grids_text(data.steps)}"]
    else:
        texts = [place_caption(data, (), "Kernels are not cumulative.")]
    texts += _size_text(ladder)
    texts += ["The axis is logarithmic."]
    texts += ["Bars: 95% intervals."] if data.has_times else []
    texts += _limits_text(ladder)
    texts += _undrawn(ladder)
    texts += [f"Hollow marks: published, {origins}; each over {ladder.first} on its own device."] if origins else []
    texts += [f"*: {THROTTLED_NOTE}"] if ladder.table["is_throttled"].any() else []
    texts += ["Hollow dots and " * data.has_times + UNDEFINED_NOTE] if ladder.table["is_undefined"].any() else []
    return " ".join(texts)
