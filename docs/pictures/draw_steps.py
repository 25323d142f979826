"""Draw steps.svg, the README's first picture, from the recording (CONTRIBUTING.md has the command)."""

from pathlib import Path

import matplotlib
import pandas
from matplotlib.figure import Figure

from kernelsweep.publish.drawing.palette import GREY, LINE_COLOURS
from kernelsweep.publish.drawing.style import RC, styled

ROOT = Path(__file__).resolve().parents[2]
SIZE = 2**30
# Each step at its fastest block size. Short lines: the picture is read on a phone, too.
STEPS = {
    ("neighbored", 1): "pairs of\nneighbours",
    ("neighbored_mask", 1): "no\ndivision",
    ("neighbored_less", 1): "whole\nwarps",
    ("interleaved", 1): "loads of\nneighbours",
    ("unrolled", 2): "two per\nthread",
    ("unrolled", 4): "four",
    ("unrolled", 8): "eight",
    ("unrolled", 16): "sixteen",
}


def shares() -> list[float]:
    """The share of the memory's peak at each step, in percent."""
    rows = pandas.read_csv(ROOT / "resources/recordings/nvidia-h200" / "measurements.csv.gz", low_memory=False)
    of_story = rows[(rows["study"] == "unrolling") & (rows["status"] == "ok") & (rows["array_size"] == SIZE)]
    fastest = of_story[of_story["cache"] == "cold"].groupby(["kernel", "unroll"])["peak_fraction"].max()
    return [100 * fastest[step] for step in STEPS]


@styled
def draw() -> Figure:
    """The picture."""
    figure = Figure(figsize=(4.8, 2.3), layout="constrained")
    axes, percent = figure.subplots(), shares()
    places = range(len(percent))
    axes.vlines(places, 0, percent, color=GREY, linewidth=0.8)
    axes.plot(places, percent, "o", color=LINE_COLOURS[0], markersize=7, clip_on=False)
    for place, share in zip(places, percent, strict=True):
        axes.annotate(f"{share:.0f}%", (place, share), (0, 7), textcoords="offset points", ha="center", weight="bold")
    axes.set_xticks(places, STEPS.values())
    axes.set_yticks([0, 50, 100], ["0", "50%", "100%"])
    axes.set_ylim(0, 108)
    axes.axhline(100, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.set_title(
        f"One sum of 2³⁰ integers on an H200, from {percent[0]:.0f}% to {percent[-1]:.0f}% of the memory's peak "
        f"in {len(percent) - 1} steps",
        loc="left",
    )
    return figure


if __name__ == "__main__":
    with matplotlib.rc_context(RC):
        draw().savefig(ROOT / "docs/pictures/steps.svg", facecolor="white", metadata={"Date": None})
