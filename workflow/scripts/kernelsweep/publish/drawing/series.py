"""Which limits a quantity has, lines, and names at lines' ends: as in the page's explorer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal

import pandas
import seaborn
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator, MaxNLocator

from kernelsweep.publish.axis_places import LOGARITHMIC_FROM, apart
from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.layout import fitting, size_in
from kernelsweep.publish.figure_files import BEST_SHARE, GAIN, PEAK_SHARE
from kernelsweep.statistics import three_digits

# The room above the largest value, around ratios, and around a single value on a logarithmic axis.
HEADROOM, AROUND, AROUND_ONE = 1.08, 1.02, 1.5
# The factor beyond which an axis is logarithmic, by its quantity.
LOGARITHMIC_BEYOND = {"time_us": LOGARITHMIC_FROM, GAIN: 3}
# The multiples of powers of ten that are ticked: the first of these that give few enough ticks. Values that are nearer
# than the factor may have none of these between them.
TICKS: Sequence[Sequence[float]] = [[1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8], [1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]]
TICKS_ACROSS = 2.0
# The least room per tick; the distance of a value from its line's end, the gap below it, and the room between it and
# its names, and beside these.
TICK_IN, NAME_IN, GAP_IN, BRACKET_IN, EDGE_IN = 0.34, 0.16, 0.02, 0.1, 0.05
# The width of a line that may be behind others, and the size of others' marks.
BROAD_PT, MARK_PT = 3.5, 3.6
# Shares below the one have a digit behind the point, and numbers from the other on none.
FINE_BELOW, FINE_FROM = 10, 1000
# What makes a mark hollow.
HOLLOW: Any = {"s": 3.2, "color": palette.WHITE, "linewidth": 0, "zorder": 3.5}


def limits(low: float, high: float, quantity: str) -> tuple[float, float]:
    """The ends of an axis: ratios are read against 1, all else against 0; what is far apart is logarithmic."""
    if quantity == GAIN:
        return min(low, 1) / AROUND, max(high, 1) * AROUND
    if is_logarithmic(low, high, quantity):
        return low / HEADROOM, high * HEADROOM
    return 0.0, max(high, 100) if quantity == PEAK_SHARE else high * HEADROOM


def is_logarithmic(low: float, high: float, quantity: str) -> bool:
    """Whether values of a quantity between two ends are on a logarithmic axis."""
    return high > LOGARITHMIC_BEYOND.get(quantity, math.inf) * low


def scale(axes: Axes, name: Literal["x", "y"], low: float, high: float, quantity: str) -> None:
    """Give a panel's axis of numbers the limits of its values, ticks that have room, and a light grid."""
    is_log, is_up = is_logarithmic(low, high, quantity), name == "y"
    axes.set(**{f"{name}scale": "log" if is_log else "linear"})
    _tick(axes.yaxis if is_up else axes.xaxis, low, high, size_in(axes)[is_up], is_log)
    axes.set(**{f"{name}lim": limits(low, high, quantity)})
    axes.grid(color=palette.GRID_GREY, linewidth=0.5, axis="both" if is_up else "x")
    if quantity == GAIN:
        (axes.axhline if is_up else axes.axvline)(1.0, color=palette.GREY, linewidth=0.6, zorder=1)


def scale_log(axes: Axes) -> None:
    """Let a panel's x axis be logarithmic, with ticks that have room, and a light grid."""
    axes.set_xscale("log")
    low, high = axes.dataLim.intervalx
    if low == high:
        axes.set_xlim(low / AROUND_ONE, low * AROUND_ONE)
    _tick(axes.xaxis, low, high, size_in(axes)[0], True)
    axes.grid(color=palette.GRID_GREY, linewidth=0.5, axis="x")


def draw_lines(axes: Axes, rows: pandas.DataFrame, colours: Mapping[Any, str], markers: Mapping[Any, str]) -> None:
    """Lines over tidy rows, drawn by seaborn: a mark with its interval per row, and gaps where a number is missing.

    rows     `line`, its place `at` on the axis, its number `shown` with the interval from `low` to `high`, its `scale`:
             numbers on several, such as two peaks, are not joined; and whether its mark `is_hollow`
    colours  of each line
    markers  of each line with a name; lines without one are broad, as they may be behind others
    """
    rows = rows.sort_values("at")
    # Rows between two gaps are a unit: seaborn would join those beside a gap.
    before = rows.groupby("line")["scale"].shift()
    rows["unit"] = (rows["shown"].isna() | (rows["scale"] != before)).groupby(rows["line"]).cumsum()
    for has_name in (False, True):
        some = rows[rows["line"].isin(markers) == has_name]
        if some.empty:
            continue
        look = {"x": "at", "y": "shown", "hue": "line", "palette": colours, "legend": False, "ax": axes}
        width, mark = (1.1, MARK_PT) if has_name else (BROAD_PT, 1.5)
        seaborn.lineplot(some, **look, units="unit", estimator=None, linewidth=width)
        kinds = {"style": "line", "markers": markers} if has_name else {}
        seaborn.scatterplot(some, **look, **kinds, s=mark**2, linewidth=0.3, zorder=2.5)
        hollow = some[some["is_hollow"]]
        axes.scatter(hollow["at"], hollow["shown"], **HOLLOW)
        axes.vlines(some["at"], some["low"], some["high"], colors=[*some["line"].map(colours)], linewidth=1.1)


def _tick(axis: Axis, low: float, high: float, room_in: float, is_log: bool) -> None:
    most = max(3, int(room_in / TICK_IN))
    if is_log and high > TICKS_ACROSS * low:
        fitting = next((subs for subs in TICKS if len(subs) * math.log10(high / low) <= most), TICKS[-1])
        axis.set_major_locator(LogLocator(subs=fitting, numticks=most))
    else:
        axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]))
    axis.set_ticks([], minor=True)
    axis.set_major_formatter(lambda value, _: f"{value:,g}")


def label_x(axes: Axes, places: Sequence[float], texts: Sequence[str]) -> None:
    """Label as many of an axis' values as have room."""
    around = (places[-1] - places[0]) * 0.04
    axes.set_xlim(places[0] - around, places[-1] + around)
    inches = size_in(axes)[0] / (places[-1] - places[0] + 2 * around)
    shown = fitting([place * inches for place in places], texts)
    axes.set_xticks([places[number] for number in shown], [texts[number] for number in shown])


@dataclass(frozen=True)
class End:
    """Where lines end whose last values are the same in words.

    x, y   of their mean
    text   the value
    names  of the lines, each with its colour; first those that have one
    """

    x: float
    y: float
    text: str
    names: Sequence[tuple[str, str]]

    @property
    def colour(self) -> str:
        """That of the line, or of the only one with a colour."""
        colours = {colour for _, colour in self.names} - {palette.GREY}
        return colours.pop() if len(colours) == 1 else palette.GREY

    @property
    def rooms_in(self) -> list[float]:
        """The height of each name, or of the value alone."""
        return [style.LINE_IN * (name.count("\n") + 1) for name, _ in self.names if name] or [style.LINE_IN]


def line_ends(rows: pandas.DataFrame, names: Mapping[Any, str], colours: Mapping[Any, str], quantity: str) -> list[End]:
    """The ends of lines, from below: those with the same last value, in words, are one.

    rows   of a panel, as draw_lines() takes them
    names  of the lines that have a value at their ends; "" for the value alone
    """
    drawn = rows[rows["shown"].notna() & rows["line"].isin(names)]
    last = drawn.sort_values("at").groupby("line").tail(1).sort_values("shown")
    last = last.assign(text=[end_text(value, quantity) for value in last["shown"]])
    darker = {palette.LEADER_GREY: palette.GREY}
    ends = []
    for text, alike in last.groupby("text", sort=False):
        named = [(names[line], darker.get(colours[line], colours[line])) for line in names if line in {*alike["line"]}]
        named.sort(key=lambda name: name[1] == palette.GREY)
        ends.append(End(alike["at"].mean(), alike["shown"].mean(), str(text), named))
    return ends


def end_text(value: float, quantity: str) -> str:
    """A value at a line's end: 93%, 1.12×, 46.8, 42.0 µs."""
    if quantity in (PEAK_SHARE, BEST_SHARE):
        return f"{value:.0f}%" if value >= FINE_BELOW else f"{value:.1f}%"
    text = f"{value:,.0f}" if value >= FINE_FROM else three_digits(value)
    return f"{text}×" if quantity == GAIN else text


def beside_in(ends: Sequence[End]) -> float:
    """The room of values and names on the right of a panel, in inches."""
    names_in = style.text_in(*(name for end in ends for name, _ in end.names))
    return NAME_IN + style.text_in(*(end.text for end in ends)) + (names_in and BRACKET_IN + names_in) + EDGE_IN


def name_ends(axes: Axes, ends: Sequence[End]) -> None:
    """Values and names on the right of a panel, from below, moved apart, each with a leader to its line's end.

    Several names of one value stand above each other, in a bracket.
    """
    (width, height), to_panel = size_in(axes), axes.transScale + axes.transLimits
    at: Any = {"transform": axes.transAxes, "clip_on": False}
    names_in = NAME_IN + style.text_in(*(end.text for end in ends)) + BRACKET_IN
    placed = [to_panel.transform((end.x, end.y)) for end in ends]
    rooms = [sum(end.rooms_in) + GAP_IN for end in ends]
    most = height + GAP_IN - (rooms[-1] / 2 if rooms else 0)
    middles = apart([y * height for _, y in placed], rooms, GAP_IN, most)
    for end, (x, y), middle in zip(ends, placed, middles, strict=True):
        leader = ([x, 1 + 0.7 * NAME_IN / width], [y, middle / height])
        axes.plot(*leader, color=end.colour, linewidth=0.4, alpha=0.6, **at)
        axes.text(1 + NAME_IN / width, middle / height, end.text, color=end.colour, va="center", **at)
        top = middle + sum(end.rooms_in) / 2
        if len(end.rooms_in) > 1:
            corners = (1 + (names_in - part * BRACKET_IN) / width for part in (0.3, 0.6, 0.6, 0.3))
            edges = [(middle + side * (sum(end.rooms_in) / 2 - 0.03)) / height for side in (1, 1, -1, -1)]
            axes.plot([*corners], edges, color=palette.GREY, linewidth=0.6, **at)
        for (name, colour), room in zip(filter(itemgetter(0), end.names), end.rooms_in, strict=False):
            axes.text(1 + names_in / width, (top - room / 2) / height, name, color=colour, va="center", **at)
            top -= room
