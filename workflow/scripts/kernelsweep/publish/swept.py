"""What a figure of any axes shows: the rows of its marks with their quantity, and its words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy
import pandas
from matplotlib.figure import Figure

from kernelsweep.judge.best.find import LITTLE, MOST, is_tie, may_tie
from kernelsweep.judge.data.reference import THROTTLED, flagged, shown_status, timed
from kernelsweep.judge.data.study_data import StudyData, kernel_axes, place_axes, size_axes
from kernelsweep.judge.data.words import THROTTLED_NOTE, device_text, list_texts
from kernelsweep.publish import swept_axes
from kernelsweep.publish.drawing.layout import Drawing
from kernelsweep.publish.drawing.series import is_logarithmic
from kernelsweep.publish.drawing.style import MARKERS
from kernelsweep.publish.figure_files import BEST_SHARE, FAR_SHARE, FIGURES, LARGE_RATE, PEAK_SHARE, QUANTITIES, SHOW
from kernelsweep.publish.swept_axes import KERNEL, values_of, without_unit

# Figures' titles, of the words for the quantity and the axes.
JOINS = {"lines": "against", "heatmap": "by"}
# An axis of fewer values says little as a line; more lines would look alike.
LEAST_VALUES, MOST_LINES = 3, 8
# The part of an axis from zero within which a line covers another.
COVERED = 0.01
MOST_NAMED = len(MARKERS)
# More rows or columns of a map are no longer told apart; each takes memory with the figure's height.
MOST_PLACES = 64


@dataclass(frozen=True)
class Swept:
    """What a figure of any axes shows.

    rows      as best_rows() gives them, then those without a time; with the columns shown, low and high: the quantity
              and its 95% interval, NaN without a time; `scale`, the peak of which it is the share, "" for others; and
              whether it `is_hollow`, as it was throttled
    axes      that are drawn, x first, without that of panels
    quantity  its name
    """

    data: StudyData
    figure: str
    rows: pandas.DataFrame
    axes: Sequence[str]
    panel: str | None
    quantity: str

    @property
    def label(self) -> str:
        """The quantity for readers."""
        label = self.data.settings.figure_axes.get(self.figure, {}).get("label") or QUANTITIES[self.quantity]
        return swept_axes.peak_label(self.rows, label, self.panel) if self.quantity == PEAK_SHARE else label

    def axis_text(self, axis: str) -> str:
        """An axis for readers."""
        return swept_axes.axis_text(self.data, axis)

    def panels(self, rows: pandas.DataFrame, only_one: bool) -> tuple[dict[Any, str], str]:
        """The titles of panels by their values; and a caption's sentence on the one that is drawn of several."""
        if not self.panel:
            return {None: ""}, ""
        names = values_of(rows, self.panel, self.data)
        titles = {name: swept_axes.value_text(self.data, self.panel, name) for name in names}
        first = self.data.settings.reference.get(self.panel, names[0])
        shown = {name: title for name, title in titles.items() if not only_one or name == first}
        return shown, f" Here: {titles[first]}." if len(shown) < len(titles) else ""

    def texts(self, meaning: str) -> tuple[str, str, str, str]:
        """A figure's title, message, caption and source.

        meaning  what the caption says of marks
        """
        axes = [without_unit(self.axis_text(axis)) for axis in self.axes[: 1 if self.figure == "lines" else None]]
        words = f"{without_unit(self.label)} {JOINS[self.figure]} {list_texts(axes)}" if axes else ""
        title = FIGURES[self.figure].heading(self.data.title, words)
        drawn = [*self.axes, *([self.panel] if self.panel else [])]
        if self.quantity == PEAK_SHARE:
            meaning += swept_axes.peak_text(self.data, self.rows)
            has_two = self.figure == "lines" and not self.panel and self.rows["scale"].nunique() > 1
            meaning += " No line joins shares of two peaks." * has_two
        if not self.rows.empty and self.rows["is_hollow"].any():
            meaning += f" {'*' if self.figure == 'heatmap' else 'Hollow'}: {THROTTLED_NOTE}"
        if self.quantity in (LARGE_RATE, "gflops"):
            meaning += " Useful: the work that the problem needs, for all kernels the same."
        return title, "", swept_axes.place_caption(self.data, drawn, meaning), device_text(self.data.device)

    def drawing(self, figure: Figure, meaning: str, rows: pandas.DataFrame) -> Drawing:
        """The figure with its texts, and the rows behind it."""
        columns = dict.fromkeys([KERNEL, *kernel_axes(self.data.settings), *place_axes(self.data.settings)])
        named = rows[[*(column for column in columns if rows[column].notna().any()), "shown", "low", "high", "status"]]
        renamed = {"shown": self.quantity, "low": f"{self.quantity}_low", "high": f"{self.quantity}_high"}
        return Drawing(figure, *self.texts(meaning), rows=named.rename(columns=renamed).convert_dtypes())


def swept(
    data: StudyData, figure: str, axes: Sequence[str | None], panel: str | None, beside: Collection[str] = ()
) -> Swept:
    """What a figure of any axes shows: the quantity of its entry in the study's file, or the one that says most.

    panel   the axis of panels, each of which may have a peak of its own
    beside  names of libraries, which it shows, too
    """
    wanted = data.settings.figure_axes.get(figure, {}).get(SHOW)
    known_axes = [axis for axis in axes if axis]
    drawn = list(dict.fromkeys([*known_axes, *([panel] if panel else [])]))
    best, tried = swept_axes.best_rows(data, drawn, beside), swept_axes.rows_there(data, drawn, beside)
    if best.empty:
        return Swept(data, figure, best, known_axes, panel, "time_us")
    known = [name for name in QUANTITIES if name != BEST_SHARE and best[name].notna().all()]
    peaks = best.groupby(panel)["peak_of"].nunique() if panel else best[["peak_of"]].nunique()
    known = [name for name in known if name != PEAK_SHARE or peaks.max() <= 1]
    known = [name for name in known if name != LARGE_RATE or swept_axes.rate_of(data) == LARGE_RATE]
    if best[PEAK_SHARE].max() < 100 * FAR_SHARE:
        known = ["time_us"]
    if figure == "heatmap" and known[0] == "time_us":
        known = [BEST_SHARE]  # High where it is fast, too.
    quantity = (swept_axes.rate_of(data) if wanted == "gflops" else wanted) or known[0]
    if quantity == BEST_SHARE:  # In percent, the least time at each problem over a row's.
        best = swept_axes.with_ratios(best, best, swept_axes.problem_axes(data, drawn), BEST_SHARE, 100.0)
    low, high = swept_axes.ends_of(best, quantity)
    shown = {"shown": best[quantity], "low": low, "high": high}
    best = best.assign(**{name: column.astype("float64") for name, column in shown.items()})
    kinds = best["peak_of"].astype(object).fillna("").replace("", "memory")
    best = best.assign(scale=kinds if quantity == PEAK_SHARE else "")
    rows = pandas.concat([best, tried.assign(shown=nan, low=nan, high=nan)]).drop_duplicates(drawn)
    is_hollow = rows["shown"].notna() & flagged(rows, THROTTLED)
    rows = rows.assign(status=shown_status(rows), is_hollow=is_hollow)
    return Swept(data, figure, rows, known_axes, panel, quantity)


def axes_of_lines(data: StudyData) -> tuple[str, str | None, str | None]:
    """The axis across, the axis of lines, None where nothing else varies, and that of panels, if there are some."""
    chosen = data.settings.figure_axes.get("lines", {})
    of_kernels, sizes = swept_axes.by_effect(data), swept_axes.varied_sizes(data)
    of_launch = [axis for axis in of_kernels if axis != KERNEL]
    candidates = [
        axis for axis in (*sizes, *of_launch, *size_axes(data.settings), KERNEL) if axis not in chosen.values()
    ]
    # Axes of few values come last.
    values = timed(data.kernel_rows, data.device)
    candidates.sort(key=lambda axis: values[axis].nunique() < LEAST_VALUES)
    x, panel = chosen.get("x") or candidates[0], chosen.get("panel") or None
    counts = timed(swept_axes.rows_there(data, (x,)), data.device).nunique()
    others = [KERNEL] * (KERNEL in of_kernels) + [axis for axis in (*of_kernels, *sizes) if counts[axis] <= MOST_LINES]
    return x, chosen.get("by") or next((axis for axis in others if axis not in (x, panel)), None), panel


def named_lines(
    shown: Swept, rows: pandas.DataFrame, order: Sequence[Any], asked: Sequence[str], used: Sequence[str]
) -> list[Any]:
    """The lines with names: the first, the fastest at the last x, those asked for, and those furthest from these.

    What ends within LITTLE of a line with a name, and is within MOST of it everywhere, has none: it looks the same.
    So does what is within COVERED of an axis from zero.

    used  the lines that the answer names: the first that ends within LITTLE of the fastest stands for it
    """
    x, rows = shown.axes[0], rows[rows["shown"].notna()]
    rows = rows.assign(level=numpy.log(rows["shown"]))
    places, values = (rows.pivot_table(index="line", columns=x, values=name, sort=False) for name in ("level", "shown"))
    is_log = is_logarithmic(rows["low"].min(), rows["high"].max(), shown.quantity)
    covered = 0 if is_log else COVERED * rows["shown"].max()
    levels = rows.sort_values(x).groupby("line")["level"].last()
    fastest = rows.sort_values([x, "time_us"], ascending=[False, True])["line"].iloc[0]
    alike = (line for line in used if line in levels and abs(levels[line] - levels[fastest]) <= LITTLE)
    fastest = next(alike, fastest)
    named = [line for line in dict.fromkeys([order[0], fastest, *asked]) if line in levels][:MOST_NAMED]
    rest = levels.drop(named)
    while len(named) < MOST_NAMED:
        for line in named:
            far = (places - places.loc[line]).abs().max(axis="columns").reindex(rest.index) >= MOST
            apart = (values - values.loc[line]).abs().max(axis="columns").reindex(rest.index) >= covered
            rest = rest[apart & (far | ((rest - levels[line]).abs() >= LITTLE))]
        if rest.empty:
            break
        named.append(max(rest.index, key=lambda line: min(abs(levels[line] - levels[other]) for other in named)))
    return [line for line in order if line in named]


def axes_of_map(data: StudyData) -> tuple[str | None, str | None, str | None]:
    """The axis across a heat map and that down it, those with most effect, and that of panels."""
    chosen = data.settings.figure_axes.get("heatmap", {})
    candidates = [axis for axis in swept_axes.by_effect(data) if axis != KERNEL]
    candidates += [KERNEL] * (len(data.kernel_names) > 1) + swept_axes.varied_sizes(data)
    free = [axis for axis in candidates if axis not in chosen.values()]
    x = chosen.get("x") or (free.pop(0) if free else None)
    y = chosen.get("y") or (free.pop(0) if free else None)
    return x, y, chosen.get("panel", "" if KERNEL in (x, y) else KERNEL) or None


def rows_of_map(shown: Swept) -> tuple[pandas.DataFrame, str]:
    """The rows that a heat map compares: `is_fastest` of each problem, and `is_outlined`, which has its ties, too.

    And a caption's sentence on what is left out: kernels that vary on one axis, beside others that vary on both.
    """
    rows, panel, said = shown.rows[shown.rows["status"] != "skipped"], shown.panel, ""
    if panel == KERNEL:
        x, y = shown.axes
        has_several = rows.groupby([KERNEL, x])[y].nunique().groupby(KERNEL).max() > 1
        has_several &= rows.groupby(KERNEL)[x].nunique() > 1
        left_out = [name for name in shown.data.kernel_names if not has_several.get(name, True)]
        if has_several.any() and left_out:
            rows = rows[~rows[KERNEL].isin(left_out)]
            said = f" Not shown, as only one axis varies: {list_texts(left_out, len(left_out))}."
    # Problems of several sizes are not compared with each other.
    sizes = swept_axes.problem_axes(shown.data, [*shown.axes, *filter(None, [panel])])
    fastest = rows.sort_values("time_us").drop_duplicates(sizes) if sizes else rows.sort_values("time_us").head(1)
    by_size = {tuple(row[axis] for axis in sizes): row for row in fastest.to_dict("records")}
    key = [*sizes, "one"]  # Without sizes, all are compared with the same one.
    high = rows[sizes].assign(one=1).merge(fastest.assign(one=1), "left", key)["time_high_us"].set_axis(rows.index)
    near = rows[rows["shown"].notna() & may_tie(rows["time_low_us"], high)]
    ties = [is_tie(row, by_size[tuple(row[axis] for axis in sizes)]) for row in near.to_dict("records")]
    outlined, is_fastest = rows.index.isin(near.index[ties]), rows.index.isin(fastest.index)
    return rows.assign(is_outlined=outlined, is_fastest=is_fastest & outlined), said


def cells_of_map(shown: Swept, rows: pandas.DataFrame) -> tuple[pandas.DataFrame, list[Sequence[Any]], str]:
    """One row per cell, with its `panel` and its place, `across` and `down`; both axes' values; a caption's sentence.

    Of an axis with very many values, neighbours share a row or a column, which shows the best of them.
    """
    rows, counts = rows.assign(panel=rows[shown.panel] if shown.panel else ""), []
    first: list[Sequence[Any]] = []
    for place, axis in zip(("across", "down"), shown.axes, strict=True):
        values = values_of(rows, axis, shown.data)
        together = -(-len(values) // MOST_PLACES)
        rows[place] = rows[axis].map({value: number // together for number, value in enumerate(values)})
        counts.append(len(values))
        first.append(values[::together])
    if counts == [*map(len, first)]:
        return rows, first, ""
    rows = rows.sort_values("shown", ascending=shown.quantity == "time_us", kind="stable")
    said = f" Of {counts[0]:,} columns and {counts[1]:,} rows, neighbours share a cell: their best."
    return rows.drop_duplicates(["panel", "across", "down"]), first, said
