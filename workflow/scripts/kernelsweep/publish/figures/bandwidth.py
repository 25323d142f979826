"""Bandwidth against array size: each kernel's best configuration, cold and hot cache apart, and the memory's limits."""

from __future__ import annotations

from matplotlib.figure import Figure

from kernelsweep.analysis.limits import limit_bandwidths, limit_text
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import TWO_COLUMNS, Width
from kernelsweep.drawing.style import styled
from kernelsweep.publish.figures.lines import lines_figure
from kernelsweep.publish.swept_axes import KERNEL

FIGURE = Declaration(
    title="Bandwidth against array size",
    purpose="bandwidth of each kernel's best configuration against array size, with the memory's peak",
    needs=("times",),
)


@styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """`lines` of bandwidth over the array size by kernel, with a line for each limit that the study measures."""
    limits = limit_bandwidths(data)
    limits = limits[~limits["limit"].isin(data.kernel_names)]
    limits = limits.assign(kernel=limits["limit"].map(limit_text), shown=limits["bandwidth_gbs"])
    return lines_figure(data, width, FIGURE, "array_size", KERNEL, "cache", "bandwidth_gbs", limits)
