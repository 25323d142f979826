"""The speedup of the fastest kernel over a library's reduction, against array size.

A panel for each element type and cache state. The library is the first of the study's rivals; beside the fastest kernel
of each size are the other libraries, and the fastest of the kernels that only read, which are a limit for all.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas
from matplotlib.figure import Figure

from kernelsweep.analysis.reference import at_reference, timed
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import device_text, reference_text, size_text
from kernelsweep.drawing import style
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, Width, add_legend, empty_figure
from kernelsweep.drawing.series import draw_lines, facet_grid, line_handles

FIGURE = Declaration(
    title="Against a library's reduction",
    purpose="speedup over a library's reduction",
    needs=("times",),
)
PANEL_IN = (2.3, 1.8)
PLACE = ["dtype", "cache", "array_size"]
OURS, READING = "the fastest kernel", "reading alone"
# More lines could not be told apart: of the libraries, the fastest ones at the reference point are drawn.
MOST_LIBRARIES = 3
# A line of two sizes says less than the table.
LEAST_SIZES = 3


@style.styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """A panel for each element type and cache state in which the first rival has times of several array sizes."""
    speedups = _speedups(data)
    heading, caption = FIGURE.heading(data.title), _caption(data)
    if speedups.empty:
        return empty_figure(Frame(width, heading, "No library to compare with.", caption), _why_nothing(data))
    names = [OURS, *_libraries(data, speedups), READING]
    rows = speedups[speedups["kernel"].isin(names)]
    names = [name for name in names if name in set(rows["kernel"])]
    frame = Frame(width, heading, _message(data, speedups), caption)
    figure, grid = facet_grid(frame, rows, "panel", list(dict.fromkeys(rows["panel"])), PANEL_IN)
    for panel, axes in grid.axes_dict.items():
        of_panel = rows[rows["panel"] == panel]
        sizes = {size: size_text(int(size)) for size in sorted(of_panel["array_size"].unique())}
        draw_lines(axes, of_panel, "array_size", "speedup", "kernel", names, sizes, {})
    grid.set_axis_labels("array size (elements)", f"speedup over {data.settings.rival_names[0]} (×)")
    add_legend(figure, line_handles({name: name for name in names}, {}))
    return figure


def _speedups(data: StudyData) -> pandas.DataFrame:
    """The first library's time over that of the fastest kernel, of each library and of reading alone, where both exist.

    Columns: kernel (the line's name), dtype, cache, array_size, speedup, panel; the reference's panel first.
    """
    study = data.settings
    rows = timed(at_reference(study, data.device_rows, free=(*PLACE, "block_size")), data.device)
    groups = {name: READING if name in study.limits else OURS for name in data.kernel_names}
    rows = rows.assign(kernel=rows["kernel"].replace(groups))
    fastest = rows.groupby(["kernel", *PLACE], as_index=False)["time_us"].min()
    base = fastest[fastest["kernel"].isin(study.rival_names[:1])]
    base = base[base.groupby(PLACE[:2])["array_size"].transform("count") >= LEAST_SIZES]
    joined = fastest.merge(base[[*PLACE, "time_us"]], on=PLACE, suffixes=("", "_base"))
    joined = joined.assign(
        speedup=joined["time_us_base"] / joined["time_us"],
        panel=joined["dtype"] + ", " + joined["cache"] + " cache",
        is_other=joined["dtype"] != study.reference["dtype"],
    )
    ordered: pandas.DataFrame = joined.sort_values(["is_other", *PLACE])
    return ordered


def _at_reference(data: StudyData, speedups: pandas.DataFrame) -> pandas.DataFrame:
    reference = data.settings.reference
    is_there = (speedups["dtype"] == reference["dtype"]) & (speedups["cache"] == reference["cache"])
    of_reference: pandas.DataFrame = speedups[is_there]
    return of_reference


def _libraries(data: StudyData, speedups: pandas.DataFrame) -> Sequence[str]:
    """The libraries that are drawn, in the study's order: the first, and those that are fastest at the reference."""
    rivals, rows = data.settings.rival_names, _at_reference(data, speedups)
    there = rows[(rows["array_size"] == data.settings.reference["array_size"]) & rows["kernel"].isin(rivals[1:])]
    fastest = there.nlargest(MOST_LIBRARIES - 1, "speedup")["kernel"]
    return [rival for rival in rivals if rival in {rivals[0], *fastest}]


def _message(data: StudyData, speedups: pandas.DataFrame) -> str:
    """The range of the speedups of each size's fastest kernel, at the reference type and cache state."""
    reference, rows = data.settings.reference, _at_reference(data, speedups)
    fastest = rows[rows["kernel"] == OURS].sort_values("speedup")
    if fastest.empty:
        return "None of the kernels has a time at the reference type and cache state."
    ends = fastest.iloc[[0, -1]].to_dict("records")
    least, most = (f"{end['speedup']:.2f} times ({size_text(int(end['array_size']))})" for end in ends)
    return (
        f"{reference['dtype']}, {reference['cache']} cache: each size's fastest kernel is {least} to {most} "
        f"as fast as {data.settings.rival_names[0]}."
    )


def _why_nothing(data: StudyData) -> str:
    if not data.settings.rival_names:
        return "No library is measured beside this study's kernels: its rivals are empty."
    if not data.has_times:
        return "This platform has no times of its own."
    return f"{data.settings.rival_names[0]} has no time at the reference operation."


def _caption(data: StudyData) -> str:
    where = reference_text(data.settings, free=(*PLACE, "block_size"))
    return (
        f"{device_text(data.device)}. Reference point: {where}. Each at its fastest block size, unroll factor and grid;"
        f" {MOST_LIBRARIES} libraries at most, the others are in the table."
    )
