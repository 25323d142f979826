"""The figures of a study, one module each; publish/figure_files.py has what each is called and needs."""

from kernelsweep.publish.figures import heatmap, ladder, lanes, lines

# By name, what draws a figure of a study's data and a width.
DRAWERS = {"heatmap": heatmap.draw, "ladder": ladder.draw, "lanes": lanes.draw, "lines": lines.draw}
