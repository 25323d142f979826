"""Block size by grid size, as heat maps of bandwidth: how many blocks, of how many threads?"""

from __future__ import annotations

from matplotlib.figure import Figure

from kernelsweep.analysis.study_data import StudyData
from kernelsweep.drawing.declaration import Declaration
from kernelsweep.drawing.layout import TWO_COLUMNS, Width
from kernelsweep.drawing.style import styled
from kernelsweep.publish.figures.heatmap import heatmap_figure

FIGURE = Declaration(
    title="Block size by number of blocks",
    purpose="bandwidth by block size and number of blocks",
    needs=("times",),
)


@styled
def draw(data: StudyData, width: Width = TWO_COLUMNS) -> Figure:
    """`heatmap` of bandwidth by block size and grid size."""
    return heatmap_figure(data, width, FIGURE, "block_size", "grid_size", "bandwidth_gbs")
