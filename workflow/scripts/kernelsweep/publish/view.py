"""A view of the page's explorer as a figure, and the labels that a study's file gives its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas
from matplotlib.figure import Figure

from kernelsweep.analysis.reference import undefined_kernels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import UNDEFINED_MARK
from kernelsweep.publish.figure_files import SHOW
from kernelsweep.publish.figures import DRAWERS
from kernelsweep.publish.swept_axes import KERNEL, with_tied
from kernelsweep.publish.view_address import BEST, VIEWS, read_view


def draw_view(data: StudyData, address: str, width: float) -> Figure:
    """The figure of a view, `width` inches wide.

    data     of the view's study
    address  the page's, with the view behind its `#explorer?`

    Raises UserError where the address has no view that a figure can show.
    """
    view = read_view(address)
    return DRAWERS[VIEWS[view["view"]]](labelled(viewed(data, view)), width)


def viewed(data: StudyData, view: Mapping[str, str]) -> StudyData:
    """The rows of a view, and settings with which a figure of any axes shows them.

    An axis that the view leaves at its best becomes one of kernels: over those, figures take the best.
    """
    settings, rows, x = data.settings, data.measurements, view["over"]
    is_map = VIEWS[view["view"]] == "heatmap"
    shown_axes = [x, *([view["across"]] if is_map else [])]
    drawn, rows = with_tied(data, shown_axes), rows.dropna(subset=shown_axes)
    fixed = {
        axis: _value(rows[axis], value)
        for axis in settings.kinds
        if axis not in drawn and (value := view.get(f"at.{axis}", BEST)) != BEST
    }
    for axis, value in fixed.items():
        # Libraries have no value on an axis of kernels.
        is_free = ~rows[KERNEL].isin(data.kernel_names) & (settings.kinds[axis] == "kernel")
        rows = rows[(rows[axis] == value).fillna(value=False) | is_free]
    base, gain = rows[rows[KERNEL] == view.get("baseline")], f"times as fast as {view.get('baseline')}"
    columns = {
        "share of the peak (%)": 100 * rows["peak_fraction"],
        gain: rows[x].map(base.groupby(x)["time_us"].min()) / rows["time_us"],
    }
    shown = dict(zip(("peak_fraction", "gain"), columns, strict=True)).get(view["show"], view["show"])
    of_map = {"y": view["across"], "panel": ""}
    axes = {"x": x, SHOW: shown} | (of_map if is_map else {"by": KERNEL})
    marks = {name: settings.labels.get(name, name) + UNDEFINED_MARK for name in undefined_kernels(rows)}
    # Where outputs are compared, the reference has no value on some axes.
    first = next(iter(rows[[*settings.kinds]].head(1).to_dict("records")), {})
    return replace(
        data,
        # Here, what is marked is drawn.
        measurements=rows.assign(**columns, flags=rows["flags"].where(~rows[KERNEL].isin([*marks]), "")),
        settings=settings.changed(
            kernels=[settings.kernels[0].changed(name=name) for name in view["kernels"].split(",")],
            reference={**first, **settings.reference, **fixed},
            kinds={axis: kind if axis in (*fixed, *drawn) else "kernel" for axis, kind in settings.kinds.items()},
            labels={**settings.labels, **marks},
            figures=[{VIEWS[view["view"]]: axes}],
        ),
    )


def _value(column: pandas.Series[Any], text: str) -> Any:
    """The value that an address names, of a column's type."""
    values = column.dropna().unique()
    return next((value for value in values if text in (str(value), str(value).removesuffix(".0"))), text)


def labelled(data: StudyData) -> StudyData:
    """The study's data with its kernels under the labels that its file gives them; colours go with them."""
    labels, settings = data.settings.labels, data.settings

    def named(name: str) -> str:
        return labels.get(name, name)

    return replace(
        data,
        measurements=data.measurements.assign(kernel=data.measurements[KERNEL].map(named)),
        published=[replace(one, kernel=named(one.kernel), over=named(one.over)) for one in data.published],
        settings=settings.changed(
            kernels=[kernel.changed(name=named(kernel.name)) for kernel in settings.kernels],
            steps=[step.changed(kernel=named(step.kernel)) for step in settings.steps],
            limits=[named(limit) for limit in settings.limits],
            colours={named(name): colour for name, colour in settings.colours.items()},
        ),
    )
