"""The words of a heat map: how much each axis matters, and how the map is read."""

from __future__ import annotations

import pandas

from kernelsweep.judge.data.study_data import place_words
from kernelsweep.judge.data.words import list_texts, times_text
from kernelsweep.publish import swept_axes
from kernelsweep.publish.swept import Swept


def message_of(shown: Swept, rows: pandas.DataFrame) -> str:
    """How much each axis matters: by how much cells that differ on it alone differ at most."""
    places = {"across": shown.axes[0], "down": shown.axes[1], "panel": shown.panel or ""}
    what = swept_axes.without_unit(shown.label).replace("% of", "share of")
    texts: list[str] = []
    for place, axis in places.items():
        alike = rows.groupby([other for other in places if other != place])["shade"]
        factor = (alike.max() / alike.min()).max()
        changes = "" if texts else f" alone changes the {what} by a factor of at most"
        named = swept_axes.without_unit(shown.axis_text(axis))
        texts += [f"the {named}{changes} {times_text(factor)}"] if rows[place].nunique() > 1 else []
    size = place_words(swept_axes.place_beside(shown.data, [*filter(None, places.values())]), shown.data.settings)
    said = (f"at {size}, " if size else "") + f"{list_texts(texts)}."
    return said[:1].upper() + said[1:]


def caption_of(shown: Swept, start: str, left_out: str) -> str:
    """How the map is read.

    start  where the drawn scale of colours starts; "0" where colours are in proportion to numbers
    """
    axes = swept_axes.problem_axes(shown.data, [*shown.axes, shown.panel or ""])
    named = [swept_axes.without_unit(shown.axis_text(axis)) for axis in axes]
    where = f" at each {list_texts(named)}" if named else ""
    colours = " and colour" + f" (on a scale that starts at {start}, not zero)" * (start != "0")
    meaning = f"Number{colours * (shown.quantity != 'time_us')}: the best over all other axes"
    ties = "its ties (the 95% interval of the ratio of both times includes 1)"
    return f"{meaning}. Thick outline: the fastest{where}; thin: {ties}.{left_out}"
