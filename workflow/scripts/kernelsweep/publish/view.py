"""A view of the page's explorer as a figure, and the labels that a study's file gives its kernels."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pandas

from kernelsweep.errors import UserError, check_known
from kernelsweep.judge.data.reference import timed, undefined_kernels
from kernelsweep.judge.data.study_data import StudyData, kernel_axes
from kernelsweep.judge.data.words import UNDEFINED_MARK, list_texts, point_text
from kernelsweep.publish import swept_axes
from kernelsweep.publish.drawing.layout import Drawing
from kernelsweep.publish.figure_files import BEST_SHARE, FASTEST_LIBRARY, GAIN, PEAK_SHARE, SHOW
from kernelsweep.publish.figures import DRAWERS
from kernelsweep.publish.swept_axes import KERNEL, rate_of, with_tied
from kernelsweep.publish.view_address import AT, BEST, VIEWS, read_view
from kernelsweep.results import ALL_POINT_COLUMNS

# By the explorer's names, the columns that it shows.
SHOWN = {
    "peak_fraction": PEAK_SHARE,
    **{name: name for name in ("bandwidth_gbs", "gflops", "time_us", BEST_SHARE, GAIN)},
}


def draw_view(data: StudyData, address: str, width: float, gridded: Collection[str]) -> Drawing:
    """The figure of a view, `width` inches wide.

    data     of the view's study
    address  the page's, with the view behind its `#explorer?`
    gridded  the kernels whose grid size is an axis of the sweep

    Raises UserError where the address has no view that a figure can show.
    """
    view, rows = read_view(address), explored_rows(data, gridded)
    check_view(view, data, rows)
    viewed_data = labelled(viewed(data, rows, view))
    best = swept_axes.best_rows(viewed_data, drawn_axes(view))
    if best.empty:
        raise UserError("view: no timed point is left by its choices. Choose others in the page's explorer.")
    if view["show"] == GAIN and best[GAIN].isna().all():
        raise UserError(f"view: {view['baseline']} has no time where these kernels have one. Choose another baseline.")
    drawing = DRAWERS[VIEWS[view["view"]]](viewed_data, width)
    fixed = {axis: value for axis, value in fixed_axes(data, rows, view).items() if axis in kernel_axes(data.settings)}
    caption = drawing.caption + (f" Configurations with {point_text(fixed)}." if fixed else "")
    if KERNEL not in drawn_axes(view) and view["view"] == "map":
        names = viewed_data.kernel_names
        caption += f" The fastest of {list_texts(names, most=len(names))}."
    return replace(drawing, caption=caption)


def explored_rows(data: StudyData, gridded: Collection[str]) -> pandas.DataFrame:
    """The rows that the explorer has, as it takes them: without values that say nothing of a kernel."""
    rows = data.measurements
    libraries = ~rows[KERNEL].isin(data.kernel_names)
    for axis in set(kernel_axes(data.settings)) & set(ALL_POINT_COLUMNS):
        # A library's rows have 1 there, and a grid that follows from other axes is no value.
        says_nothing = ~rows[KERNEL].isin([*gridded]) if axis == "grid_size" else libraries
        rows = rows.assign(**{axis: rows[axis].mask(says_nothing)})
    return rows


def drawn_axes(view: Mapping[str, str]) -> list[str]:
    """The axes that a view draws, besides the kernels of lines."""
    return [view["over"], *([view["across"]] if VIEWS[view["view"]] == "heatmap" else [])]


def check_view(view: Mapping[str, str], data: StudyData, rows: pandas.DataFrame) -> None:
    """Raise UserError, with the key and what is allowed, where a view names what the study's timed rows don't have."""
    rows = timed(rows, data.device)
    values = {axis: texts for axis in data.settings.kinds if (texts := _texts(rows[axis]))}
    axes = [*(axis for axis, texts in values.items() if len(texts) > 1), KERNEL]
    kernels = [*dict.fromkeys([*data.kernel_names, *rows[KERNEL]])]
    for place, axis in zip(("over", "across"), drawn_axes(view), strict=False):
        check_known(axis, [one for one in axes if place == "over" or one != view["over"]], f"view: {place} is")
    shown = [name for name in SHOWN if name not in rows or rows[name].notna().any()]
    check_known(view["show"], shown, "view: show is")
    for name in view["kernels"].split(","):
        check_known(name, kernels, "view: kernels has")
    if view["show"] == GAIN:
        fastest_library = [FASTEST_LIBRARY] if data.measured_libraries else []
        check_known(view.get("baseline", ""), kernels + fastest_library, "view: baseline is")
    for key, value in view.items():
        if key.startswith(AT):
            check_known(key, [AT + axis for axis in values], "view: it has")
            check_known(value, [BEST, *values[key.removeprefix(AT)]], f"view: {key} is")


def fixed_axes(data: StudyData, rows: pandas.DataFrame, view: Mapping[str, str]) -> dict[str, Any]:
    """The values of a view's other axes, without those that it leaves at their best. A tied axis follows its first."""
    free = {*with_tied(data, drawn_axes(view)), *(axis for group in data.settings.tied for axis in group[1:])}
    wanted = {axis: view.get(AT + axis, BEST) for axis in data.settings.kinds if axis not in free}
    return {axis: _texts(rows[axis])[value] for axis, value in wanted.items() if value != BEST}


def viewed(data: StudyData, rows: pandas.DataFrame, view: Mapping[str, str]) -> StudyData:
    """The rows of a view, and settings with which a figure of any axes shows them.

    An axis that the view leaves at its best becomes one of kernels: over those, figures take the best.

    rows  as explored_rows() gives them
    """
    settings, shown_axes, fixed = data.settings, drawn_axes(view), fixed_axes(data, rows, view)
    drawn = with_tied(data, shown_axes)
    for axis, value in fixed.items():
        rows = rows[(rows[axis] == value).fillna(value=False) | rows[axis].isna()]
    show = rate_of(data) if view["show"] == "gflops" else SHOWN[view["show"]]
    axes = {"x": view["over"], SHOW: show, "label": ""}
    axes |= {"y": view["across"], "panel": ""} if VIEWS[view["view"]] == "heatmap" else {"by": KERNEL}
    if view["show"] == GAIN:
        names = data.measured_libraries if view["baseline"] == FASTEST_LIBRARY else [view["baseline"]]
        bases = timed(rows[rows[KERNEL].isin(names)], data.device)
        # A library has no value on an axis of kernels: it is the baseline at each.
        known = [axis for axis in shown_axes if axis != KERNEL and bases[axis].notna().any()]
        rows = swept_axes.with_ratios(rows, bases, known, GAIN)
        axes["label"] = "times as fast as " + settings.labels.get(view["baseline"], view["baseline"])
    rows = rows.dropna(subset=shown_axes)
    marks = {name: settings.labels.get(name, name) + UNDEFINED_MARK for name in undefined_kernels(rows)}
    # Where outputs are compared, the reference has no value on some axes.
    first = next(iter(rows[[*settings.kinds]].head(1).to_dict("records")), {})
    return replace(
        data,
        # Here, what is marked is drawn.
        measurements=rows.assign(flags=rows["flags"].where(~rows[KERNEL].isin([*marks]), "")),
        settings=settings.changed(
            kernels=[settings.kernels[0].changed(name=name) for name in view["kernels"].split(",")],
            reference={**first, **settings.reference, **fixed},
            kinds={axis: kind if axis in (*fixed, *drawn) else "kernel" for axis, kind in settings.kinds.items()},
            rivals=[],
            labels={**settings.labels, **marks},
            colours=swept_axes.kernel_colours(data),
            figures=[{VIEWS[view["view"]]: axes}],
        ),
    )


def _texts(column: pandas.Series[Any]) -> dict[str, Any]:
    """A column's values in order, by the texts that addresses have for them."""
    return {str(value).removesuffix(".0"): value for value in sorted(column.dropna().unique())}


def labelled(data: StudyData) -> StudyData:
    """The study's data with its kernels under the labels that its file gives them; colours go with them."""
    labels, settings = data.settings.labels, data.settings
    if not labels:  # What is known of the data stays known.
        return data

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
