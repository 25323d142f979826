"""Bandwidth by operation and element type, as heat maps: does it matter what is combined?"""

from __future__ import annotations

from matplotlib.figure import Figure

from kernelsweep.analysis.study_data import StudyData
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import TWO_COLUMNS, Width
from kernelsweep.drawing.style import styled
from kernelsweep.publish.figures.heatmap import heatmap_figure

FIGURE = Declaration(
    title="By operation and type",
    purpose="bandwidth by operation and element type",
    needs=("times",),
)


@styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """`heatmap` of bandwidth by operation and element type, coloured by the difference from a sum of the same type."""
    return heatmap_figure(data, width, FIGURE, "operation", "dtype", "bandwidth_gbs", base="sum")
