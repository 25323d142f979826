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
from kernelsweep.publish.drawing.layout import PHONE, TWO_COLUMNS, Drawing, is_narrow
from kernelsweep.publish.drawing.rows import GAP_IN, row_panel
from kernelsweep.publish.drawing.series import scale_log
from kernelsweep.publish.figure_files import TEXTS_FILE
from kernelsweep.results import each_row

# A row's height beyond its text, and a dot's size.
ROW_IN, DOT_PT = 0.22, 3.4
# The colours of verdicts; those by size are neither of the others. So many claims with the same ratio are one dot.
OPEN = "not decidable, or not at every size"
COLOURS, MANY = {HOLDS: palette.BLUE, FAILS: palette.VERMILLION, OPEN: palette.GREY}, 4


def draw_files(file: Path, device: Mapping[str, Any], folder: Path) -> None:
    """Draw the claims of a claims.csv that name a number, with their texts; without any, the folder stays empty."""
    folder.mkdir(exist_ok=True)
    if rows := [row for row in each_row(file) if row["relation"] == "about" and row["measured"]]:
        draw(rows, device, PHONE).save(folder / narrow_name("claims"))
        drawn = draw(rows, device)
        drawn.save(folder / "claims.svg")
        write_json(folder / TEXTS_FILE, drawn.texts)


@style.styled
def draw(claims: Sequence[Mapping[str, str]], device: Mapping[str, Any], width: float = TWO_COLUMNS) -> Drawing:
    """The figure of rows of claims.csv, each with a published and a measured number."""
    rows = pandas.DataFrame(claims)
    rows["ratio"] = rows["measured"].astype(float) / rows["published"].astype(float)
    rows["at_some"] = [verdict_kind(verdict) == SOME_SIZES for verdict in rows["verdict"]]
    rows["verdict"] = rows["verdict"].where(rows["verdict"].isin([*COLOURS]), OPEN)
    rows["alike"] = rows.groupby(["source", "source_device", "verdict", "ratio"])["ratio"].transform("size")
    sources = dict([*rows.groupby(["source", "source_device"], sort=False)])
    names = [": ".join(filter(None, source)) for source in sources]
    hold = []
    for of in sources.values():
        most = of["alike"].max()
        words = f"{(of['verdict'] == HOLDS).sum()} of {len(of)} hold"
        words += f"\n{some} at some sizes" if (some := of["at_some"].sum()) else ""
        hold.append(f"{words}\n{most} in one dot" if most >= MANY else words)
    lines = len(COLOURS) if is_narrow(width) else 1
    above_in = style.LINE_IN * lines + GAP_IN
    figure, axes, places = row_panel(width, names, [""] * len(names), hold, above_in, row_in=ROW_IN)
    rows = pandas.concat([of.assign(place=place) for of, place in zip(sources.values(), places, strict=True)])
    dots = rows[(rows["alike"] < MANY) | ~rows.duplicated(["place", "verdict", "ratio"])]
    axes.axvline(1.0, color=palette.GREY, linewidth=0.6, zorder=1)
    look: Any = {"hue": "verdict", "hue_order": [*COLOURS], "palette": COLOURS, "orient": "y", "native_scale": True}
    seaborn.swarmplot(dots, x="ratio", y="place", ax=axes, log_scale=(True, False), size=DOT_PT, warn_thresh=1, **look)
    scale_log(axes)
    axes.set(xlabel="measured over published number (logarithmic)", ylabel="")
    above: Any = {"bbox_to_anchor": (0, 1), "bbox_transform": figure.transFigure, "frameon": False, "borderpad": 0.2}
    seaborn.move_legend(axes, "upper left", **above, ncols=len(COLOURS) // lines, title="", handletextpad=0.2)
    message = f"{(rows['verdict'] == HOLDS).sum()} of {len(rows)} published numbers hold here."
    caption = f"{device['name']}. Only claims that name a number, a dot each; 1 is as published. A row per source."
    return Drawing(figure, "Claims: measured against published numbers", message, caption, device_text(device), rows)
