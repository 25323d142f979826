"""Which figures there are, and what a study chooses of them. Imports no matplotlib: every start of a run asks for them.

A figure is a module in publish/figures/ with its name, whose function draw makes it of a study's data and a width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelsweep.errors import UserError, check_known
from kernelsweep.study.study import Study

# The titles, messages and captions of a study's figures, and captions of their narrow drawings, in the figures' folder.
TEXTS_FILE = "texts.json"

# The key of a figure's quantity in a study's file, beside those of its axes.
SHOW = "show"
# The quantities that figures show, the one that says most first, and their labels. The last compares times at equal
# sizes. Rates of arithmetic are of the work that the problem needs; those of at least LARGE_GFLOPS are in TFLOP/s.
PEAK_SHARE, LARGE_RATE, BEST_SHARE = "peak_percent", "tflops", "best_share"
LARGE_GFLOPS = 1e4
# Below this share of the peak, the share says little.
FAR_SHARE = 0.05
QUANTITIES = {
    PEAK_SHARE: "share of the peak (%)",
    LARGE_RATE: "useful throughput (TFLOP/s)",
    "gflops": "useful throughput (GFLOP/s)",
    "bandwidth_gbs": "bandwidth (GB/s)",
    "time_us": "time (µs)",
    BEST_SHARE: "% of the fastest",
}
# A further one of the explorer's views: a baseline's time over a kernel's. Of several libraries, the fastest at each
# place is the baseline.
GAIN, FASTEST_LIBRARY = "gain", "the fastest library"


@dataclass(frozen=True)
class Declaration:
    """A figure's description and requirements.

    title        its heading on the page of results
    axes         what a study's file may name axes for, such as x, in `figures: [{lines: {x: n}}]`; with axes also the
                 quantity that it shows, in `figures: [{lines: {show: gflops}}]`
    needs_times  whether it is left out on platforms without a clock
    published    whether it shows published times, and is drawn on these platforms where there are some
    needs        the axes without which a study has no such figure
    """

    title: str
    axes: Sequence[str] = ()
    needs_times: bool = True
    published: bool = False
    needs: Sequence[str] = ()

    def heading(self, study_title: str, title: str = "") -> str:
        """The figure's title for a study: the study's up to its colon, and the figure's own or a given one."""
        words = title or self.title
        words = words if words[1:2].isupper() else f"{words[:1].lower()}{words[1:]}"
        return f"{study_title.partition(':')[0]}: {words}"


# Of an exchange that is published: what each thread holds, the lanes that exchange, and the function's arguments.
_EXCHANGED = ("array_size", "block_size", "unroll", "dtype", "width", "arguments")

FIGURES = {
    "heatmap": Declaration("Two axes", ("x", "y", "panel")),
    "ladder": Declaration("Speedup, step by step", published=True),
    "lanes": Declaration("Which lane's value lands where", needs_times=False, needs=_EXCHANGED),
    "lines": Declaration("Lines over an axis", ("x", "by", "panel")),
}


def check_figures(study: Study) -> None:
    """Raise UserError if a study names a figure, an axis, a quantity or a labelled kernel that doesn't exist."""
    for key in ("labels", "colours"):
        for name in getattr(study.settings, key):
            check_known(name, study.kernels, f"{study.file.line(f'{key}.{name}')}: {key} names")
    for number, (name, chosen) in enumerate(study.settings.figure_axes.items()):
        of_figure = study.file.line(f"figures.{number}")
        check_known(name, FIGURES, f"{study.file.at(f'figures.{number}')} is")
        known = FIGURES[name].axes
        if missing := [axis for axis in FIGURES[name].needs if axis not in study.problem.axes]:
            raise UserError(f"{of_figure}: figures: {name} needs the axis {missing[0]}, which the study lacks")
        for key, value in chosen.items():
            where = f"{of_figure}: figures: {name}"
            check_known(key, [*known, *([SHOW] if known else [])], f"{where} has")
            free = {"kernel", *study.problem.axes} - {axis for other, axis in chosen.items() if other != key}
            check_known(value, QUANTITIES if key == SHOW else sorted(free), f"{where}: {key} is")


def drawn_figures(study: Study, has_clock: bool) -> list[str]:
    """The figures that are drawn for a study; without a clock, none that needs times, unless published ones do."""
    drawn = {name: FIGURES[name] for name in study.settings.figure_axes}
    has_published = bool(study.settings.published)
    return [name for name, of in drawn.items() if has_clock or not of.needs_times or (of.published and has_published)]
