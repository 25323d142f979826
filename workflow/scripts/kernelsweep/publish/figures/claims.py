"""How far measured numbers are from those that sources print: a row per source, a dot per claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import log
from pathlib import Path
from typing import Any

import pandas
import seaborn

from kernelsweep.base.json_files import write_json
from kernelsweep.judge.claims.claim import FAILS, HOLDS, SOME_SIZES, verdict_kind
from kernelsweep.judge.data.words import device_text
from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.figure_formats import narrow_name
from kernelsweep.publish.drawing.layout import PHONE, TWO_COLUMNS, Drawing, Margins, is_narrow, panels
from kernelsweep.publish.drawing.rows import GAP_IN
from kernelsweep.publish.drawing.series import scale_log
from kernelsweep.publish.figure_files import TEXTS_FILE
from kernelsweep.results import each_row

# The room around a row's words and dots; that beside the panel, and below it; a dot's size.
PAD_IN, SIDE_IN, FOOT_IN, DOT_PT = 0.06, 0.08, 0.36, 3.4
# The colours of verdicts; those by size are neither of the others.
OPEN = "not decidable, or not at every size"
LINE: Any = {"color": palette.GREY, "linewidth": 0.6, "zorder": 1}
COLOURS = {HOLDS: palette.BLUE, FAILS: palette.VERMILLION, OPEN: palette.GREY}


def draw_files(file: Path, device: Mapping[str, Any], folder: Path) -> None:
    """Draw the claims of a claims.csv that give a number, with their texts; of fewer than three, nothing."""
    folder.mkdir(exist_ok=True)
    claims = [*each_row(file)]
    if sum(map(_has_number, claims)) > 2:
        draw(claims, device, PHONE).save(folder / narrow_name("claims"))
        drawn = draw(claims, device)
        for suffix in (".svg", ".pdf"):
            drawn.save(folder / f"claims{suffix}")
        write_json(folder / TEXTS_FILE, drawn.texts)


def _has_number(row: Mapping[str, str]) -> bool:
    return row["relation"] == "about" and bool(row["measured"]) and float(row["published"]) != 0


def _levels(places: Iterable[float], dot: float) -> list[int]:
    """How high each of some dots stands, in order of their places, so that none lies over another."""
    ends: list[float] = []
    levels = []
    for place in places:
        levels.append(next((level for level, end in enumerate(ends) if place - end >= dot), len(ends)))
        ends[levels[-1] : levels[-1] + 1] = [place]
    return levels


@style.styled
def draw(claims: Sequence[Mapping[str, str]], device: Mapping[str, Any], width: float = TWO_COLUMNS) -> Drawing:
    """The figure of those rows of claims.csv that have a published and a measured number."""
    rows = pandas.DataFrame([*filter(_has_number, claims)])
    rows["ratio"] = rows["measured"].astype(float) / rows["published"].astype(float)
    rows["at_some"] = [verdict_kind(verdict) == SOME_SIZES for verdict in rows["verdict"]]
    rows["verdict"] = rows["verdict"].where(rows["verdict"].isin([*COLOURS]), OPEN)
    rows["verdict"] = pandas.Categorical(rows["verdict"], [*COLOURS])
    groups = rows.groupby(["source", "source_device"], sort=False)
    lines = len(COLOURS) if is_narrow(width) else 1
    margins = Margins(SIDE_IN, SIDE_IN, FOOT_IN, style.LINE_IN * lines + 2 * GAP_IN)
    dot = log(rows["ratio"].max() / rows["ratio"].min()) * DOT_PT / style.POINTS_PER_INCH / (width - 4 * SIDE_IN)
    sources = {source: of.sort_values(["ratio", "verdict"]) for source, of in groups}
    sources = {source: of.assign(level=_levels(of["ratio"].map(log), dot)) for source, of in sources.items()}
    rooms = [(of["level"].max() + 1) * DOT_PT / style.POINTS_PER_INCH for of in sources.values()]
    *tops, end = accumulate([style.LINE_IN + room + 3 * PAD_IN for room in rooms], initial=0.0)
    figure, (axes,) = panels(width, end + margins.top + margins.bottom, 1, 1, margins)
    axes.set(ylim=(end, 0), yticks=[])
    axes.spines["left"].set_visible(False)
    behind: Any = {"facecolor": palette.WHITE, "edgecolor": "none", "pad": 0.5}
    at: Any = {"va": "top", "transform": axes.get_yaxis_transform(), "bbox": behind}
    for top, (source, of) in zip(tops, sources.items(), strict=True):
        holds = f"{(of['verdict'] == HOLDS).sum()} of {len(of)} hold"
        holds += f", {some} at some sizes" if (some := of["at_some"].sum()) else ""
        axes.text(0, top + PAD_IN, ": ".join(filter(None, map(str, source))), ha="left", **at)
        axes.text(1, top + PAD_IN, holds, ha="right", **at)
    axes.hlines(tops[1:], 0, 1, color=palette.LEADER_GREY, linewidth=0.6, transform=axes.get_yaxis_transform())
    grounds = [top + style.LINE_IN + room + 2 * PAD_IN for top, room in zip(tops, rooms, strict=True)]
    axes.vlines([1.0] * len(tops), [top + style.LINE_IN + PAD_IN for top in tops], grounds, **LINE)
    rows = pandas.concat([of.assign(ground=ground) for of, ground in zip(sources.values(), grounds, strict=True)])
    rows["place"] = rows["ground"] - (rows["level"] + 0.5) * DOT_PT / style.POINTS_PER_INCH
    look: Any = {"hue": "verdict", "palette": COLOURS, "s": DOT_PT**2, "linewidth": 0.3}
    seaborn.scatterplot(rows, x="ratio", y="place", ax=axes, **look)
    scale_log(axes)
    axes.set(xlabel="measured over published number (logarithmic)", ylabel="")
    above: Any = {"bbox_to_anchor": (0, 1), "bbox_transform": figure.transFigure, "frameon": False, "borderpad": 0.2}
    seaborn.move_legend(axes, "upper left", **above, ncols=len(COLOURS) // lines, title="", handletextpad=0.2)
    message = f"{sum(row['verdict'] == HOLDS for row in claims)} of {len(claims)} claims hold here;"
    message += f" of the {len(rows)} that give a number, and no bound, {(rows['verdict'] == HOLDS).sum()}."
    caption = f"{device['name']}. A dot for each claim that gives a number, and no bound; 1 is as published."
    caption += " Claims allow different widths: of two with nearly the same ratio, one may hold."
    return Drawing(figure, "Claims: measured against published numbers", message, caption, device_text(device), rows)
