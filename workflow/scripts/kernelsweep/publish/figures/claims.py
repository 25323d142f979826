"""How far measured numbers are from those that sources print: what a claim allows as a bar, and ours as a mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas
import seaborn
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.path import Path as Path2D

from kernelsweep.base.groups import grouped
from kernelsweep.base.json_files import write_json
from kernelsweep.judge.claims.claim import ABOUT, FAILS, GOAL, HOLDS, NOT_DECIDABLE, SOME_SIZES
from kernelsweep.judge.claims.report import held_text
from kernelsweep.judge.data.words import device_text, list_texts
from kernelsweep.publish.drawing import palette, style
from kernelsweep.publish.drawing.figure_formats import narrow_name
from kernelsweep.publish.drawing.layout import TWO_COLUMNS, Drawing, is_narrow
from kernelsweep.publish.drawing.rows import add_legend, legend_in, row_panel
from kernelsweep.publish.drawing.series import scale_log
from kernelsweep.publish.figure_files import TEXTS_FILE
from kernelsweep.publish.figures.claim_rows import NEAR, claim_rows, has_number
from kernelsweep.results import each_row

# The height of what a claim allows, a mark's size, and the marks of quantities, in their order. A row's quantities are
# one below another, and what shares a row has strokes.
BAR_PT, MARK_PT, MARKERS, APART_IN = 8.0, 4.2, "o^sPvX", 0.05
# On a phone of 390 pixels, text of a figure of this width has 11.
PHONE_IN = 3.05
STROKE = Path2D([(-0.4, -1), (0.4, -1), (0.4, 1), (-0.4, 1), (-0.4, -1)])
Claims = Sequence[Mapping[str, str]]
Stories = Mapping[str, Sequence[str]]
ALLOWED = "what the claim allows"
COLOURS = {HOLDS: palette.BLUE, FAILS: palette.VERMILLION, SOME_SIZES: palette.OCHRE, NOT_DECIDABLE: palette.GREY}


def draw_files(file: Path, device: Mapping[str, Any], folder: Path, stories: Stories) -> None:
    """Draw the claims of a claims.csv that give a number, with their texts; of fewer than three, nothing."""
    folder.mkdir(exist_ok=True)
    claims = [*each_row(file)]
    if sum(map(has_number, claims)) > 2:
        draw(claims, device, stories, PHONE_IN).save(folder / narrow_name("claims"))
        drawn = draw(claims, device, stories)
        for suffix in (".svg", ".pdf"):
            drawn.save(folder / f"claims{suffix}")
        write_json(folder / TEXTS_FILE, drawn.texts)


@style.styled
def draw(claims: Claims, device: Mapping[str, Any], stories: Stories, width: float = TWO_COLUMNS) -> Drawing:
    """The rows of claims.csv that have a published and a measured number, in a group for each source."""
    rows = claim_rows(claims, stories)
    named = rows.drop_duplicates(["head", "name"])
    quantities = [mark for mark in rows["mark"].unique() if mark]
    markers: dict[str, Any] = dict(zip(quantities, cycle(MARKERS), strict=False)) | {"": STROKE}
    verdicts = [verdict for verdict in COLOURS if verdict in {*rows["verdict"]}]
    colours, blank = [*verdicts, ALLOWED], [""] * len(named)
    above_in = legend_in(width, colours)
    top_in = above_in + legend_in(width, quantities) + 1.3 * style.LINE_IN
    figure, axes, places = row_panel(width, [*named["name"]], [*named["head"]], blank, top_in)
    rows = rows.merge(named[["head", "name"]].assign(place=places))
    bars = rows.drop_duplicates(["place", "least", "most"])
    below = rows.groupby("place")["mark"].transform(lambda of: pandas.factorize(of)[0] - (of.nunique() - 1) / 2)
    rows["place"] += APART_IN * below
    look: Any = {"hue": "verdict", "palette": COLOURS, "style": "mark", "markers": markers, "legend": False}
    seaborn.scatterplot(rows, x="ratio", y="place", ax=axes, **look, s=MARK_PT**2, linewidth=0.3, zorder=3)
    axes.collections[0].set_urls([*rows["link"]])
    axes.hlines(rows["place"], rows["low"], rows["high"], colors=[*rows["verdict"].map(COLOURS)], linewidth=0.7)
    scale_log(axes)
    axes.tick_params(axis="x", which="both", top=True, labeltop=True)
    axes.set(xlim=axes.get_xlim(), ylabel="")
    axes.set_xlabel("measured over published number (logarithmic)", loc="right" if is_narrow(width) else "center")
    bar: Any = {"color": palette.LEADER_GREY, "alpha": 0.6}
    axes.hlines(bars["place"], bars["least"].clip(lower=1e-9), bars["most"], linewidth=BAR_PT, zorder=0.8, **bar)
    axes.axvline(1, color=palette.GREY, linewidth=0.6, zorder=0.9)
    add_legend(axes, [*(Patch(color=COLOURS[verdict]) for verdict in verdicts), Patch(**bar)], colours)
    marks = [Line2D([], [], ls="", marker=markers[one], color=palette.INK, ms=MARK_PT) for one in quantities]
    add_legend(axes, marks, quantities, above_in=above_in)
    held = rows.loc[rows["verdict"] == HOLDS, "count"].sum()
    published = [row for row in claims if row["source"] != GOAL]
    message = f"Of {rows['count'].sum()} claims with a number above 0, {held} hold."
    message += f" {held_text(published, 'of all claims, {} of {} hold')}."
    numbers = [row for row in published if row["relation"] == ABOUT]
    zero = "; ".join(f"{row['kernel']}: {row['verdict']}" for row in numbers if not float(row["published"]))
    devices = grouped({row["source"]: row["source_device"] for row in claims if has_number(row)}.items(), itemgetter(1))
    texts = [f"{other} ({list_texts([source for source, _ in of], len(of))})" for other, of in devices.items()]
    caption = (
        f"{device['name']}. Marks: claims that give a number; equal ones share one. Grey: {ALLOWED}; we"
        f" chose the width. A claim has its kernel's row if it doesn't hold, or takes more than {NEAR:.0%} of that;"
        " a source's others are strokes in one row. ×8: unroll factor 8. Behind a slash: what the kernel is compared"
        " with; without one: the previous step, unless the claim is on one kernel alone. Lines: 95% intervals; of a"
        f" counter, its range over several runs. Published: {'; '.join(texts)}. On the page, marks lead to claims."
    )
    caption += f" Not drawn, as nothing can be divided by it: a published 0 ({zero})." * bool(zero)
    return Drawing(figure, "Claims: measured against published numbers", message, caption, device_text(device), rows)
