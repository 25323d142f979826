"""The rows of the ladder, with their names and values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import nan

import pandas
from pandas import notna

from kernelsweep.judge.best.best_words import chosen_text
from kernelsweep.judge.best.find import Tie, best_at, reference_uses
from kernelsweep.judge.data.published import SPEEDUP
from kernelsweep.judge.data.reference import THROTTLED, flagged, undefined_kernels
from kernelsweep.judge.data.steps import step_labels
from kernelsweep.judge.data.study_data import StudyData, kernel_axes
from kernelsweep.judge.data.words import (
    THROTTLED_MARK,
    UNDEFINED_MARK,
    axis_value,
    limit_kernel,
    limit_text,
)
from kernelsweep.publish.tables.formats import four_digits
from kernelsweep.publish.tables.published_text import PublishedColumn
from kernelsweep.publish.tables.study_table import (
    LIMIT_ROW,
    NO_STEP,
    RIVAL_ROW,
    published_columns,
    study_table,
)

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

    def names(self, is_narrow: bool) -> list[str]:
        """Each row's name, with its kernel's fastest configuration if no step says it; if narrow, below it."""
        best = best_at(self.data).values() if self.has_times and not self.data.steps else ()
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
            is_shown = time == time and not (is_narrow and gain and (self.data.steps or not self.has_times))
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
    limits = {limit_kernel(limit): limit_text(limit) for limit in data.settings.limits}
    labels = step_labels(data.steps)
    labels += [limits.get(kernel, kernel) for kernel in table["kernel"].iloc[len(labels) :]]
    over = f": over {labels[0]} in {groups[0]}" * (quantity == OF_SPEEDUP)
    is_undefined, is_throttled = table["kernel"].isin(undefined_kernels(table)), flagged(table, THROTTLED)
    # Without a time of ours, a name says why.
    reasons = (": " + table["status"].str.replace("_", " ")).where(data.has_times & table["time_us"].isna(), "")
    marks = is_undefined.map({True: UNDEFINED_MARK, False: ""}) + is_throttled.map({True: THROTTLED_MARK, False: ""})
    table = table.assign(
        label=labels,
        name=labels + marks + reasons,
        group=[f"{group}{over}" if group not in ("", groups[0]) else groups[0] for group in groups],
        is_undefined=is_undefined,
        is_throttled=is_throttled,
        **{end: table[name] for end, name in zip(ENDS, quantity, strict=True)},
    )
    # Of other libraries than the study's, the fastest, and those that the answer names.
    rivals = table[table["kind"] == RIVAL_ROW].sort_values("time_us")
    named = [*data.settings.rival_names, *(use.beside for use in reference_uses(data))]
    others = rivals[rivals.duplicated("group") & ~rivals["kernel"].isin(named)]
    # Groups in the order in which the table has them.
    table = table.drop(index=others.index)
    is_limit = table["kind"] == LIMIT_ROW
    table = pandas.concat([table[~is_limit], table[is_limit].sort_values("shown", ascending=quantity == OF_SPEEDUP)])
    table = table.sort_values("group", key=lambda column: pandas.factorize(column)[0], kind="stable")
    if published and table["time_us"].isna().all():
        table = table[table[[column.name for column in published]].notna().any(axis="columns")]
    return Ladder(data, table, quantity[0], published if quantity == OF_SPEEDUP else [])
