"""How far measured numbers are from those that sources print: what a claim allows as a bar, and ours as a mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import seaborn
from matplotlib.patches import Patch

from kernelsweep.base.json_files import write_json
from kernelsweep.judge.claims.claim import FAILS, HOLDS, NOT_DECIDABLE, SOME_SIZES
from kernelsweep.judge.data.words import device_text
from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.figure_formats import narrow_name
from kernelsweep.publish.drawing.layout import PHONE, TWO_COLUMNS, Drawing, Margins, is_narrow, panels, size_in
from kernelsweep.publish.drawing.rows import FOOT_IN, HEAD_IN, add_legend, legend_in
from kernelsweep.publish.drawing.series import scale_log
from kernelsweep.publish.drawing.style import text_in
from kernelsweep.publish.figure_files import TEXTS_FILE
from kernelsweep.publish.figures.claim_rows import claim_rows, has_number
from kernelsweep.results import each_row

# The heights of a row without a name and of a bar, the room beside the panel, and a mark's size.
ROW_IN, BAR_PT, SIDE_IN, MARK_PT = 0.06, 2.6, 0.08, 3.6
ALLOWED = "what the claim allows"
COLOURS = {HOLDS: palette.BLUE, FAILS: palette.VERMILLION, SOME_SIZES: palette.OCHRE, NOT_DECIDABLE: palette.GREY}
MARKS = {HOLDS: "o", FAILS: "X", SOME_SIZES: "D", NOT_DECIDABLE: "s"}


def draw_files(file: Path, device: Mapping[str, Any], folder: Path) -> None:
    """Draw the claims of a claims.csv that give a number, with their texts; of fewer than three, nothing."""
    folder.mkdir(exist_ok=True)
    claims = [*each_row(file)]
    if sum(map(has_number, claims)) > 2:
        draw(claims, device, PHONE).save(folder / narrow_name("claims"))
        drawn = draw(claims, device)
        for suffix in (".svg", ".pdf"):
            drawn.save(folder / f"claims{suffix}")
        write_json(folder / TEXTS_FILE, drawn.texts)


@style.styled
def draw(claims: Sequence[Mapping[str, str]], device: Mapping[str, Any], width: float = TWO_COLUMNS) -> Drawing:
    """The figure of those rows of claims.csv that have a published and a measured number; if narrow, without names."""
    rows, words, has_names = claim_rows(claims), [*COLOURS, ALLOWED], not is_narrow(width)
    row_in = style.LINE_IN if has_names else ROW_IN
    is_new = (rows["head"] != "") | (rows["verdict"] != HOLDS)
    rows["place"] = (row_in * is_new + (HEAD_IN + ROW_IN) * (rows["head"] != "")).cumsum() - row_in / 2
    end = rows["place"].max() + row_in
    side_in = SIDE_IN + (text_in(*rows["name"]) if has_names else 0)
    margins = Margins(side_in, SIDE_IN, FOOT_IN, legend_in(width, words))
    figure, (axes,) = panels(width, end + margins.bottom + margins.top, 1, 1, margins)
    axes.spines["left"].set_visible(False)
    look: Any = {"hue": "verdict", "palette": COLOURS, "hue_order": COLOURS, "style_order": COLOURS, "markers": MARKS}
    seaborn.scatterplot(
        rows, x="ratio", y="place", ax=axes, **look, style="verdict", s=MARK_PT**2, linewidth=0.2, zorder=3
    )
    axes.hlines(rows["place"], rows["low"], rows["high"], colors=[*rows["verdict"].map(COLOURS)], linewidth=0.7)
    scale_log(axes)
    named = rows[is_new & has_names]
    axes.set(ylim=(end, 0), xlim=axes.get_xlim())
    axes.set_yticks(named["place"], named["name"])
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel="measured over published number (logarithmic)", ylabel="")
    bar: Any = {"color": palette.LEADER_GREY, "zorder": 0.8}
    bars = axes.hlines(rows["place"], rows["least"].clip(lower=1e-9), rows["most"], linewidth=BAR_PT, **bar)
    for linked in (axes.collections[0], bars):
        linked.set_urls([*rows["link"]])
    axes.axvline(1, color=palette.GREY, linewidth=0.6, zorder=0.9)
    at: Any = {"va": "center", "transform": axes.get_yaxis_transform()}
    at |= {"bbox": {"facecolor": palette.WHITE, "edgecolor": "none", "pad": 0.5}}
    left = (SIDE_IN - side_in) / size_in(axes)[0]
    for row in rows[rows["head"] != ""].to_dict("records"):
        above = row["place"] - row_in / 2 - HEAD_IN / 2
        axes.text(left, above, row["head"], ha="left", weight="bold", **at)
        axes.text(1, above, row["holds"], ha="right", **at)
    add_legend(axes, [*axes.get_legend_handles_labels()[0], Patch(**bar)], words)
    held = rows.loc[rows["verdict"] == HOLDS, "count"].sum()
    message = f"{sum(row['verdict'] == HOLDS for row in claims)} of {len(claims)} claims hold here;"
    message += f" of the {rows['count'].sum()} that give a number, and no bound, {held}."
    caption = (
        f"{device['name']}. A mark is a claim that gives a number, and no bound. Those of a source that hold share"
    )
    caption += (
        " its first row; each other row is of a claim on the named kernel's speedup, or on what follows its name."
    )
    caption += (
        f" 1 is as published. Grey: {ALLOWED}; we chose the width, as no source gives one. Lines: 95% intervals, or"
    )
    caption += " what counters differ by from run to run. On the page, marks lead to claims."
    return Drawing(figure, "Claims: measured against published numbers", message, caption, device_text(device), rows)
