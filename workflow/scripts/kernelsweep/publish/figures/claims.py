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

# The heights of a row below its name and of a bar, the room beside the panel, and a mark's size.
ROW_IN, BAR_PT, SIDE_IN, MARK_PT = 0.07, 2.6, 0.08, 3.6
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
    """The rows of claims.csv that have a published and a measured number; if narrow, names are above rows."""
    rows, words, narrow = claim_rows(claims), [*COLOURS, ALLOWED], is_narrow(width)
    row_in, low_in = (style.LINE_IN + 2 * ROW_IN, 1.3 * ROW_IN) if narrow else (style.LINE_IN, style.LINE_IN / 2)
    is_new = (rows["head"] != "") | (rows["verdict"] != HOLDS) | (rows["name"] != rows["name"].shift())
    rows["place"] = (row_in * is_new + (HEAD_IN + ROW_IN) * (rows["head"] != "")).cumsum() - low_in
    end = rows["place"].max() + style.LINE_IN
    side_in = SIDE_IN + (0 if narrow else text_in(*rows["name"]))
    margins = Margins(side_in, SIDE_IN, FOOT_IN, legend_in(width, words))
    figure, (axes,) = panels(width, end + margins.bottom + margins.top, 1, 1, margins)
    axes.spines["left"].set_visible(False)
    look: Any = {"hue": "verdict", "palette": COLOURS, "hue_order": COLOURS, "style_order": COLOURS, "markers": MARKS}
    seaborn.scatterplot(
        rows, x="ratio", y="place", ax=axes, **look, style="verdict", s=MARK_PT**2, linewidth=0.2, zorder=3
    )
    axes.hlines(rows["place"], rows["low"], rows["high"], colors=[*rows["verdict"].map(COLOURS)], linewidth=0.7)
    scale_log(axes)
    named = rows[is_new]
    axes.set(ylim=(end, 0), xlim=axes.get_xlim())
    beside = named[:0] if narrow else named
    axes.set_yticks(beside["place"], beside["name"])
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
    for place, name in zip(named["place"], named["name"] if narrow else (), strict=False):
        axes.text(left, place + low_in - row_in + style.LINE_IN / 2, name, ha="left", **at)
    for row in rows[rows["head"] != ""].to_dict("records"):
        above = row["place"] + low_in - row_in - HEAD_IN / 2
        axes.text(left, above, row["head"], ha="left", weight="bold", **at)
        # What has no room beside the head stands below it, beside the name of a single row.
        is_below = narrow and text_in(row["head"]) + text_in(row["holds"]) + 2 * SIDE_IN > width
        axes.text(1, above + is_below * (HEAD_IN + style.LINE_IN) / 2, row["holds"], ha="right", **at)
    add_legend(axes, [*axes.get_legend_handles_labels()[0], Patch(**bar)], words)
    held = rows.loc[rows["verdict"] == HOLDS, "count"].sum()
    message = f"{sum(row['verdict'] == HOLDS for row in claims)} of {len(claims)} claims hold here;"
    message += f" of the {rows['count'].sum()} that give a number, and no bound, {held}."
    caption = (
        f"{device['name']}. A mark is a claim that gives a number, and no bound. Those of a source that hold share"
    )
    caption += " a row for each width that they allow; each other row is of a claim on the named kernel's speedup, or"
    caption += " on what follows its name. Behind a slash: what it is compared with, where names are equal."
    caption += (
        f" 1 is as published. Grey: {ALLOWED}; we chose the width, as no source gives one. Lines: 95% intervals, or"
    )
    caption += " what counters differ by from run to run. On the page, marks lead to claims."
    return Drawing(figure, "Claims: measured against published numbers", message, caption, device_text(device), rows)
