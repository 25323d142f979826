"""The relative error of floating-point sums against array size: what the order of summation costs in accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kernelsweep.analysis.published import Published
from kernelsweep.analysis.reference import at_reference, one_study, undefined_kernels
from kernelsweep.analysis.steps import Step, grids_text, ladder_steps, step_labels
from kernelsweep.analysis.words import (
    SUPERSCRIPTS,
    UNDEFINED_NOTE,
    device_text,
    failures_text,
    list_texts,
    reference_text,
    size_text,
)
from kernelsweep.drawing import style

BODY_IN = 2.6
EMPTY_BODY_IN = 1.2
# In one column: a panel, roughly its width, and what is beside a label of the legend.
NARROW_BODY_IN = 1.9
NARROW_PANEL_PT, NARROW_HANDLE_PT = 205.0, 80.0
LEGEND_TITLE = "same line: same errors"
FREE = ("array_size", "dtype", "operation", "block_size", "cache")
# The unit roundoff of a type, half the distance from 1 to the next number, as powers of two.
ROUNDOFF_POWERS = {"float32": -24, "float64": -53}
# The strip of exact sums: its frame, and a row for each line that has one.
STRIP_FRAME_IN, STRIP_ROW_IN = 0.05, 0.1
# A logarithmic axis from so far below the smallest error or unit roundoff to so far above the largest, over a factor of
# 100 at least, which makes two ticks.
ROOM, LEAST_RANGE = 2.5, 100.0
LEGEND_WIDTH_PT = 150.0
# The width of the unit roundoff's label, and roughly that of all panels together; the room beside the outermost sizes.
LABEL_PT, PANELS_PT = 38.0, 310.0
SIDE_SHARE, LEAST_SIDE_OCTAVES = 0.05, 0.5


@dataclass(frozen=True)
class _Line:
    """Steps whose errors are the same everywhere, and these errors by (dtype, array size)."""

    steps: Sequence[Step]
    errors: Mapping[tuple[str, int], float]


@style.styled
def draw(
    study: Mapping[str, Any],
    measurements: pandas.DataFrame,
    device: Mapping[str, Any],
    published: Published | None,
    width_in: float = style.TWO_COLUMN_IN,
) -> Figure:
    """A panel a floating-point type, logarithmic both ways; ladder steps with the same errors share a line.

    Each step is drawn at the reference's block size, or at the nearest that it has. Sums without any error stand on a
    strip below, a row a line. A dashed line is at the type's unit roundoff.
    """
    del published
    steps = ladder_steps(study, device)
    rows = _sums(study, measurements)
    chosen = [_at_block_size(step.rows(rows), study["reference"]["block_size"]) for step in steps]
    drawn = pandas.concat(chosen).drop_duplicates()
    right = drawn[(drawn["status"] == "ok") & drawn["relative_error"].notna()]
    lines = _lines(steps, chosen)
    caption = _caption(steps, chosen, drawn, study, device)
    if not lines:
        figure = style.new_figure(width_in, EMPTY_BODY_IN, study["title"], "No errors to draw.", caption)
        style.say_missing(figure.subplots(), _reason(drawn))
        return figure
    dtypes = [dtype for dtype in ROUNDOFF_POWERS if (right["dtype"] == dtype).any()]
    undefined = undefined_kernels(right)
    exact = [line for line in lines if 0.0 in line.errors.values()]
    strip_in = STRIP_FRAME_IN + STRIP_ROW_IN * len(exact) if exact else 0.0
    message = _message(study, steps, lines, dtypes, undefined)
    heights = [BODY_IN, strip_in] if exact else [BODY_IN]
    if style.is_narrow(width_in):
        labels = _line_labels(steps, lines, undefined, width_in * style.POINTS_PER_INCH - NARROW_HANDLE_PT)
        figure, grid, below = _stacked(
            width_in, [NARROW_BODY_IN, *heights[1:]], labels, len(dtypes), (study["title"], message, caption)
        )
    else:
        labels = _line_labels(steps, lines, undefined, LEGEND_WIDTH_PT)
        figure = style.new_figure(width_in, sum(heights), study["title"], message, caption)
        grid = figure.subplots(len(heights), len(dtypes), sharex="col", squeeze=False, height_ratios=heights)
        below = None
    for column, dtype in enumerate(dtypes):
        _panel(grid[0][column], lines, dtype)
        if exact:
            _strip(grid[1][column], lines, exact, dtype)
        sizes = sorted(int(size) for size in right.loc[right["dtype"] == dtype, "array_size"].unique())
        style.size_axis(grid[-1][column], sizes)
        # On the right, past the last size, is the unit roundoff's label.
        share = LABEL_PT / NARROW_PANEL_PT if below else LABEL_PT * len(dtypes) / PANELS_PT
        octaves = math.log2(max(sizes) / min(sizes))
        side = max(LEAST_SIDE_OCTAVES, SIDE_SHARE * octaves)
        low = min(sizes) / 2**side
        grid[-1][column].set_xlim(low, low * 2 ** ((octaves + 2 * side) / (1 - share)))
        if exact:
            grid[0][column].tick_params(axis="x", length=0)
    for column in range(len(dtypes) if below else 1):
        grid[0][column].set_ylabel("relative error of the sum")
        if exact:
            grid[1][column].set_yticks([(len(exact) - 1) / 2], ["exact"])
    handles = [Line2D([], [], label=label, **_look(index, line=True)) for index, label in enumerate(labels)]
    if below:
        for column in range(len(dtypes) - 1):
            grid[-1][column].set_xlabel("")
        style.legend_below(below, handles, width_in, LEGEND_TITLE)
    else:
        _legend_beside(grid[0][-1], handles)
    return figure


def _stacked(
    width_in: float, heights: Sequence[float], labels: Sequence[str], dtypes: int, texts: tuple[str, str, str]
) -> tuple[Figure, Any, Axes]:
    """For one column: types below each other, each a panel and its strip as in the wide grid, and the legend."""
    legend_in = style.legend_below_in(labels, width_in, LEGEND_TITLE)
    every = [*[height for _ in range(dtypes) for height in heights], legend_in]
    figure = style.new_figure(width_in, sum(every), *texts)
    *panels, below = figure.subplots(len(every), 1, height_ratios=every)
    rows = len(heights)
    grid = [[panels[column * rows + row] for column in range(dtypes)] for row in range(rows)]
    for upper, lower in zip(grid[0], grid[-1], strict=True):
        if upper is not lower:
            upper.sharex(lower)
            upper.tick_params(labelbottom=False)
    return figure, grid, below


def _sums(study: Mapping[str, Any], measurements: pandas.DataFrame) -> pandas.DataFrame:
    """The floating-point sums at the reference's cache state, or at the first one that there is."""
    rows = one_study(measurements)
    rows = rows[(rows["operation"] == "sum") & rows["dtype"].isin(ROUNDOFF_POWERS)]
    at_cache = at_reference(study, rows, free=[column for column in FREE if column != "cache"])
    if at_cache.empty and not rows.empty:
        at_cache = rows[rows["cache"] == min(rows["cache"])]
    return at_cache.sort_values("array_size")


def _at_block_size(rows: pandas.DataFrame, block_size: int) -> pandas.DataFrame:
    """The rows of the block size that is nearest, by its logarithm, to the given one."""
    tried = rows.loc[rows["status"] != "skipped", "block_size"].unique()
    if not len(tried):
        return rows.iloc[:0]
    nearest: int = min(tried.tolist(), key=lambda size: (abs(math.log2(size / block_size)), size))
    return rows[rows["block_size"] == nearest]


def _lines(steps: Sequence[Step], chosen: Sequence[pandas.DataFrame]) -> list[_Line]:
    """One line for all steps with the same errors, in the order of the first of them."""
    grouped: dict[tuple[tuple[tuple[str, int], float], ...], list[Step]] = {}
    for step, rows in zip(steps, chosen, strict=True):
        right = rows[(rows["status"] == "ok") & rows["relative_error"].notna()].sort_values(["dtype", "array_size"])
        points = zip(right["dtype"], right["array_size"], right["relative_error"], strict=True)
        errors = tuple(((str(dtype), int(size)), float(error)) for dtype, size, error in points)
        if errors:
            grouped.setdefault(errors, []).append(step)
    return [_Line(of_line, dict(errors)) for errors, of_line in grouped.items()]


def _look(index: int, line: bool) -> dict[str, Any]:
    """A line's colour, dashes and open marker, through which those below it can be seen."""
    return {
        "color": style.LINE_COLOURS[index % len(style.LINE_COLOURS)],
        "linestyle": style.DASHES[index % len(style.DASHES)] if line else "none",
        "linewidth": 0.9,
        "marker": style.MARKERS[index % len(style.MARKERS)],
        "markersize": 4.0,
        "markerfacecolor": "none",
        "markeredgewidth": 0.9,
    }


def _panel(axes: Axes, lines: Sequence[_Line], dtype: str) -> None:
    roundoff = 2.0 ** ROUNDOFF_POWERS[dtype]
    sizes = sorted({size for line in lines for of_dtype, size in line.errors if of_dtype == dtype})
    positive = [roundoff]
    for index, line in enumerate(lines):
        # Sizes without an error, or with none that a logarithm has, break the line.
        errors = [line.errors.get((dtype, size), math.nan) for size in sizes]
        axes.plot(sizes, [error if error > 0 else math.nan for error in errors], **_look(index, line=True))
        positive += [error for error in errors if error > 0 and math.isfinite(error)]
    axes.set_yscale("log")
    room = max(ROOM, math.sqrt(LEAST_RANGE * min(positive) / max(positive)))
    axes.set_ylim(min(positive) / room, max(positive) * room)
    decades = numpy.arange(math.ceil(math.log10(axes.get_ylim()[0])), math.floor(math.log10(axes.get_ylim()[1])) + 1)
    axes.set_yticks([10.0 ** int(power) for power in decades], [_power_of_ten(int(power)) for power in decades])
    axes.minorticks_off()
    axes.axhline(roundoff, color=style.GREY, linewidth=0.8, linestyle=(0, (6, 2)), zorder=1)
    for text, above in (("unit\nroundoff", True), (f"2{_superscript(ROUNDOFF_POWERS[dtype])}", False)):
        axes.annotate(
            text,
            (1.0, roundoff),
            xycoords=axes.get_yaxis_transform(),
            xytext=(0, 2 if above else -2),
            textcoords="offset points",
            ha="right",
            va="bottom" if above else "top",
            linespacing=1.1,
            color=style.GREY,
        )
    axes.set_title(dtype, loc="left")
    axes.grid(color=style.GRID_GREY, linewidth=0.5)
    axes.set_axisbelow(True)


def _strip(axes: Axes, lines: Sequence[_Line], exact: Sequence[_Line], dtype: str) -> None:
    """Where sums are exact: a row a line, so that no marker covers another."""
    for row, line in enumerate(exact):
        sizes = [size for (of_dtype, size), error in line.errors.items() if of_dtype == dtype and error == 0]
        axes.plot(sizes, [row] * len(sizes), **_look(lines.index(line), line=False))
    axes.set_ylim(len(exact) - 0.4, -0.6)
    axes.set_yticks([])
    axes.tick_params(axis="y", length=0)
    axes.set_facecolor("#f2f2f2")
    axes.grid(axis="x", color="white", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)


def _power_of_ten(power: int) -> str:
    return f"10{_superscript(power)}"


def _superscript(number: int) -> str:
    return ("⁻" if number < 0 else "") + str(abs(number)).translate(SUPERSCRIPTS)


def _line_labels(steps: Sequence[Step], lines: Sequence[_Line], undefined: set[str], width_pt: float) -> list[str]:
    """Each line's steps, wrapped to a width."""
    labels = dict(zip(steps, step_labels(steps, undefined), strict=True))
    every = [", ".join(labels[step].replace(" ", "\N{NO-BREAK SPACE}") for step in line.steps) for line in lines]
    return ["\n".join(style.wrap(names, width_pt, style.TEXT_PT)) for names in every]


def _legend_beside(axes: Axes, handles: Sequence[Line2D]) -> None:
    axes.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.02, 1.0),
        borderaxespad=0.0,
        frameon=False,
        handlelength=3.2,
        labelspacing=0.55,
        borderpad=0.1,
        title=LEGEND_TITLE,
        title_fontsize=style.TEXT_PT,
        alignment="left",
    )


def _message(
    study: Mapping[str, Any], steps: Sequence[Step], lines: Sequence[_Line], dtypes: Sequence[str], undefined: set[str]
) -> str:
    """The smallest and the largest error at the largest size, of the reference's type or the first one."""
    dtype = study["reference"]["dtype"] if study["reference"]["dtype"] in dtypes else dtypes[0]
    labels = dict(zip(steps, step_labels(steps), strict=True))
    named = [(line, [labels[step] for step in line.steps if step.kernel not in undefined]) for line in lines]
    sizes = {size for line, names in named if names for of_dtype, size in line.errors if of_dtype == dtype}
    if not sizes:
        return f"Only kernels with undefined behaviour have errors in {dtype}."
    place = dtype, max(sizes)
    found = [(line.errors[place], names) for line, names in named if names and place in line.errors]
    smallest, largest = min(error for error, _ in found), max(error for error, _ in found)
    text = f"At array size {size_text(place[1])}, {dtype}: "
    if smallest == largest:
        return text + f"every sum has the error {_error_text(smallest)}."
    least = [name for error, names in found if error == smallest for name in names]
    most = [name for error, names in found if error == largest for name in names]
    return text + (
        f"smallest error {_error_text(smallest)}, of {list_texts(least)};"
        f" largest {_error_text(largest)}, of {list_texts(most)}."
    )


def _error_text(error: float) -> str:
    """An error in words: 0 (exact), 3.1·10⁻⁸."""
    if error == 0 or not math.isfinite(error):
        return "0 (exact)" if error == 0 else str(error)
    digits, power = f"{error:.1e}".split("e")
    return f"{digits}·{_power_of_ten(int(power))}"


def _reason(drawn: pandas.DataFrame) -> str:
    if drawn.empty:
        return "No floating-point sums of the ladder's steps in this sweep."
    return f"No floating-point sum has an error: {failures_text(list(drawn['status'])) or 'none measured'}."


def _caption(
    steps: Sequence[Step],
    chosen: Sequence[pandas.DataFrame],
    drawn: pandas.DataFrame,
    study: Mapping[str, Any],
    device: Mapping[str, Any],
) -> str:
    reference = study["reference"] | {"operation": "sum"}
    if not drawn.empty:
        reference["cache"] = drawn["cache"].iloc[0]
    where = reference_text({"reference": reference}, free=("array_size", "dtype"))
    present = [step for step, rows in zip(steps, chosen, strict=True) if not rows.empty]
    texts = [
        f"{device_text(device)}. Reference point: {where}.{grids_text(present)}",
        "Error against the exactly rounded sum (math.fsum) of one input.",
    ]
    # Kernels that leave partials are among those that launch several blocks once.
    if ((drawn["launches"] == 1) & (drawn["grid_size"] > 1)).any():
        texts.append(
            "Partials of kernels that leave one a thread block are combined on the host in extended precision."
        )
    labelled = list(zip(step_labels(steps), chosen, strict=True))
    others: dict[int, list[str]] = {}
    for label, rows in labelled:
        if not rows.empty and rows["block_size"].iloc[0] != reference["block_size"]:
            others.setdefault(int(rows["block_size"].iloc[0]), []).append(label)
    for block_size, of_block in others.items():
        which = "all steps" if len(of_block) == len(steps) else ", ".join(of_block)
        texts.append(f"Block size {block_size}, the nearest in this sweep: {which}.")
    missing = [
        step.name if step.grid_size is None else f"{step.name} with {step.grid_size:,} blocks"
        for step in steps
        if step not in present
    ]
    if missing and present:
        texts.append(f"Not in this sweep: {', '.join(missing)}.")
    failed = failures_text(list(drawn["status"]))
    if failed:
        texts.append(f"Points without an error: {failed}.")
    if undefined_kernels(drawn):
        texts.append(UNDEFINED_NOTE)
    return " ".join(texts)
