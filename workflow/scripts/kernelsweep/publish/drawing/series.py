"""Which limits a quantity has, lines, and names at lines' ends: as in the page's explorer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pandas
import seaborn
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator, MaxNLocator

from kernelsweep.publish.axis_places import LOGARITHMIC_FROM
from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.layout import fitting, size_in
from kernelsweep.publish.figure_files import BEST_SHARE, GAIN, PEAK_SHARE

# The room above the largest value, around ratios, and around a single value on a logarithmic axis.
HEADROOM, AROUND, AROUND_ONE = 1.08, 1.02, 1.5
# The factor beyond which an axis is logarithmic, by its quantity.
LOGARITHMIC_BEYOND = {"time_us": LOGARITHMIC_FROM, GAIN: 3}
# The multiples of powers of ten that are ticked: the first of these that give few enough ticks. Values that are nearer
# than the factor may have none of these between them.
TICKS: Sequence[Sequence[float]] = [[1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8], [1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]]
TICKS_ACROSS = 2.0
# The least room per tick; the distance of a name from its line's end, and the gap below a name.
TICK_IN, NAME_IN, GAP_IN = 0.34, 0.16, 0.02
# Shares below the one have a digit behind the point, and numbers from the other on none.
FINE_BELOW, FINE_FROM = 10, 1000
# What makes a mark white inside.
HOLLOW: Any = {"s": 3.2, "color": palette.WHITE, "linewidth": 0, "zorder": 3.5}

# The x and y of a line's end, its name, and its colour.
End = tuple[float, float, str, str]


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

    rows     `line`, its place `at` on the axis, its number `shown` with the interval from `low` to `high`, whether the
             line `joins` it to the row before, its `scale`: numbers on several, such as two peaks, are not joined; and
             whether its mark `is_hollow`
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
        width, mark = (1.1, 3.6) if has_name else (3.5, 1.5)
        joined = some[some["joins"]]
        if not joined.empty:
            seaborn.lineplot(joined, **look, units="unit", estimator=None, linewidth=width)
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


def line_ends(
    panels: Mapping[Any, pandas.DataFrame],
    texts: Mapping[Any, str],
    colours: Mapping[Any, str],
    quantity: str,
    across: int,
) -> dict[Any, list[End]]:
    """The last points of lines that have a text, from below, in all panels in the same order, with their values.

    The texts stand once in each row of `across` panels, on its right; the text of a line in light grey is grey. Where
    none stand, neighbours with the same value share one.

    panels  the rows of each by its name, as draw_lines() takes them
    """
    drawn = {name: rows[rows["shown"].notna() & rows["line"].isin(texts)] for name, rows in panels.items()}
    last = {name: rows.sort_values("at").groupby("line").tail(1).set_index("line") for name, rows in drawn.items()}
    order = pandas.concat(last.values())["shown"].groupby(level=0).mean().sort_values().index
    ends: dict[Any, list[End]] = {}
    darker = {palette.LEADER_GREY: palette.GREY}
    for number, (name, rows) in enumerate(last.items(), start=1):
        beside = texts if number % across == 0 or number == len(last) else dict.fromkeys(texts, "")
        ends[name] = [
            (at, value, f"{beside[line]} {end_text(value, quantity)}".strip(), darker.get(colours[line], colours[line]))
            for line, at, value in rows.reindex(order).dropna(subset=["shown"])[["at", "shown"]].itertuples()
        ]
        if beside is not texts:
            ends[name] = [_together([*alike]) for _, alike in itertools.groupby(ends[name], key=lambda end: end[2])]
    return ends


def _together(ends: Sequence[End]) -> End:
    """One end for several with the same text, at the middle one."""
    at, value, text, colour = ends[len(ends) // 2]
    return (at, value, f"{text} ({len(ends)} lines)", palette.GREY) if len(ends) > 1 else (at, value, text, colour)


def end_text(value: float, quantity: str) -> str:
    """A value at a line's end: 93%, 1.12×, 46.8, 42.0 µs."""
    if quantity in (PEAK_SHARE, BEST_SHARE):
        return f"{value:.0f}%" if value >= FINE_BELOW else f"{value:.1f}%"
    if quantity == GAIN:
        return f"{value:.2f}×"
    return f"{value:,.0f}" if value >= FINE_FROM else f"{value:#.3g}".rstrip(".")


def name_ends(axes: Axes, ends: Sequence[End]) -> None:
    """Names on the right of a panel, moved apart, each with a leader to its line's end.

    ends  from below, the x and y of each, its name, and its line's colour
    """
    width, height = size_in(axes)
    to_panel = axes.transScale + axes.transLimits
    placed = [(*to_panel.transform((x, y)) * (width, height), text, colour) for x, y, text, colour in ends]
    rooms = [(text.count("\n") + 1) * style.LINE_IN + GAP_IN for _, _, text, _ in placed]
    at = _apart([y for _, y, _, _ in placed], rooms, height)
    for (x, y, text, colour), middle in zip(placed, at, strict=True):
        look: Any = {"transform": axes.transAxes, "clip_on": False}
        leader = ([x / width, 1 + 0.7 * NAME_IN / width], [y / height, middle / height])
        axes.plot(*leader, color=colour, linewidth=0.4, alpha=0.6, **look)
        axes.text(1 + NAME_IN / width, middle / height, text, color=colour, va="center", **look)


def _apart(wanted: Sequence[float], rooms: Sequence[float], height: float) -> list[float]:
    """The middles of texts near those that are wanted, in order, each with its room and below a height."""
    ends = [*itertools.accumulate(zip(wanted, rooms, strict=True), _above, initial=-math.inf)][1:]
    for number in reversed(range(len(ends))):
        height = ends[number] = min(ends[number], height + (rooms[number] / 2 if number == len(ends) - 1 else 0))
        height -= rooms[number]
    return [end - room / 2 for end, room in zip(ends, rooms, strict=True)]


def _above(end: float, text: tuple[float, float]) -> float:
    """The upper end of the next text above another's."""
    wanted, room = text
    return max(wanted + room / 2, end + room)
