"""How far measured numbers are from those that sources print: a row per source, a dot per claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

# The room of a row's dots, below its words; that beside the panel, and below it; a dot's size.
DOTS_IN, SIDE_IN, FOOT_IN, DOT_PT = 0.3, 0.08, 0.36, 3.4
# The colours of verdicts; those by size are neither of the others. So many claims with the same ratio are one dot.
OPEN = "not decidable, or not at every size"
COLOURS, MANY = {HOLDS: palette.BLUE, FAILS: palette.VERMILLION, OPEN: palette.GREY}, 4


def draw_files(file: Path, device: Mapping[str, Any], folder: Path) -> None:
    """Draw the claims of a claims.csv that name a number, with their texts; without any, the folder stays empty."""
    folder.mkdir(exist_ok=True)
    claims = [*each_row(file)]
    if any(map(_has_number, claims)):
        draw(claims, device, PHONE).save(folder / narrow_name("claims"))
        drawn = draw(claims, device)
        for suffix in (".svg", ".pdf"):
            drawn.save(folder / f"claims{suffix}")
        write_json(folder / TEXTS_FILE, drawn.texts)


def _has_number(row: Mapping[str, str]) -> bool:
    return row["relation"] == "about" and bool(row["measured"])


@style.styled
def draw(claims: Sequence[Mapping[str, str]], device: Mapping[str, Any], width: float = TWO_COLUMNS) -> Drawing:
    """The figure of those rows of claims.csv that have a published and a measured number."""
    rows = pandas.DataFrame([*filter(_has_number, claims)])
    rows["ratio"] = rows["measured"].astype(float) / rows["published"].astype(float)
    rows["at_some"] = [verdict_kind(verdict) == SOME_SIZES for verdict in rows["verdict"]]
    rows["verdict"] = rows["verdict"].where(rows["verdict"].isin([*COLOURS]), OPEN)
    rows["alike"] = rows.groupby(["source", "source_device", "verdict", "ratio"])["ratio"].transform("size")
    sources = dict([*rows.groupby(["source", "source_device"], sort=False)])
    lines = len(COLOURS) if is_narrow(width) else 1
    margins = Margins(SIDE_IN, SIDE_IN, FOOT_IN, style.LINE_IN * lines + 2 * GAP_IN)
    row_in = style.LINE_IN + DOTS_IN
    behind: Any = {"facecolor": palette.WHITE, "edgecolor": "none", "pad": 0.5}
    figure, (axes,) = panels(width, row_in * len(sources) + margins.top + margins.bottom, 1, 1, margins)
    axes.set(ylim=(row_in * len(sources), 0), yticks=[])
    axes.spines["left"].set_visible(False)
    for number, (source, of) in enumerate(sources.items()):
        holds = f"{(of['verdict'] == HOLDS).sum()} of {len(of)} hold"
        holds += f", {some} at some sizes" if (some := of["at_some"].sum()) else ""
        for across, side, words in ((0, "left", ": ".join(filter(None, source))), (1, "right", holds)):
            axes.text(
                across, number * row_in, words, ha=side, va="top", transform=axes.get_yaxis_transform(), bbox=behind
            )
    middles = [number * row_in + style.LINE_IN + DOTS_IN / 2 for number in range(len(sources))]
    rows = pandas.concat([of.assign(place=place) for of, place in zip(sources.values(), middles, strict=True)])
    dots = rows[(rows["alike"] < MANY) | ~rows.duplicated(["place", "verdict", "ratio"])]
    axes.axvline(1.0, color=palette.GREY, linewidth=0.6, zorder=1)
    look: Any = {"hue": "verdict", "hue_order": [*COLOURS], "palette": COLOURS, "orient": "y", "native_scale": True}
    seaborn.swarmplot(dots, x="ratio", y="place", ax=axes, log_scale=(True, False), size=DOT_PT, warn_thresh=1, **look)
    scale_log(axes)
    axes.set(xlabel="measured over published number (logarithmic)", ylabel="")
    above: Any = {"bbox_to_anchor": (0, 1), "bbox_transform": figure.transFigure, "frameon": False, "borderpad": 0.2}
    seaborn.move_legend(axes, "upper left", **above, ncols=len(COLOURS) // lines, title="", handletextpad=0.2)
    message = f"{sum(row['verdict'] == HOLDS for row in claims)} of {len(claims)} claims hold here;"
    message += f" of the {len(rows)} that name a number, {(rows['verdict'] == HOLDS).sum()}."
    caption = f"{device['name']}. A dot for each claim that names a number, by source; 1 is as published."
    caption += f" {MANY} or more with the same ratio share a dot."
    return Drawing(figure, "Claims: measured against published numbers", message, caption, device_text(device), rows)
