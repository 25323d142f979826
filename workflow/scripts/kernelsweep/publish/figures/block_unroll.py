"""Block size by unroll factor: where each kernel runs best, as heat maps of bandwidth."""

from __future__ import annotations

from matplotlib.figure import Figure

from kernelsweep.analysis.study_data import StudyData
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import TWO_COLUMNS, Width
from kernelsweep.drawing.style import styled
from kernelsweep.publish.figures.heatmap import heatmap_figure

FIGURE = Declaration(
    title="Block size by unroll factor",
    purpose="bandwidth by block size and unroll factor",
    needs=("times",),
)


@styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """`heatmap` of bandwidth by block size and unroll factor."""
    return heatmap_figure(data, width, FIGURE, "block_size", "unroll", "bandwidth_gbs")
